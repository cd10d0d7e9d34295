//! `rnic emit`: the Verilog of the core, or of a part of it or beside it, after checks and lint.

use crate::cli::outcome::{Failure, Outcome};
use rnic_abi::limits::{CONNECTIONS, REGIONS};
use rnic_testbench::play::dut::PlayError;
use std::fs;
use std::path::PathBuf;

const EXAMPLE: &str = "Example:\n  rnic emit --width 128 --out build/verilog";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// Frame path in bits.
    #[arg(long, default_value_t = 64, value_parser = super::play::width)]
    width: usize,
    /// Connections: 256, 512 or 1024.
    #[arg(long, value_name = "N", default_value_t = CONNECTIONS)]
    connections: usize,
    /// Memory regions: 256, 512 or 1024.
    #[arg(long, value_name = "N", default_value_t = REGIONS)]
    regions: usize,
    /// The read engine alone, in place of the core.
    #[arg(long)]
    reads: bool,
    /// The transmit room alone, in place of the core.
    #[arg(long, conflicts_with = "reads")]
    transmit: bool,
    /// The adapter between the core and AMD's PCI Express block, in place of the core.
    #[arg(long, conflicts_with_all = ["reads", "transmit"])]
    amd: bool,
    /// Folder for `rnic.v`, `reads.v`, `transmit.v` or `amd_adapter.v`; created if missing.
    #[arg(long)]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let sizes = super::play::sizes(arguments.connections, arguments.regions)?;
    let width = arguments.width;
    let (verilog, name) = if arguments.reads {
        // The inner path has at least 128 bits.
        (rnic_hdl::reads::verilog(width.max(128))?, "reads.v")
    } else if arguments.transmit {
        (rnic_hdl::sending::verilog(width)?, "transmit.v")
    } else if arguments.amd {
        (rnic_hdl::amd::verilog(width)?, "amd_adapter.v")
    } else {
        (rnic_hdl::top::verilog(width, sizes)?, "rnic.v")
    };
    let path = arguments.out.join(name);
    let failed = |error: std::io::Error| PlayError::Option(format!("{}: {error}", path.display()));
    fs::create_dir_all(&arguments.out).map_err(failed)?;
    fs::write(&path, verilog).map_err(failed)?;
    println!("{}", path.display());
    Ok(Outcome::Good)
}
