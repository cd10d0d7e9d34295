//! What peers may do with an STag.

use rnic_abi::tables::{
    RIGHT_READ_SINK, RIGHT_REMOTE_INVALIDATE, RIGHT_REMOTE_READ, RIGHT_REMOTE_WRITE,
};
use std::ops::BitOr;

/// A set of rights of a region or window.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights(u32);

impl Rights {
    /// None: a region whose windows alone are open.
    pub const NONE: Self = Self(0);
    /// RDMA Writes may write it.
    pub const REMOTE_WRITE: Self = Self(RIGHT_REMOTE_WRITE);
    /// It may be the sink of RDMA Reads of this side.
    pub const READ_SINK: Self = Self(RIGHT_READ_SINK);
    /// It may be the source of RDMA Reads of a peer. The host answers them, and checks this.
    pub const REMOTE_READ: Self = Self(RIGHT_REMOTE_READ);
    /// A peer's Send with Invalidate may invalidate its STag.
    pub const REMOTE_INVALIDATE: Self = Self(RIGHT_REMOTE_INVALIDATE);

    const ALL: Self =
        Self(RIGHT_REMOTE_WRITE | RIGHT_READ_SINK | RIGHT_REMOTE_READ | RIGHT_REMOTE_INVALIDATE);

    /// The rights of `rnic_abi::tables::RIGHT_*`; `None` if `bits` has another one.
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match bits & !Self::ALL.0 {
            0 => Some(Self(bits)),
            _ => None,
        }
    }

    /// As `rnic_abi::tables::RIGHT_*`.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether all of `others` are among them.
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Whether the device writes with one of them.
    pub(crate) const fn let_the_device_write(self) -> bool {
        self.0 & (RIGHT_REMOTE_WRITE | RIGHT_READ_SINK) != 0
    }
}

impl BitOr for Rights {
    type Output = Self;

    fn bitor(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_abi::tables::RIGHT_STREAM_BOUND;

    #[test]
    fn rights_are_those_of_the_device() {
        let both = Rights::REMOTE_WRITE | Rights::REMOTE_INVALIDATE;
        assert_eq!(both.bits(), RIGHT_REMOTE_WRITE | RIGHT_REMOTE_INVALIDATE);
        assert!(both.contains(Rights::REMOTE_WRITE) && both.contains(Rights::NONE));
        assert!(!both.contains(Rights::REMOTE_WRITE | Rights::READ_SINK));
        assert_eq!(Rights::from_bits(both.bits()), Some(both));
        // Binding to a connection is no right that a caller sets.
        assert_eq!(Rights::from_bits(RIGHT_STREAM_BOUND), None);
        let reads_only = Rights::REMOTE_READ | Rights::REMOTE_INVALIDATE;
        assert!(!reads_only.let_the_device_write() && both.let_the_device_write());
        assert!(Rights::READ_SINK.let_the_device_write());
    }
}
