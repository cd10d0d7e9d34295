//! How much a test does. Every test does enough to reach what it asserts; some do more with more
//! time. The variable `RNIC_EFFORT` decides for all of them at once.
//!
//! | `RNIC_EFFORT`    | set by           | [`count`] returns  | [`is_left_out`] returns |
//! |------------------|------------------|--------------------|-------------------------|
//! | `short`, not set | `make test`      | the smaller number | true                    |
//! | `long`           | `make test-long` | the larger number  | false                   |
//!
//! [`some_of`] is [`count`] for numbers in turn. What a short run shortens or leaves out is printed
//! where it is seen, as the test harness shows nothing that a passing test prints: `make test`
//! repeats these lines, `SHORTENED ...` and `LEFT OUT ...`, at its end.
//!
//! What cannot be done on a machine is `SKIPPED ...` there ([`skipped`], [`not_possible`]), and a
//! test that needs a process of its own gets one ([`is_alone`]).
//!
//! No dependencies, so that any crate's tests may use it.
#![deny(missing_docs)]

mod alone;

pub use alone::is_alone;

use std::fmt::Display;
use std::io::Write;
use std::iter::StepBy;
use std::ops::Range;
use std::panic::Location;

/// The variable that decides.
pub const VARIABLE: &str = "RNIC_EFFORT";

/// How much tests do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// What fits into `make test`.
    Short,
    /// Everything.
    Long,
}

impl Effort {
    /// The effort that [`VARIABLE`] names.
    ///
    /// # Panics
    /// If it is neither `short` nor `long`: a misspelt one must not pass for either.
    pub fn of_environment() -> Self {
        let value = std::env::var(VARIABLE).ok();
        Self::parse(value.as_deref()).unwrap_or_else(|reason| panic!("{reason}"))
    }

    fn parse(value: Option<&str>) -> Result<Self, String> {
        match value {
            None | Some("" | "short") => Ok(Self::Short),
            Some("long") => Ok(Self::Long),
            Some(other) => Err(format!("{VARIABLE}={other}: it is `short` or `long`")),
        }
    }
}

/// How many `what` a test does: `short` or `long` of them. Says so if it is not all.
#[track_caller]
pub fn count<N: Display + PartialOrd>(what: &str, short: N, long: N) -> N {
    assert!(short <= long, "{what}: {short} is more than {long}");
    match Effort::of_environment() {
        Effort::Long => long,
        Effort::Short if short == long => long,
        Effort::Short => {
            say(&format!("SHORTENED {}: {short} of {long} {what}", place()));
            short
        }
    }
}

/// The numbers of `all` that a test takes: all of them, in a short run one in `one_of`, from the
/// first on.
///
/// # Panics
/// If `one_of` is zero.
#[track_caller]
pub fn some_of(what: &str, all: Range<usize>, one_of: usize) -> StepBy<Range<usize>> {
    let taken = count(what, all.len().div_ceil(one_of), all.len());
    let step = if taken == all.len() { 1 } else { one_of };
    all.step_by(step)
}

/// A test that a short run does not do at all: says so and returns true, and the test ends.
#[track_caller]
pub fn is_left_out(what: &str) -> bool {
    let is_left_out = Effort::of_environment() == Effort::Short;
    if is_left_out {
        say(&format!("LEFT OUT {}: {what}", place()));
    }
    is_left_out
}

/// A test ends without a result, as the tool `missing` is not there: says so.
pub fn skipped(test: &str, missing: &str) {
    let reason = format!("{missing} is missing; `make tools` installs it as root");
    not_possible(test, &reason);
}

/// As [`skipped`], for what this machine does not allow.
pub fn not_possible(test: &str, reason: &str) {
    say(&format!("SKIPPED {test}: {reason}"));
}

/// The caller's file and line.
#[track_caller]
fn place() -> String {
    let place = Location::caller();
    format!("{}:{}", place.file(), place.line())
}

fn say(line: &str) {
    // Nothing is to be done about an error stream that is closed.
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are for the effort that this run has; the other one is `make test-long`'s.
    #[test]
    fn a_test_does_what_the_effort_says() {
        let expected = match Effort::of_environment() {
            Effort::Short => (3, true),
            Effort::Long => (12, false),
        };
        assert_eq!((count("turns", 3, 12), is_left_out("a turn")), expected);
        assert_eq!(count("turns", 5, 5), 5);
    }

    #[test]
    fn some_are_as_many_as_is_said() {
        for (all, one_of) in [(1..40, 3), (1..20, 2), (19..32, 2), (0..4, 4), (0..1, 9)] {
            let taken: Vec<usize> = some_of("turns", all.clone(), one_of).collect();
            let expected = count("turns", all.len().div_ceil(one_of), all.len());
            assert_eq!(taken.len(), expected, "{all:?}, one in {one_of}");
            assert_eq!(taken[0], all.start);
        }
    }

    #[test]
    #[should_panic(expected = "turns: 12 is more than 3")]
    fn a_short_run_does_not_do_more() {
        count("turns", 12, 3);
    }

    #[test]
    fn a_misspelt_effort_is_refused() {
        assert_eq!(Effort::parse(None), Ok(Effort::Short));
        assert_eq!(Effort::parse(Some("short")), Ok(Effort::Short));
        assert_eq!(Effort::parse(Some("long")), Ok(Effort::Long));
        let refused = Effort::parse(Some("lnog")).expect_err("it is misspelt");
        assert!(refused.contains("RNIC_EFFORT=lnog"), "{refused}");
    }
}
