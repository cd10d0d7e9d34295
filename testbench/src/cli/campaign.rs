//! What campaigns have in common: where their lines go, and how one ends early.

use crate::cli::json::JsonSink;
use crate::cli::lines::Lines;
use crate::cli::outcome::Failure;
use rnic_output::stdout;
use serde::Serialize;

/// Where failures go, and where the head and the totals go.
pub(super) fn lines(json: &JsonSink) -> (Lines, Lines) {
    match json.is_stdout() {
        true => (Lines::Stderr, Lines::Nowhere),
        false => (Lines::Stdout, Lines::Stdout),
    }
}

/// Writes the report; that of a campaign that ended early replaces none, which is said.
pub(super) fn finish(
    mut json: JsonSink,
    report: &impl Serialize,
    early: bool,
) -> Result<(), Failure> {
    json.write(report)?;
    if !early {
        return json.finish();
    }
    let mut said = "rnic: the campaign ended early; these are the totals so far".to_owned();
    if let Some(file) = json.finish_early()? {
        said += &format!("; {file}");
    }
    stdout::complain(&said);
    Ok(())
}
