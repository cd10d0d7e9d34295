//! The tools of a build, each run in the build's folder with its output in a log there: `make`, the
//! C++ compiler, the linker, and the flags they get.

use super::compiler::Compiler;
use crate::error::SimError;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the whole project.
pub fn workspace_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest
        .parent()
        .expect("the crate is a folder of the workspace")
        .to_path_buf()
}

/// Verilator's own folder in the project's tool environment.
pub fn verilator_root() -> Result<PathBuf, SimError> {
    let root = site_packages()?.join("verilator");
    match root.join("bin/verilator_bin").exists() {
        true => Ok(root),
        false => Err(SimError::ToolMissing { path: root }),
    }
}

/// The folder of the packages in the project's tool environment.
pub(crate) fn site_packages() -> Result<PathBuf, SimError> {
    let libraries = workspace_root().join(".tools/venv/lib");
    let missing = || SimError::ToolMissing {
        path: libraries.clone(),
    };
    let pythons = fs::read_dir(&libraries).map_err(|_| missing())?.flatten();
    let mut folders = pythons.map(|python| python.path().join("site-packages"));
    folders.find(|folder| folder.exists()).ok_or_else(missing)
}

/// What `make` puts into the folder `results` of cargo's target folder, named by `key`: found, or
/// made by `make` in a folder of its own, which then gets that name. So an interrupted run leaves
/// nothing half done, and two processes that make the same at once do not collide.
pub(crate) fn once(
    results: &str,
    key: &str,
    make: impl FnOnce(&Path) -> Result<(), SimError>,
) -> Result<PathBuf, SimError> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| workspace_root().join("target"));
    let folder = target.join(results).join(key);
    if folder.exists() {
        return Ok(folder);
    }
    let failed = |path: &Path, source| SimError::Io {
        path: path.to_path_buf(),
        source,
    };
    let work = folder.with_extension(format!("work{}", std::process::id()));
    fs::create_dir_all(&work).map_err(|source| failed(&work, source))?;
    make(&work)?;
    match fs::rename(&work, &folder) {
        Err(source) if !folder.exists() => Err(failed(&folder, source)),
        _ => Ok(folder),
    }
}

/// For code that runs every cycle, on this machine.
pub(super) const MODEL_FLAGS: &str = "-O2 -march=native";
/// For code that runs once, at the start: half of it all, so fast compilation is what counts.
pub(super) const SLOW_FLAGS: &str = "-O0";
/// For Verilator's own runtime. Its assertions ask whether an atomic is free of locks, which clang
/// answers from a library (libatomic) that may not be installed.
pub(super) const RUNTIME_FLAGS: &str = "-O2 -march=native -DNDEBUG";
/// Calls within the library go straight to their target: 3 % faster.
pub(super) const LINK_FLAGS: &str = "-Wl,-Bsymbolic";
pub(super) const COMMON_FLAGS: &str = "-fPIC -std=c++17";

/// Write a file of a build.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), SimError> {
    fs::write(path, text).map_err(|source| SimError::Io {
        path: path.to_path_buf(),
        source,
    })
}

/// The objects of model and runtime; `flags` are for the code that runs every cycle.
pub(super) fn compile(work: &Path, compiler: &Compiler, flags: &[String]) -> Result<(), SimError> {
    let mut command = Command::new("make");
    command.args(["-s", "-j2", "-C", "obj", "-f", "Vrnic.mk"]);
    command
        .arg(format!("CXX={}", compiler.command))
        .args(compiler.make_variables())
        .arg(format!("OPT={COMMON_FLAGS}"))
        .arg(format!("OPT_FAST={MODEL_FLAGS} {}", flags.join(" ")))
        .arg(format!("OPT_SLOW={SLOW_FLAGS}"))
        .arg(format!("OPT_GLOBAL={RUNTIME_FLAGS}"));
    command.args(["libVrnic.a", "libverilated.a"]);
    run("make", command, work)
}

/// The shim and the objects, as the library `name`.
pub(super) fn link(
    work: &Path,
    compiler: &Compiler,
    flags: &[String],
    name: &str,
    trace: bool,
) -> Result<(), SimError> {
    let include = verilator_root()?.join("include");
    let mut command = Command::new(&compiler.command);
    command
        .args(MODEL_FLAGS.split(' '))
        .args(COMMON_FLAGS.split(' '))
        .args(flags)
        .args(["-shared", LINK_FLAGS, "-o", name, "shim.cpp"]);
    command
        .arg("-Iobj")
        .arg("-I")
        .arg(&include)
        .arg("-I")
        .arg(include.join("vltstd"));
    command.args(["obj/libVrnic.a", "obj/libverilated.a", "-lpthread"]);
    if trace {
        command.args(["-llz4", "-lz"]);
    }
    run(&compiler.command, command, work)
}

/// Run a tool in `work`, where its output goes to a log.
pub(crate) fn run(tool: &str, mut command: Command, work: &Path) -> Result<(), SimError> {
    let log = work.join(format!("{}.log", tool.replace('/', "_")));
    let output = command.current_dir(work).output();
    let output = output.map_err(|source| SimError::Io {
        path: tool.into(),
        source,
    })?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    write(&log, &text)?;
    if output.status.success() {
        return Ok(());
    }
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(20)..].join("\n");
    let tool = tool.to_owned();
    Err(SimError::ToolFailed { tool, log, tail })
}
