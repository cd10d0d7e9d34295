//! The command line: options, exit statuses, one line for each way to fail.
//!
//! Status 0: all good. 1: the run finished and found a difference or a figure below its goal. 2:
//! the input or the options could not be used, or a result not be written. 141: the reader of
//! standard output has left. Ctrl-C and SIGTERM end the process by that signal.

mod play;
mod play_outputs;
mod generate;
mod campaign;
mod fuzz;
mod fuzz_transmit;
mod bench;
mod mutants;
mod emit;
mod serve;
mod hub;
mod peer;
mod peer_report;
mod selftest;
mod json;
mod outcome;
mod lines;
mod interrupt;
mod trace;
#[cfg(test)]
mod documents;

use clap::{Parser, Subcommand};
use outcome::{report, Failure, Outcome};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  rnic play testbench/captures/rping-v4-crc.pcap
  rnic play --width 128 --json report.json capture.pcap
  rnic gen --out lossy.pcap --connections 4 --loss 0.02 --seed 7
  rnic fuzz --runs 200 --seed 1
  rnic bench --width 64
  rnic mutants --only 17
  rnic emit --width 64 --out build/verilog
  rnic serve --vfio-user /tmp/rnic.sock --link none
  rnic hub --port unix:/tmp/a.wire --port unix:/tmp/b.wire --loss 0.01
  rnic peer --list
  rnic selftest";

/// Open iWARP RNIC receive offload: play captures through it, generate captures, measure it,
/// emit its Verilog.
#[derive(Debug, Parser)]
#[command(name = "rnic", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play captures through the device, frame by frame.
    Play(play::Arguments),
    /// Write a capture from a described workload, with faults.
    Gen(Box<generate::Arguments>),
    /// Play random workloads and faults, hardware against model.
    Fuzz(fuzz::Arguments),
    /// Measure the core in cycles.
    Bench(bench::Arguments),
    /// Change the core in one place at a time and report which check catches it.
    Mutants(mutants::Arguments),
    /// Write the Verilog of the core.
    Emit(emit::Arguments),
    /// Serve the device to a driver, as a PCI device over vfio-user.
    Serve(serve::Arguments),
    /// Join served devices, guests and interfaces of Linux, with faults that are asked for.
    Hub(hub::Arguments),
    /// Play a peer that misbehaves on purpose against an iWARP implementation; a verdict a case.
    Peer(Box<peer::Arguments>),
    /// Run the self-test of a board at its simulated pins; its script comes from runs that are
    /// compared with the model.
    Selftest(selftest::Arguments),
}

/// Run the command line of this process.
pub(crate) fn run() -> ExitCode {
    let command = Cli::parse().command;
    let result = interrupt::install().map_err(Failure::from);
    match result.and_then(|()| carry_out(command)) {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Bad) => ExitCode::from(1),
        Ok(Outcome::Unusable) => ExitCode::from(2),
        Ok(Outcome::Interrupted) => interrupt::end(),
        Err(failure) => report(&failure),
    }
}

fn carry_out(command: Command) -> Result<Outcome, Failure> {
    match command {
        Command::Play(arguments) => play::run(&arguments),
        Command::Gen(arguments) => generate::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Mutants(arguments) => mutants::run(&arguments),
        Command::Emit(arguments) => emit::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Hub(arguments) => hub::run(&arguments),
        Command::Peer(arguments) => peer::run(&arguments),
        Command::Selftest(arguments) => selftest::run(&arguments),
    }
}
