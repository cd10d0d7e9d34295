//! Pings over RDMA, wire-compatible with Linux' `rping` in both roles.
//!
//! ```text
//! rping sim:model,unix:wire.sock -s --own 192.0.2.1/24
//! rping sim:model,unix-connect:wire.sock -c --own 192.0.2.2/24 -a 192.0.2.1 -C 10 -V
//!
//!  client                                       server
//!    Send: where its source is   ---------->
//!                                <----------    RDMA Read of the source
//!                                <----------    Send: go ahead
//!    Send: where its sink is     ---------->
//!                                <----------    RDMA Write of what was read
//!                                <----------    Send: go ahead
//! ```
//!
//! `make rping` runs both on devices of their own.

mod record;
mod client;
mod server;

use clap::builder::RangedU64ValueParser;
use clap::Parser;
use record::{RECORD_OCTETS, SIZE_MAX, SIZE_MIN};
use rnic_driver::verbs::endpoint::PairOptions;
use rnic_examples::end::{End, Wanted};
use rnic_examples::failure::{finish, Failure};
use rnic_examples::options::Options;
use std::ops::RangeInclusive;
use std::process::ExitCode;

/// Receives that each end has posted: the peer answers each message before its next one.
const RECEIVES: u32 = 2;
/// RDMA Reads outstanding, as Linux' `rping` has it.
const READS: u16 = 1;

/// What a ping may have.
const SIZES: RangeInclusive<u64> = SIZE_MIN as u64..=SIZE_MAX as u64;

/// Ping a peer with RDMA Reads and Writes.
#[derive(Debug, Parser)]
#[command(name = "rping")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    ping: Ping,
}

/// What is done.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Ping {
    /// Client: pings; 0 goes on until something ends it
    #[arg(short = 'C', long, default_value_t = 10)]
    count: u64,
    /// Client: octets of a ping, 64 to 65536
    #[arg(short = 'S', long, default_value_t = SIZE_MIN,
          value_parser = RangedU64ValueParser::<usize>::new().range(SIZES))]
    size: usize,
    /// Client: compare what comes back with what was sent
    #[arg(short = 'V', long)]
    verify: bool,
    /// Print each ping
    #[arg(short, long)]
    verbose: bool,
    /// Server: wait for the next client when one has gone
    #[arg(short = 'P', long)]
    persistent: bool,
}

fn main() -> ExitCode {
    // Addresses that begin with `sim:` are a device on a thread of this process.
    rnic_device::provide_simulator();
    finish("rping", run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { options, ping } = arguments;
    match options.role.server {
        true => server::run(&End::open(options)?, options, ping),
        false => {
            let peer = options.peer_address()?;
            client::run(&End::open(options)?, peer, options, ping)
        }
    }
}

/// What the connection of either end is to be. Linux' `rping` has no Private Data.
fn wanted(options: &Options) -> Wanted {
    Wanted {
        startup: options.startup.settings(READS),
        pair: PairOptions {
            sends: 4,
            receives: RECEIVES,
            ..PairOptions::default()
        },
        receives: (RECEIVES, RECORD_OCTETS),
        private_data: Vec::new(),
    }
}
