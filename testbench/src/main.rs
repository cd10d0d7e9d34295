//! `rnic`: play captures through the receive offload, generate captures, measure it, emit its Verilog.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
