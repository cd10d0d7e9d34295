//! Bandwidth: many operations at a time, in one direction.
//!
//! ```text
//! bandwidth sim:model,unix:wire.sock -s --own 192.0.2.1/24
//! bandwidth sim:model,unix-connect:wire.sock -c --own 192.0.2.2/24 -a 192.0.2.1 --operation write
//!
//!  client                          server
//!    MPA Request: what    ------>    a region, or receives
//!    MPA Reply            <------    where the region is
//!    depth operations at a time; of Sends as many as the server has receives posted for
//! ```
//!
//! With `--connections` each end has as many at a time, each on a thread of its own.

mod asked;
mod payload;
mod client;
mod server;

use asked::{Operation, DEPTH_MAX, SIZE_MAX};
use clap::Parser;
use rnic_examples::failure::{finish, Failure};
use rnic_examples::options::Options;
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread;

/// Measure how much Sends, Writes or Reads carry.
#[derive(Debug, Parser)]
#[command(name = "bandwidth")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    load: Load,
    #[command(flatten)]
    both: Both,
}

/// What a client does.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Client")]
struct Load {
    /// What is posted
    #[arg(long, value_enum, default_value_t = Operation::Write)]
    operation: Operation,
    /// Octets of a message, 1 to 1048576
    #[arg(short = 'S', long, default_value_t = 65_536,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(SIZE_MAX)))]
    size: u32,
    /// How long messages are posted
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// How many messages are posted, however long it takes
    #[arg(short = 'C', long, conflicts_with = "seconds",
          value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Messages that are posted at a time, 1 to 128
    #[arg(long, default_value_t = 16,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(DEPTH_MAX)))]
    depth: u32,
    /// Print JSON and nothing else
    #[arg(long)]
    json: bool,
}

/// What both ends do.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Both ends")]
struct Both {
    /// Connections at a time, 1 to 64, as many at either end; --count is of each
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    connections: u8,
    /// Compare what arrives with what a peer of this program sends
    #[arg(long)]
    verify: bool,
}

fn main() -> ExitCode {
    // Addresses that begin with `sim:` are a device on a thread of this process.
    rnic_device::provide_simulator();
    let Arguments {
        options,
        load,
        both,
    } = Arguments::parse();
    let ended = match options.role.server {
        true => server::run(&options, both),
        false => client::run(&options, &load, both),
    };
    finish("bandwidth", ended)
}

/// Do the same for each of so many connections at a time; what each has ended with, or why one has
/// failed.
fn for_each<T: Send>(
    connections: u8,
    run: impl Fn() -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    thread::scope(|scope| {
        let begun: Vec<_> = (0..connections).map(|_| scope.spawn(&run)).collect();
        let ended = begun.into_iter().map(|thread| {
            let joined = thread.join();
            joined.unwrap_or_else(|panic| resume_unwind(panic))
        });
        ended.collect()
    })
}
