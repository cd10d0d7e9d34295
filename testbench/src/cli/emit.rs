//! `rnic emit`: the Verilog of the core, or of a part of it or beside it, after checks and lint; or
//! the core in a folder for other people's flows.

use crate::cli::json::unusable;
use crate::cli::outcome::{Failure, Outcome};
use rnic_abi::limits::{CONNECTIONS, REGIONS};
use rnic_output::{shown, stdout, Claims};
use rnic_testbench::selftest;
use std::fs;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "Examples:\n  rnic emit --width 128 --out build/verilog\n  \
                       rnic emit --ip --connections 256 --out build/ip";

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
    /// The core in a folder that works by itself: AXI-Stream names, waivers, FuseSoC, cocotb test.
    #[arg(long, conflicts_with_all = ["reads", "transmit", "amd"])]
    ip: bool,
    /// The self-test of a board, in place of the core: `ecp5-evn`. It has the smallest core; its
    /// script is made and compared with the model first.
    #[arg(long, value_name = "NAME", value_parser = ["ecp5-evn"],
        conflicts_with_all = ["reads", "transmit", "amd", "ip", "connections", "regions"])]
    board: Option<String>,
    /// Folder for `rnic.v`, `reads.v`, `transmit.v`, `amd_adapter.v`, `board.v` or what `--ip`
    /// writes; created if missing.
    #[arg(long)]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let sizes = super::play::sizes(arguments.connections, arguments.regions)?;
    let width = arguments.width;
    if arguments.ip {
        for file in rnic_ip::files(width, sizes)? {
            write(&arguments.out.join(file.path), &file.text)?;
        }
        stdout::print(&format!("{}\n", shown(&arguments.out)))?;
        return Ok(Outcome::Good);
    }
    let (verilog, name) = if arguments.reads {
        // The inner path has at least 128 bits.
        (rnic_hdl::reads::verilog(width.max(128))?, "reads.v")
    } else if arguments.transmit {
        (rnic_hdl::sending::verilog(width)?, "transmit.v")
    } else if arguments.amd {
        (rnic_hdl::amd::verilog(width)?, "amd_adapter.v")
    } else if arguments.board.is_some() {
        (board()?, "board.v")
    } else {
        (rnic_hdl::top::verilog(width, sizes)?, "rnic.v")
    };
    let path = arguments.out.join(name);
    write(&path, &verilog)?;
    stdout::print(&format!("{}\n", shown(&path)))?;
    Ok(Outcome::Good)
}

/// The self-test of a board.
fn board() -> Result<String, Failure> {
    let progress = super::selftest::spinner();
    let script = selftest::generate(&progress)?;
    progress.finish_and_clear();
    Ok(selftest::board::verilog(&script)?)
}

/// Writes a file, in folders that are made for it.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
    }
    let mut file = Claims::new().output("--out", path)?;
    file.write(text.as_bytes())?;
    Ok(file.finish()?)
}
