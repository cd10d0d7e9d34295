//! Mutants: single changes of the core's Verilog, all in one library, one of them active.
//!
//! ```text
//!  table of changes -> Verilog with every change behind `bench.mutant_now == N` -> build()
//!                                                                                    |
//!  RNIC_MUTANT=N, RNIC_MUTANT_LIBRARY=PATH  -> Core::load -> register mutant_now <---+
//! ```
//!
//! The two environment variables select a mutant for a process and its children: each core they
//! load comes from that library, with change N active from the first cycle on, or none with N = 0.
//! `rnic mutants` builds the library and sets both. Without them the core is built from the Verilog
//! as emitted.
//!
//! | input  | the core's Verilog with its changes, the environment |
//! | output | a library, and the number of the active change       |

use crate::error::SimError;
use crate::form::Form;
use crate::ports;
use crate::verilator::{build, Options, ROOMS};
use std::path::{Path, PathBuf};

/// The number of the active change; 0 for none.
pub const NUMBER_VARIABLE: &str = "RNIC_MUTANT";
/// The library with the changes.
pub const LIBRARY_VARIABLE: &str = "RNIC_MUTANT_LIBRARY";
/// Hierarchical name of the register with the number, valid in every module of the core.
pub const REGISTER: &str = "bench.mutant_now";
/// Width of the frame path of a core with mutants, in bits.
pub const WIDTH: usize = 64;

/// Build the library of a core whose Verilog reads [`REGISTER`], unless it is cached.
pub fn library(verilog: &str) -> Result<PathBuf, SimError> {
    let mut inputs = ports::inputs(WIDTH);
    inputs.push(ports::MUTANT);
    build(&Options {
        verilog,
        inputs: &inputs,
        outputs: &ports::outputs(WIDTH),
        trace: false,
        form: Form::Emitted,
        gated: ROOMS,
        training: None,
    })
}

/// A change of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Its number; 0 for the unchanged core.
    pub number: u16,
    /// The library that contains it.
    pub library: PathBuf,
}

impl Mutant {
    /// The mutant that the environment of this process selects.
    pub(crate) fn of_environment() -> Result<Option<Self>, SimError> {
        let value = |name| std::env::var(name).ok();
        Self::parse(value(NUMBER_VARIABLE), value(LIBRARY_VARIABLE))
    }

    fn parse(number: Option<String>, library: Option<String>) -> Result<Option<Self>, SimError> {
        let refused = |variable, reason: String| SimError::Mutant { variable, reason };
        let (number, library) = match (number, library) {
            (None, None) => return Ok(None),
            (Some(number), Some(library)) => (number, library),
            (Some(_), None) => {
                let reason =
                    format!("set, but {LIBRARY_VARIABLE} is not; `rnic mutants` sets both");
                return Err(refused(NUMBER_VARIABLE, reason));
            }
            (None, Some(_)) => {
                let reason = format!("set, but {NUMBER_VARIABLE} is not; `rnic mutants` sets both");
                return Err(refused(LIBRARY_VARIABLE, reason));
            }
        };
        let number = number.parse().map_err(|_| {
            let reason = format!("{number} is not a mutant's number; use 0 to 65535");
            refused(NUMBER_VARIABLE, reason)
        })?;
        let library = library.into();
        Ok(Some(Self { number, library }))
    }

    /// The library, if it has a core of `width` and no waveform is wanted.
    pub(crate) fn library_for(
        &self,
        width: usize,
        trace: Option<&Path>,
    ) -> Result<PathBuf, SimError> {
        let refused = |reason: String| SimError::Mutant {
            variable: NUMBER_VARIABLE,
            reason,
        };
        match trace {
            _ if width != WIDTH => Err(refused(format!(
                "mutants have width {WIDTH}, not {width}; unset it for this width"
            ))),
            Some(_) => Err(refused(
                "a core with mutants writes no waveform; unset it, or do not trace".into(),
            )),
            None => Ok(self.library.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(number: Option<&str>, library: Option<&str>) -> Result<Option<Mutant>, String> {
        let parsed = Mutant::parse(number.map(Into::into), library.map(Into::into));
        parsed.map_err(|error| error.to_string())
    }

    /// An incomplete selection must not silently run the unchanged core.
    #[test]
    fn the_environment_names_number_and_library_or_neither() {
        let mutant = Mutant {
            number: 7,
            library: "a.so".into(),
        };
        assert_eq!(parse(None, None), Ok(None));
        assert_eq!(parse(Some("7"), Some("a.so")), Ok(Some(mutant)));
        for (number, library) in [
            (Some("7"), None),
            (None, Some("a.so")),
            (Some("-1"), Some("a.so")),
            (Some("65536"), Some("a.so")),
        ] {
            let error = parse(number, library).expect_err("it is refused");
            assert!(error.starts_with("RNIC_MUTANT"), "{error}");
        }
    }

    /// Another width, or a waveform, would come from the unchanged core.
    #[test]
    fn a_mutant_has_one_width_and_no_waveform() {
        let mutant = Mutant {
            number: 0,
            library: "a.so".into(),
        };
        assert!(mutant.library_for(64, None).is_ok());
        assert!(mutant.library_for(128, None).is_err());
        assert!(mutant.library_for(64, Some(Path::new("a.fst"))).is_err());
    }
}
