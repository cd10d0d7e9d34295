//! Names of hosts and ends.

/// A host of a [`Fabric`](super::Fabric).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostId(pub(super) usize);

/// An end of a connection of a [`Fabric`](super::Fabric).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EndId(pub(super) u32);

impl EndId {
    /// Index of the link, and of the side.
    pub(super) fn parts(self) -> (usize, usize) {
        ((self.0 >> 1) as usize, (self.0 & 1) as usize)
    }

    pub(super) fn peer(self) -> Self {
        Self(self.0 ^ 1)
    }
}
