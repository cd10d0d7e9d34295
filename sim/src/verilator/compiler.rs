//! Which C++ compiler builds the model: clang where it is installed, g++ otherwise.
//!
//! clang's code is a quarter smaller than g++'s, and a simulated cycle is one sweep through code
//! that does not fit the instruction cache: on the same machine the model of clang 14 runs 1.2
//! times as fast as that of g++ 12. Results are the same; `CXX` chooses another compiler.
//!
//! | enters | the variables `CXX` and `PATH` of the environment                 |
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

    /// What guides this compiler with a profile, if it is clang and the tool of its version is
    /// installed: the format of profiles changes between versions.
    pub fn profiler(&self) -> Option<Profiler> {
        // The older ones know this option only after a verb.
        self.choose_profiler(|command| output_of(command, &["merge", "--version"]))
    }

    fn choose_profiler(&self, output: impl Fn(&str) -> Option<String>) -> Option<Profiler> {
        let wanted = major(&self.version).filter(|_| self.version.contains("clang"))?;
        let known = [format!("llvm-profdata-{wanted}"), "llvm-profdata".into()];
        known.into_iter().find_map(|command| {
            let text = output(&command)?;
            let version = text.lines().find(|line| major(line) == Some(wanted))?;
            let version = version.trim().to_owned();
            Some(Profiler { command, version })
        })
    }

    /// What `verilated.mk` has to know of a precompiled header, which the packaged one leaves open.
    pub(super) fn make_variables(&self) -> &'static [&'static str] {
        match self.version.contains("clang") {
            true => &["CFG_CXXFLAGS_PCH_I=-include-pch", "CFG_GCH_IF_CLANG=.gch"],
            false => &["CFG_CXXFLAGS_PCH_I=-include"],
        }
    }
}

/// The tool that prepares profiles for one version of clang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiler {
    /// Its command.
    pub command: String,
    /// The line with its version.
    pub version: String,
}

/// The number before the first dot of `... version 14.0.6 ...`.
fn major(text: &str) -> Option<&str> {
    let number = text.split_once("version ")?.1;
    number.split(['.', ' ', '\n']).next()
}

fn output_of(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(text)
}

fn version_of(command: &str) -> Option<String> {
    let text = output_of(command, &["--version"])?;
    let line = text.lines().next()?.trim().to_owned();
    (!line.is_empty()).then_some(line)
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

    /// A profile of another version would be refused; g++ has no use for it.
    #[test]
    fn a_profile_takes_the_tool_of_the_compilers_version() {
        let profiler = |version: &str, tool: &'static str| {
            let compiler = Compiler {
                command: "c++".into(),
                version: version.into(),
            };
            let output = |name: &str| {
                let text = "LLVM (http://llvm.org/):\n  LLVM version 14.0.6\n";
                (name == tool).then(|| text.to_owned())
            };
            compiler
                .choose_profiler(output)
                .map(|profiler| profiler.command)
        };
        let clang = "Debian clang version 14.0.6";
        for tool in ["llvm-profdata", "llvm-profdata-14"] {
            assert_eq!(profiler(clang, tool).as_deref(), Some(tool));
        }
        assert_eq!(profiler(clang, "another"), None);
        assert_eq!(profiler("clang version 15.0.1", "llvm-profdata"), None);
        assert_eq!(profiler("g++ version 14.0.6", "llvm-profdata"), None);
    }
}
