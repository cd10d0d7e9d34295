//! What the device numbers: connections, completion queues and transmit rings.

use rnic_abi::transmit_ring::RINGS;

/// The id of an offloaded connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u16);

/// The number of a completion queue: 0, the default, is there when the device is opened.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u8);

impl QueueId {
    /// What its memory is called.
    pub(crate) fn memory_name(self) -> String {
        match self.0 {
            0 => "completion queue".to_owned(),
            number => format!("completion queue {number}"),
        }
    }
}

/// A transmit ring. Each keeps the order of its frames.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum TransmitRing {
    /// Its frames go first: acknowledgements, Terminate, handshakes.
    Control,
    /// The other one.
    Bulk,
}

impl TransmitRing {
    /// Both, in the order of their numbers.
    pub const ALL: [Self; RINGS] = [Self::Control, Self::Bulk];

    /// Its number in the device.
    pub const fn number(self) -> u32 {
        match self {
            Self::Control => rnic_abi::transmit_ring::CONTROL,
            Self::Bulk => rnic_abi::transmit_ring::BULK,
        }
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Bulk => "bulk",
        }
    }
}
