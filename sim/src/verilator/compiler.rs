//! Which C++ compiler builds the model: clang where it is installed, g++ otherwise.
//!
//! clang's code is a quarter smaller than g++'s, and a simulated cycle is one sweep through code
//! that does not fit the instruction cache: on the same machine the model of clang 14 runs 1.2
//! times as fast as that of g++ 12. Results are the same; `CXX` chooses another compiler.
//!
//! | enters | the variables `CXX` and `PATH` of the environment                |
//! | leaves | the compiler's command, its version, its flags for `verilated.mk` |

use crate::error::SimError;
use std::process::Command;

/// The compiler to use, whatever else is installed: a command such as `g++` or `clang++-18`.
pub const VARIABLE: &str = "CXX";
/// In the order of speed of what they build.
const KNOWN: [&str; 3] = ["clang++", "g++", "c++"];

/// A C++ compiler that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// Its command.
    pub command: String,
    /// The first line of what it prints for `--version`.
    pub version: String,
}

impl Compiler {
    /// The one that `CXX` names, or the first of the known ones that is installed.
    pub fn find() -> Result<Self, SimError> {
        let chosen = std::env::var(VARIABLE).ok();
        Self::choose(chosen.filter(|name| !name.is_empty()), version_of)
    }

    /// `version` gives the version of a command, if it is there.
    fn choose(
        chosen: Option<String>,
        version: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SimError> {
        let (named, candidates) = match chosen {
            Some(name) => (format!("{name}, which {VARIABLE} names,"), vec![name]),
            None => (KNOWN.join(", "), KNOWN.map(String::from).to_vec()),
        };
        let found = candidates.into_iter().find_map(|command| {
            let version = version(&command)?;
            Some(Self { command, version })
        });
        found.ok_or(SimError::CompilerMissing { named })
    }

    /// What `verilated.mk` has to know of a precompiled header, which the packaged one leaves open.
    pub(super) fn make_variables(&self) -> &'static [&'static str] {
        match self.version.contains("clang") {
            true => &["CFG_CXXFLAGS_PCH_I=-include-pch", "CFG_GCH_IF_CLANG=.gch"],
            false => &["CFG_CXXFLAGS_PCH_I=-include"],
        }
    }
}

fn version_of(command: &str) -> Option<String> {
    let output = Command::new(command).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(chosen: Option<&str>, installed: &[&str]) -> Result<String, String> {
        let version = |name: &str| installed.contains(&name).then(|| format!("{name} 1.0"));
        let compiler = Compiler::choose(chosen.map(Into::into), version);
        compiler
            .map(|compiler| compiler.version)
            .map_err(|error| error.to_string())
    }

    /// A machine with g++ alone builds with it; clang is preferred; `CXX` has the last word.
    #[test]
    fn clang_where_it_is_installed_and_else_what_there_is() {
        assert_eq!(choose(None, &["g++", "c++"]), Ok("g++ 1.0".into()));
        assert_eq!(
            choose(None, &["c++", "g++", "clang++"]),
            Ok("clang++ 1.0".into())
        );
        assert_eq!(
            choose(Some("g++"), &["clang++", "g++"]),
            Ok("g++ 1.0".into())
        );
    }

    /// Neither silence nor another compiler than the one asked for.
    #[test]
    fn a_missing_compiler_is_named() {
        let error = choose(Some("icpx"), &["g++"]).expect_err("it is not installed");
        assert!(error.contains("icpx, which CXX names,"), "{error}");
        let error = choose(None, &[]).expect_err("nothing is installed");
        assert!(error.contains("clang++, g++, c++"), "{error}");
    }

    /// The headers of one are useless to the other.
    #[test]
    fn each_compiler_gets_its_own_way_to_precompiled_headers() {
        let variables = |version: &str| {
            let compiler = Compiler {
                command: "c++".into(),
                version: version.into(),
            };
            compiler.make_variables()
        };
        assert_eq!(variables("Debian clang version 14.0.6").len(), 2);
        assert_eq!(variables("g++ (Debian 12.2.0) 12.2.0").len(), 1);
    }
}
