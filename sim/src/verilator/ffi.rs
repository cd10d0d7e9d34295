//! The loaded model. All `unsafe` of this crate is here.

use crate::error::SimError;
use libloading::{Library, Symbol};
use std::ffi::{c_char, c_int, c_void, CString};
use std::path::Path;
use std::ptr::NonNull;

type Open = unsafe extern "C" fn(*const c_char, u32) -> *mut c_void;
type Close = unsafe extern "C" fn(*mut c_void);
type Cycle = unsafe extern "C" fn(*mut c_void, *const u32, *mut u32, c_int);
type Replay = unsafe extern "C" fn(*mut c_void, *const u32, u64);

/// An instance of the verilated core.
#[derive(Debug)]
pub struct Model {
    handle: NonNull<c_void>,
    close: Close,
    cycle: Cycle,
    replay: Replay,
    input_words: usize,
    output_words: usize,
    // Declared last, so it is unloaded after everything that points into it is dropped.
    _library: Library,
}

impl Model {
    /// Load `library`, built by [`build`](super::build()), and make an instance that exchanges the
    /// given numbers of words. `trace` names a waveform file, for libraries built with waveform
    /// support. A library built as silicon or netlist starts with values drawn from `seed`, with 0
    /// all zero.
    pub fn load(
        library: &Path,
        input_words: usize,
        output_words: usize,
        trace: Option<&Path>,
        seed: u32,
    ) -> Result<Self, SimError> {
        let failed = |reason: String| SimError::Load {
            path: library.to_path_buf(),
            reason,
        };
        let trace = trace.map(|path| CString::new(path.as_os_str().as_encoded_bytes()));
        let trace = trace
            .transpose()
            .map_err(|error| failed(error.to_string()))?;
        // SAFETY: the library was built by this crate from its own shim; loading it runs only the
        // C++ runtime's initialisers.
        let loaded = unsafe { Library::new(library) }.map_err(|error| failed(error.to_string()))?;
        // SAFETY: the four symbols are defined by the shim with exactly these types (shim.rs); the
        // function pointers copied out of them are used only while `_library` is alive.
        let (open, close, cycle, replay) = unsafe {
            let open: Symbol<Open> = loaded
                .get(b"rnic_open")
                .map_err(|e| failed(e.to_string()))?;
            let close: Symbol<Close> = loaded
                .get(b"rnic_close")
                .map_err(|e| failed(e.to_string()))?;
            let cycle: Symbol<Cycle> = loaded
                .get(b"rnic_cycle")
                .map_err(|e| failed(e.to_string()))?;
            let replay: Symbol<Replay> = loaded
                .get(b"rnic_replay")
                .map_err(|e| failed(e.to_string()))?;
            (*open, *close, *cycle, *replay)
        };
        let path = trace
            .as_ref()
            .map_or(std::ptr::null(), |path| path.as_ptr());
        // SAFETY: `path` is null or a C string that outlives the call.
        let handle = unsafe { open(path, seed) };
        let handle = NonNull::new(handle).ok_or_else(|| failed("no instance".into()))?;
        Ok(Self {
            handle,
            close,
            cycle,
            replay,
            input_words,
            output_words,
            _library: loaded,
        })
    }

    /// Simulate one clock cycle: apply `inputs`, clock and settle, copy the outputs of this cycle.
    ///
    /// # Panics
    /// If the slices do not have the lengths the model was loaded for.
    pub fn cycle(&mut self, inputs: &[u32], outputs: &mut [u32], traced: bool) {
        assert_eq!(inputs.len(), self.input_words);
        assert_eq!(outputs.len(), self.output_words);
        // SAFETY: the handle is live, and the shim reads and writes exactly the number of words
        // asserted above (both come from the same port tables).
        unsafe {
            (self.cycle)(
                self.handle.as_ptr(),
                inputs.as_ptr(),
                outputs.as_mut_ptr(),
                c_int::from(traced),
            )
        }
    }

    /// Simulate every cycle of `recording`, a sequence of inputs, without reading outputs; returns
    /// the number of cycles.
    ///
    /// # Panics
    /// If `recording` ends in the middle of a cycle.
    pub fn replay(&mut self, recording: &[u32]) -> u64 {
        assert_eq!(recording.len() % self.input_words, 0);
        let cycles = (recording.len() / self.input_words) as u64;
        // SAFETY: the handle is live, and the shim reads `cycles` times the number of input words,
        // which is what the slice holds.
        unsafe { (self.replay)(self.handle.as_ptr(), recording.as_ptr(), cycles) }
        cycles
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: the handle came from `rnic_open` and is closed once.
        unsafe { (self.close)(self.handle.as_ptr()) }
    }
}
