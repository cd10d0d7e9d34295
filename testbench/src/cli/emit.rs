//! `rnic emit`: the core's Verilog, after checks and lint.

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
    /// Folder for `rnic.v`; created if missing.
    #[arg(long)]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let sizes = super::play::sizes(arguments.connections, arguments.regions)?;
    let verilog = rnic_hdl::top::verilog(arguments.width, sizes)?;
    let path = arguments.out.join("rnic.v");
    let failed = |error: std::io::Error| PlayError::Option(format!("{}: {error}", path.display()));
    fs::create_dir_all(&arguments.out).map_err(failed)?;
    fs::write(&path, verilog).map_err(failed)?;
    println!("{}", path.display());
    Ok(Outcome::Good)
}
