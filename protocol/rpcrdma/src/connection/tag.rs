//! What a completion is of, in the 64 bits that come back with it.

/// Which state machine of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Requester,
    Responder,
}

/// The tag of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// A receive: index of its buffer.
    Receive(u32),
    /// A Send: who waits for it, the slot of its call, index of its buffer.
    Send(Half, u32, u32),
    /// A Write of the responder's: the slot of its call.
    Write(u32),
    /// A Read: who waits for it, the slot of its call.
    Read(Half, u32),
}

/// The slot of a Send that belongs to no call.
pub(crate) const NO_SLOT: u32 = (1 << 24) - 1;

const SLOT_BITS: u32 = 24;

impl Tag {
    /// `kind:3 | half:1 | slot:24 | buffer:24`, slots and buffers below 2^24.
    pub(crate) fn pack(self) -> u64 {
        let pack = |kind: u64, half: Half, slot: u32, buffer: u32| {
            let half = u64::from(half == Half::Responder);
            (kind << 1 | half) << (2 * SLOT_BITS) | u64::from(slot) << SLOT_BITS | u64::from(buffer)
        };
        match self {
            Self::Receive(buffer) => pack(0, Half::Requester, 0, buffer),
            Self::Send(half, slot, buffer) => pack(1, half, slot, buffer),
            Self::Write(slot) => pack(2, Half::Responder, slot, 0),
            Self::Read(half, slot) => pack(3, half, slot, 0),
        }
    }

    pub(crate) fn unpack(tag: u64) -> Self {
        let field = |from: u32| (tag >> from) as u32 & NO_SLOT;
        let (slot, buffer, top) = (field(SLOT_BITS), field(0), tag >> (2 * SLOT_BITS));
        let half = match top & 1 {
            0 => Half::Requester,
            _ => Half::Responder,
        };
        match top >> 1 {
            0 => Self::Receive(buffer),
            1 => Self::Send(half, slot, buffer),
            2 => Self::Write(slot),
            _ => Self::Read(half, slot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_come_back_as_they_were() {
        for tag in [
            Tag::Receive(0),
            Tag::Receive(NO_SLOT),
            Tag::Send(Half::Requester, 1, 2),
            Tag::Send(Half::Responder, NO_SLOT, NO_SLOT),
            Tag::Write(77),
            Tag::Read(Half::Requester, NO_SLOT),
            Tag::Read(Half::Responder, 0),
        ] {
            assert_eq!(Tag::unpack(tag.pack()), tag);
        }
    }
}
