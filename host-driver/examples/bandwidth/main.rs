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

mod asked;
mod client;
mod server;

use asked::{Operation, DEPTH_MAX, SIZE_MAX};
use clap::Parser;
use rnic_examples::failure::finish;
use rnic_examples::options::Options;
use std::process::ExitCode;

/// Measure how much Sends, Writes or Reads carry.
#[derive(Debug, Parser)]
#[command(name = "bandwidth")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    load: Load,
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

fn main() -> ExitCode {
    // Addresses that begin with `sim:` are a device on a thread of this process.
    rnic_device::provide_simulator();
    let Arguments { options, load } = Arguments::parse();
    let ended = match options.role.server {
        true => server::run(&options),
        false => client::run(&options, &load),
    };
    finish("bandwidth", ended)
}
