//! What a check has found.

use crate::outcome::Failure;

/// What was so, or what was not.
pub(super) type Checked = Result<String, Failure>;

/// `Err` with what was not so.
pub(super) fn expect(holds: bool, what: impl Into<String>) -> Result<(), Failure> {
    match holds {
        true => Ok(()),
        false => Err(what.into().into()),
    }
}
