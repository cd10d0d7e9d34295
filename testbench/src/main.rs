//! `rnic`: play captures through the receive offload, generate captures, measure the core, emit
//! its Verilog.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
