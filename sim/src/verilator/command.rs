//! The tools of a build, each run in the build's folder with its output in a log there: `make`, the
//! C++ compiler, the linker, and the flags they get.

use super::compiler::Compiler;
use crate::error::SimError;
use rustix::fs::{flock, FlockOperation};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
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
/// nothing half done. Whoever wants the same at the same time, in this process or another one,
/// waits for it; other keys do not.
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
    fs::create_dir_all(target.join(results)).map_err(|source| failed(&folder, source))?;
    let lock = folder.with_extension("lock");
    // Held until this function returns; the file stays, as another process may wait for it.
    let file = File::create(&lock).map_err(|source| failed(&lock, source))?;
    flock(&file, FlockOperation::LockExclusive).map_err(|error| failed(&lock, error.into()))?;
    if folder.exists() {
        return Ok(folder);
    }
    let work = folder.with_extension("work");
    if work.exists() {
        // Of a run that was interrupted.
        fs::remove_dir_all(&work).map_err(|source| failed(&work, source))?;
    }
    fs::create_dir_all(&work).map_err(|source| failed(&work, source))?;
    make(&work)?;
    fs::rename(&work, &folder).map_err(|source| failed(&folder, source))?;
    Ok(folder)
}

/// For code that runs every cycle, on this machine: straight lines, in which g++ finds nothing more
/// at -O2 (2 %, within the noise) and takes half as long again.
pub(super) const MODEL_FLAGS: &str = "-O1 -march=native";
/// The same where a profile guides the compiler.
pub(super) const GUIDED_FLAGS: &str = "-O2 -march=native";
/// For code that runs once, at the start: half of it all, so fast compilation is what counts.
pub(super) const SLOW_FLAGS: &str = "-O0";
/// For Verilator's own runtime. Its assertions ask whether an atomic is free of locks, which clang
/// answers from a library (libatomic) that may not be installed.
pub(super) const RUNTIME_FLAGS: &str = "-O2 -march=native -DNDEBUG";
/// Calls within the library go straight to their target: 3 % faster.
pub(super) const LINK_FLAGS: &str = "-Wl,-Bsymbolic";
pub(super) const COMMON_FLAGS: &str = "-fPIC -std=c++17";

/// The name of a build: the first 16 octets of the SHA-256 of all its inputs. Each part is preceded
/// by its length, so that moving an octet from one part to the next changes the hash.
pub(crate) fn content_key<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let octets = &hasher.finalize()[..16];
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Features of this machine's processor. They are part of a library's name, as another processor
/// may not run what `-march=native` generates.
pub(super) fn processor() -> String {
    let known = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let features = |line: &&str| line.starts_with("flags") || line.starts_with("Features");
    known.lines().find(features).unwrap_or_default().to_owned()
}

/// Write a file of a build.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), SimError> {
    fs::write(path, text).map_err(|source| SimError::Io {
        path: path.to_path_buf(),
        source,
    })
}

/// Generated C++, in octets, below which all of it is one translation unit: headers that are
/// compiled ahead cost more than they save.
const ONE_UNIT_OCTETS_MAX: u64 = 400_000;

/// The objects of the model; `flags` are for the code that runs every cycle.
pub(super) fn compile(
    work: &Path,
    compiler: &Compiler,
    fast: &str,
    flags: &[String],
) -> Result<(), SimError> {
    let mut command = Command::new("make");
    command.args(["-s", "-j2", "-C", "obj", "-f", "Vrnic.mk"]);
    command
        .arg(format!("CXX={}", compiler.command))
        .args(compiler.make_variables())
        .arg(format!("OPT={COMMON_FLAGS}"))
        .arg(format!("OPT_FAST={fast} {}", flags.join(" ")))
        .arg(format!("OPT_SLOW={SLOW_FLAGS}"));
    if generated_octets(&work.join("obj"))? < ONE_UNIT_OCTETS_MAX {
        command.arg("VM_PARALLEL_BUILDS=0");
    }
    command.arg("libVrnic.a");
    run("make", command, work)
}

/// The octets of the C++ files in `folder`.
fn generated_octets(folder: &Path) -> Result<u64, SimError> {
    let failed = |source| SimError::Io {
        path: folder.to_path_buf(),
        source,
    };
    let mut octets = 0;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().to_string_lossy().ends_with(".cpp") {
            octets += entry.metadata().map_err(failed)?.len();
        }
    }
    Ok(octets)
}

/// Precedes Verilator's writer of waveforms: what it checks, such as its place in the file, fails
/// on a full disk. It would abort the process; an exception lets the shim go on without a waveform.
pub(super) const WAVEFORM: &str = "\
#if __has_include(\"fstcpp/fstcpp_assertion.h\")
#include <stdexcept>
#include \"fstcpp/fstcpp_assertion.h\"
#undef FST_CHECK
#undef FST_CHECK_EQ
#undef FST_CHECK_NE
#undef FST_CHECK_GT
#undef FST_CHECK_GE
#undef FST_CHECK_LT
#undef FST_CHECK_LE
#define FST_CHECK(a) if (!(a)) throw std::runtime_error(#a)
#define FST_CHECK_EQ(a, b) FST_CHECK((a) == (b))
#define FST_CHECK_NE(a, b) FST_CHECK((a) != (b))
#define FST_CHECK_GT(a, b) FST_CHECK((a) > (b))
#define FST_CHECK_GE(a, b) FST_CHECK((a) >= (b))
#define FST_CHECK_LT(a, b) FST_CHECK((a) < (b))
#define FST_CHECK_LE(a, b) FST_CHECK((a) <= (b))
#endif
";
/// The file it is in.
const WAVEFORM_FILE: &str = "waveform.h";

/// Verilator's runtime as an archive, compiled once for each compiler, with or without waveforms.
pub(super) fn runtime(compiler: &Compiler, trace: bool) -> Result<PathBuf, SimError> {
    let root = verilator_root()?;
    let include = root.join("include");
    let sources: &[&str] = match trace {
        true => &["verilated", "verilated_threads", "verilated_fst_c"],
        false => &["verilated", "verilated_threads"],
    };
    let traced = u8::from(trace);
    // As `verilated.mk` defines them for a model without coverage, timing or SystemC.
    let definitions = format!(
        "-DVERILATOR=1 -DVM_COVERAGE=0 -DVM_SC=0 -DVM_TIMING=0 -DVM_TRACE={traced} \
         -DVM_TRACE_FST={traced} -DVM_TRACE_VCD=0 -DVM_TRACE_SAIF=0"
    );
    let place = root.to_string_lossy();
    let tools = [&*place, &compiler.command, &compiler.version, &processor()];
    // Without waveforms nothing of theirs counts.
    let waveform = trace.then_some(WAVEFORM);
    let flags = [RUNTIME_FLAGS, COMMON_FLAGS, &definitions];
    let key = content_key(
        flags
            .into_iter()
            .chain(tools)
            .chain(sources.iter().copied())
            .chain(waveform),
    );
    let folder = once("verilated", &format!("runtime-{key}"), |work| {
        let mut archive = Command::new("ar");
        archive.args(["rcs", RUNTIME]);
        if let Some(text) = waveform {
            write(&work.join(WAVEFORM_FILE), text)?;
        }
        for source in sources {
            let mut command = Command::new(&compiler.command);
            let flags = [RUNTIME_FLAGS, COMMON_FLAGS, &definitions];
            command.args(flags.iter().flat_map(|flags| flags.split_whitespace()));
            command
                .arg("-I")
                .arg(&include)
                .arg("-I")
                .arg(include.join("vltstd"));
            if source.contains("fst") {
                command.args(["-include", WAVEFORM_FILE]);
            }
            command.arg("-c").arg(include.join(format!("{source}.cpp")));
            run(&compiler.command, command, work)?;
            archive.arg(format!("{source}.o"));
        }
        run("ar", archive, work)
    })?;
    Ok(folder.join(RUNTIME))
}

/// File name of the archive of Verilator's runtime.
const RUNTIME: &str = "libverilated.a";

/// The shim and the objects, as the library `name`.
pub(super) fn link(
    work: &Path,
    compiler: &Compiler,
    flags: &[String],
    name: &str,
    trace: bool,
) -> Result<(), SimError> {
    let include = verilator_root()?.join("include");
    let runtime = runtime(compiler, trace)?;
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
    command.arg("obj/libVrnic.a").arg(runtime).arg("-lpthread");
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The name is the same in every process and release, and depends on where each part ends.
    #[test]
    fn a_build_is_named_by_its_content() {
        let key = |parts: &[&str]| content_key(parts.iter().copied());
        // SHA-256 of 01 00 00 00 00 00 00 00 61, as `sha256sum` has it.
        assert_eq!(key(&["a"]), "ae6121c88ba555f64c3d812123eb799d");
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["ab", ""]), key(&["ab"]));
    }
}
