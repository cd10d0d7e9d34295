//! Mutants: single changes of the core's Verilog, all in one library, one of them in force.
//!
//! ```text
//!  table of changes -> Verilog with every change behind `bench.mutant_now == N` -> build()
//!                                                                                    |
//!  RNIC_MUTANT=N, RNIC_MUTANT_LIBRARY=PATH  -> Core::load -> register mutant_now <---+
//! ```
//!
//! The two environment variables are how a process and all that it starts use a mutant: whoever
//! loads a core gets the one of the library, with change N in force from the first cycle on and
//! none with N = 0. They are for `rnic mutants`, which makes the library; without them nothing
//! here is used, and the core is built from its text as it was emitted.
//!
//! | enters  | the core's Verilog with its changes, the environment |
//! | leaves  | a library, and the number of the change in force     |

use crate::error::SimError;
use crate::ports::{self, Port};
use crate::verilator::{build, Options, ROOMS};
use std::path::{Path, PathBuf};

/// The number of the change in force; 0 for none.
pub const NUMBER_VARIABLE: &str = "RNIC_MUTANT";
/// The library that has the changes.
pub const LIBRARY_VARIABLE: &str = "RNIC_MUTANT_LIBRARY";
/// The register with the number, as every module of the core can name it.
pub const REGISTER: &str = "bench.mutant_now";
/// Width of the frame path of a core with mutants, in bits.
pub const WIDTH: usize = 64;
/// The input of the outer module that sets the register.
pub const PORT: Port = ports::port("mutant", 16);

/// Build the library of a core whose Verilog reads [`REGISTER`], or find it built.
pub fn library(verilog: &str) -> Result<PathBuf, SimError> {
    let mut inputs = ports::inputs(WIDTH);
    inputs.push(PORT);
    build(&Options {
        verilog,
        inputs: &inputs,
        outputs: &ports::outputs(WIDTH),
        trace: false,
        silicon: false,
        gated: ROOMS,
    })
}

/// A change of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Its number; 0 for the core without any.
    pub number: u16,
    /// The library that has it.
    pub library: PathBuf,
}

impl Mutant {
    /// What the environment of this process asks for.
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
            let reason = format!("{number} is no number of a mutant; use 0 to 65535");
            refused(NUMBER_VARIABLE, reason)
        })?;
        let library = library.into();
        Ok(Some(Self { number, library }))
    }

    /// The library, if it serves a core of `width` without a waveform.
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
                "a core with mutants writes no waveform; unset it, or leave the waveform out"
                    .into(),
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

    /// Half of what is needed must not play the sound core in silence.
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
            let told = parse(number, library).expect_err("it is refused");
            assert!(told.starts_with("RNIC_MUTANT"), "{told}");
        }
    }

    /// Another width or a waveform would be of the sound core.
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
