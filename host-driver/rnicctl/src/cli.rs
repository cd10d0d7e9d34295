//! The command line of `rnicctl`.
//!
//! Exit status: 0 good; 1 a check failed; 2 the input cannot be used, or the output not written;
//! 141 the reader of the output has left.

use crate::outcome::{Failure, Outcome};
use crate::{counters, info, list, reset, self_test, tables};
use clap::{Parser, Subcommand};
use rnic_output::names::one_line;
use rnic_output::{is_closed, stdout};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  rnicctl list
  rnicctl self-test vfio:0000:01:00.0
  rnicctl counters monitor:$XDG_RUNTIME_DIR/ferrowarp/storage.sock --watch 1

ADDRESS is one of
  vfio:0000:01:00.0   a PCI function that is bound to vfio-pci and not in use
  vfio-user:PATH      a device that another process serves, not in use
  monitor:PATH        a device that an application has open, which answers for it";

/// Look at Ferrowarp devices, test and reset them.
#[derive(Debug, Parser)]
#[command(name = "rnicctl", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Devices of this machine, and applications that have one open.
    List(list::Arguments),
    /// What a device is, and what it has free.
    Info(info::Arguments),
    /// Counters, or their rates.
    Counters(counters::Arguments),
    /// Memory regions that an application has registered.
    Regions(tables::RegionsArguments),
    /// Connections that an application has open.
    Connections(tables::ConnectionsArguments),
    /// Check an unused device.
    SelfTest(self_test::Arguments),
    /// Reset an unused device.
    Reset(reset::Arguments),
}

/// What the command line accepts, for the test of the documents.
#[cfg(test)]
pub(crate) fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Run the command line of this process.
pub(crate) fn run() -> ExitCode {
    let result: Result<Outcome, Failure> = match Cli::parse().command {
        Command::List(arguments) => list::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Counters(arguments) => counters::run(&arguments),
        Command::Regions(arguments) => tables::regions(&arguments),
        Command::Connections(arguments) => tables::connections(&arguments),
        Command::SelfTest(arguments) => self_test::run(&arguments),
        Command::Reset(arguments) => reset::run(&arguments),
    };
    match result {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Bad) => ExitCode::from(1),
        Err(failure) => report(&failure),
    }
}

/// Status of a command that could not be carried out, and why in one line. If the reader of its
/// output has left, nobody waits for a word.
fn report(failure: &Failure) -> ExitCode {
    if is_closed(failure.as_ref()) {
        return ExitCode::from(stdout::CLOSED_STATUS);
    }
    let failure = failure.to_string();
    stdout::complain(&format!("rnicctl: {}", one_line(&failure)));
    ExitCode::from(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_has_a_worked_example() {
        let mut cli = Cli::command();
        cli.clone().debug_assert();
        for command in cli.get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            let example = format!("\n  rnicctl {}", command.get_name());
            assert!(help.contains(&example), "{help}");
        }
    }
}
