//! Libraries of the core: emitted, built or found once a process.

use crate::error::SimError;
use crate::form::Form;
use crate::mutant::Mutant;
use crate::netlist;
use crate::ports;
use crate::verilator::{build, is_guided, Options, Training, ROOMS};
use rnic_abi::sizes::Sizes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What distinguishes one library of the core from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Variant {
    /// Frame path in bits.
    pub(crate) width: usize,
    /// Sizes of its tables.
    pub(crate) sizes: Sizes,
    /// With waveform support.
    pub(crate) trace: bool,
    /// Which text of the core.
    pub(crate) form: Form,
}

/// The path of a library, once it is known; who wants it meanwhile waits.
type Known = Arc<Mutex<Option<PathBuf>>>;

/// Libraries that this process has built or found: emitting a core takes longer than a short run,
/// and a process may load the same one many times.
static LIBRARIES: Mutex<BTreeMap<Variant, Known>> = Mutex::new(BTreeMap::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn known(variant: Variant) -> Known {
    Arc::clone(lock(&LIBRARIES).entry(variant).or_default())
}

/// The library of a core: known to this process, cached, or emitted and built.
pub(crate) fn library(variant: Variant) -> Result<PathBuf, SimError> {
    let known = known(variant);
    let mut path = lock(&known);
    if let Some(path) = path.as_ref().filter(|path| path.exists()) {
        return Ok(path.clone());
    }
    let built = build_variant(variant, None)?;
    *path = Some(built.clone());
    Ok(built)
}

/// Build the library of a core without waveform unless it is there, so that loading it is quick.
///
/// # Errors
/// The core is not emitted, or a tool is missing or fails.
pub fn prepare(width: usize, sizes: Sizes, form: Form) -> Result<(), SimError> {
    let variant = Variant {
        width,
        sizes,
        trace: false,
        form,
    };
    library(variant).map(drop)
}

/// From here on, this process runs cores of `width` that are guided by a profile of `train`, which
/// runs such a core and drops it before it returns. Returns whether they are: without clang and its
/// tools, or with a mutant selected, they stay as they are. Only cores without waveform and not as
/// synthesised are guided.
///
/// Call it before cores are loaded by other threads, as they would take part in the training.
pub fn guide(width: usize, train: &dyn Fn()) -> Result<bool, SimError> {
    if Mutant::of_environment()?.is_some() {
        return Ok(false);
    }
    let variant = Variant {
        width,
        sizes: Sizes::LARGEST,
        trace: false,
        form: Form::Emitted,
    };
    let known = known(variant);
    let train = |instrumented: &Path| {
        *lock(&known) = Some(instrumented.to_path_buf());
        train();
    };
    let built = build_variant(variant, Some(Training(&train)));
    // Not the instrumented one any more, whatever became of the build.
    *lock(&known) = None;
    let built = built?;
    let guided = is_guided(&built);
    *lock(&known) = Some(built);
    Ok(guided)
}

fn build_variant(variant: Variant, training: Option<Training>) -> Result<PathBuf, SimError> {
    let Variant {
        width,
        sizes,
        trace,
        form,
    } = variant;
    let verilog = rnic_hdl::top::verilog(width, sizes).map_err(|error| SimError::Emission {
        width,
        reason: error.to_string(),
    })?;
    let verilog = match form {
        Form::Netlist => netlist::text(&verilog, "rnic")?,
        Form::Emitted | Form::Silicon => verilog,
    };
    build(&Options {
        verilog: &verilog,
        inputs: &ports::inputs(width),
        outputs: &ports::outputs(width),
        trace,
        form,
        // A waveform shows each room at each edge. As silicon, registers begin with anything. A
        // netlist has no rooms.
        gated: if trace || form != Form::Emitted {
            &[]
        } else {
            ROOMS
        },
        training,
    })
}
