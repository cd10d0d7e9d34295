//! Verilate and compile, with a cache named by content.

use super::command::{
    compile, content_key, link, once, processor, run, verilator_root, write, COMMON_FLAGS,
    GUIDED_FLAGS, LINK_FLAGS, MODEL_FLAGS, RUNTIME_FLAGS, SLOW_FLAGS,
};
use super::compiler::{Compiler, Profiler};
use super::gating::{self, Gated};
use super::profile::{self, Training};
use super::{shim, silicon, wrapper};
use crate::error::SimError;
use crate::form::Form;
use crate::ports::Port;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to build.
#[derive(Debug)]
pub struct Options<'a> {
    /// Verilog with the top module `rnic`.
    pub verilog: &'a str,
    /// Inputs of the top module without the clock.
    pub inputs: &'a [Port],
    /// Outputs of the top module.
    pub outputs: &'a [Port],
    /// Build with waveform support; slower.
    pub trace: bool,
    /// What `verilog` is; as silicon it is changed first (`silicon.rs`).
    pub form: Form,
    /// Paths of rooms that get no clock edge while it would change nothing (`gating.rs`).
    pub gated: &'a [&'a str],
    /// Let a profile of this run guide the compiler, if it is clang with its tools (`profile.rs`);
    /// takes twice as long. Not for libraries with waveform support.
    pub training: Option<Training<'a>>,
}

/// File name of a finished library.
const LIBRARY: &str = "librnic.so";

/// Build the model unless it is cached; returns the path of its library.
pub fn build(options: &Options) -> Result<PathBuf, SimError> {
    build_with(options, gating::gate)
}

/// As [`build`], with another way to gate rooms than [`gate`](gating::gate).
pub fn build_with(
    options: &Options,
    gate: impl Fn(&str, &[&str]) -> Gated,
) -> Result<PathBuf, SimError> {
    let verilog = match options.form {
        Form::Silicon => Cow::Owned(silicon::text(options.verilog)),
        Form::Emitted | Form::Netlist => Cow::Borrowed(options.verilog),
    };
    let Gated { verilog, rooms } = gate(&verilog, options.gated);
    let shim_text = shim::text(options.inputs, options.outputs, options.trace, &rooms);
    let wrapper_text = wrapper::text(options.inputs, options.outputs, &rooms);
    let texts = [verilog.as_str(), &wrapper_text, &shim_text];
    let compiler = Compiler::find()?;
    let tools = [compiler.command.as_str(), &compiler.version, &processor()];
    let flags = [
        MODEL_FLAGS,
        GUIDED_FLAGS,
        SLOW_FLAGS,
        RUNTIME_FLAGS,
        LINK_FLAGS,
        COMMON_FLAGS,
    ];
    let profiler = options.training.and_then(|_| compiler.profiler());
    let guide = profiler.as_ref().map(|profiler| profiler.version.as_str());
    let parts = texts.into_iter().chain(flags).chain(tools).chain(guide);
    let key = content_key(parts);
    let folder = once("verilated", &key, |work| {
        write(&work.join("rnic.v"), &verilog)?;
        write(&work.join("bench.v"), &wrapper_text)?;
        write(&work.join("shim.cpp"), &shim_text)?;
        verilate(work, options)?;
        compile_and_link(work, &compiler, options, profiler)
    })?;
    Ok(folder.join(LIBRARY))
}

/// Two compilations with a profile, otherwise one.
fn compile_and_link(
    work: &Path,
    compiler: &Compiler,
    options: &Options,
    profiler: Option<Profiler>,
) -> Result<(), SimError> {
    let trained = match (options.training, profiler) {
        (Some(training), Some(profiler)) => {
            // Without a profile the model is slower, and otherwise the same; the logs say why.
            let trained = profile::train(work, compiler, &profiler, training).is_ok();
            profile::clean(work, !trained)?;
            trained
        }
        _ => false,
    };
    let flags = |above| trained.then(|| profile::use_flag(above));
    let fast = if trained { GUIDED_FLAGS } else { MODEL_FLAGS };
    compile(work, compiler, fast, flags("../").as_slice())?;
    link(work, compiler, flags("").as_slice(), LIBRARY, options.trace)
}

fn verilate(work: &Path, options: &Options) -> Result<(), SimError> {
    let root = verilator_root()?;
    let mut command = Command::new(root.join("bin/verilator_bin"));
    command.env("VERILATOR_ROOT", &root);
    command.args([
        "--cc",
        "--top-module",
        wrapper::TOP,
        "--prefix",
        shim::CLASS,
        "-Mdir",
        "obj",
    ]);
    let unknown = match options.form {
        Form::Emitted => "fast",
        Form::Silicon | Form::Netlist => "unique",
    };
    command.args([
        "-O3",
        "--x-assign",
        unknown,
        "--x-initial",
        unknown,
        "--no-timing",
    ]);
    // The emitter's own widths are not Verilog's; latches and combinational loops are fatal.
    command.args([
        "-Wno-fatal",
        "-Wno-WIDTH",
        "-Werror-LATCH",
        "-Werror-UNOPTFLAT",
    ]);
    if options.trace {
        command.arg("--trace-fst");
    }
    command.args(["bench.v", "rnic.v"]);
    run("verilator", command, work)
}
