//! Which way a frame went.

/// Which way a frame went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the wire, by the host ring.
    Received,
    /// To the wire.
    Sent,
}
