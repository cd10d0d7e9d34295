//! One step of a fabric, as it may be chosen.
use super::id::EndId;

/// One step that can be taken, of the end whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Place the Write so many after the oldest request, ahead of its turn.
    Place(EndId, usize),
    /// Deliver the oldest request: a Send to the peer's next receive, a Write to memory, a Read to
    /// the peer.
    Deliver(EndId),
    /// Report the oldest delivered request complete.
    Acknowledge(EndId),
    /// Answer the oldest Read that the peer has received, and report it complete.
    Respond(EndId),
}

impl Choice {
    pub(super) fn end(self) -> EndId {
        match self {
            Self::Place(end, _)
            | Self::Deliver(end)
            | Self::Acknowledge(end)
            | Self::Respond(end) => end,
        }
    }
}
