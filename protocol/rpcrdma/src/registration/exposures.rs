//! Handles that are valid for one call.
use crate::place::Place;
use crate::verbs::{Rights, Verbs, VerbsError};
use crate::wire::Segment;

/// Draws before a collision is taken for a full table.
const DRAWS: usize = 8;

/// Handles of one call that the peer may still use.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Exposures {
    valid: Vec<u32>,
}

impl Exposures {
    /// No handle is valid: what the call lent is its own again.
    pub(crate) fn is_empty(&self) -> bool {
        self.valid.is_empty()
    }

    /// Expose one chunk. A collision is drawn again.
    pub(crate) fn expose(
        &mut self,
        verbs: &mut impl Verbs,
        place: Place,
        rights: Rights,
    ) -> Result<Segment, VerbsError> {
        let mut draws = 0;
        loop {
            match verbs.expose(place, rights) {
                Ok(segment) => {
                    self.valid.push(segment.handle);
                    return Ok(segment);
                }
                Err(VerbsError::Collision) if draws < DRAWS => draws += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// The peer has invalidated `handle`. False if it is not one of these.
    pub(crate) fn invalidated(&mut self, handle: u32) -> bool {
        let at = self.valid.iter().position(|&valid| valid == handle);
        at.map(|at| self.valid.swap_remove(at)).is_some()
    }

    /// Revoke what is left.
    pub(crate) fn revoke(&mut self, verbs: &mut impl Verbs) {
        for handle in self.valid.drain(..) {
            // One that is not valid any more was to be made so.
            let _ = verbs.revoke(handle);
        }
    }
}
