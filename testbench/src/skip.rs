//! Tests that cannot run for lack of a tool, and say so.
use std::io::Write;

/// A test ends without a result, as `missing` is not there: says so where it is seen, as the test
/// harness shows nothing that a passing test prints. `make test` repeats these lines at its end.
pub fn skipped(test: &str, missing: &str) {
    let reason = format!("{missing} is missing; `make tools` installs it as root");
    not_possible(test, &reason);
}

/// As [`skipped`], for what this machine does not allow.
pub fn not_possible(test: &str, reason: &str) {
    // Nothing is to be done about an error stream that is closed.
    let _ = std::io::stderr().write_all(format!("SKIPPED {test}: {reason}\n").as_bytes());
}
