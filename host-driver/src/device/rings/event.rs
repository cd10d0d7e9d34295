//! An event: what a TCP sender in software needs to know of received segments.

use crate::device::ids::ConnectionId;
use crate::device::tables::OutOfOrderRange;
use rnic_abi::event_ring as abi;

/// An entry of the event ring, as words.
pub(crate) type Entry = [u32; abi::EVENT_OCTETS / 4];

/// Why an event was raised; several may be joined in one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Reason {
    /// Octets were accepted in order.
    InOrder = abi::IN_ORDER,
    /// Octets were accepted beyond a gap: a duplicate ACK is due (RFC 5681 section 3.2).
    OutOfOrder = abi::OUT_OF_ORDER,
    /// Nothing of a segment was accepted, or one without payload was not acceptable: an ACK is due
    /// (RFC 9293 section 3.10.7.4).
    NotAccepted = abi::NOT_ACCEPTED,
    /// Octets were accepted in order while there were ranges: an ACK is due (RFC 5681 section 4.2).
    GapFilled = abi::GAP_FILLED,
    /// A segment with PSH was accepted, at least in part.
    Push = abi::PUSH,
    /// SEG.ACK or SEG.WND changed.
    Ack = abi::ACK,
    /// A duplicate ACK was received: SEG.ACK and SEG.WND came again, without payload.
    AckRepeated = abi::ACK_REPEATED,
    /// A FIN with payload was accepted, and all of that payload.
    Fin = abi::FIN,
    /// The connection's first FPDU passed all checks: from now on a responder may send FPDUs.
    FirstFpdu = abi::FIRST_FPDU,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; abi::REASONS] = [
        Self::InOrder,
        Self::OutOfOrder,
        Self::NotAccepted,
        Self::GapFilled,
        Self::Push,
        Self::Ack,
        Self::AckRepeated,
        Self::Fin,
        Self::FirstFpdu,
    ];
}

/// A set of reasons.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons(u32);

impl Reasons {
    /// Is it among them?
    pub fn contains(self, reason: Reason) -> bool {
        self.0 & reason as u32 != 0
    }

    /// Each of them once.
    pub fn iter(self) -> impl Iterator<Item = Reason> {
        let all = Reason::ALL.into_iter();
        all.filter(move |&reason| self.contains(reason))
    }
}

impl FromIterator<Reason> for Reasons {
    fn from_iter<T: IntoIterator<Item = Reason>>(reasons: T) -> Self {
        let bits = reasons.into_iter().map(|reason| reason as u32);
        Self(bits.fold(0, |all, bit| all | bit))
    }
}

impl Extend<Reason> for Reasons {
    fn extend<T: IntoIterator<Item = Reason>>(&mut self, reasons: T) {
        self.0 |= reasons.into_iter().collect::<Self>().0;
    }
}

/// What has happened to a connection since its last event, and how it is since. The numbers are at
/// least as new as every segment among the reasons.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The connection.
    pub connection: ConnectionId,
    /// What has happened.
    pub reasons: Reasons,
    /// RCV.NXT: acknowledge up to here.
    pub rcv_nxt: u32,
    /// The highest SEG.ACK of the acceptable segments since the connection's last event, by the
    /// sign of the difference; without such a segment that of the last one. It may acknowledge what
    /// was never sent: the sender knows.
    pub seg_ack: u32,
    /// SEG.WND of the same segment, unscaled.
    pub seg_wnd: u16,
    /// Sequence number of the first FIN that came with payload; it takes effect once RCV.NXT is
    /// there. A FIN without payload is a frame of the host.
    pub fin: Option<u32>,
    /// Segments so far that call for an immediate duplicate ACK, modulo 256.
    pub duplicate_acks_due: u8,
    /// Duplicate ACKs received so far, modulo 256.
    pub duplicate_acks_seen: u8,
    /// Out-of-order ranges, at most 16.
    pub ranges: u8,
    /// The range that changed last, for the first SACK block (RFC 2018 section 4), unless it is in
    /// order by now.
    pub changed: Option<OutOfOrderRange>,
}

impl Event {
    /// DDP-029: have octets been received after `fin`, the sequence number of the peer's FIN, with
    /// payload ([`Event::fin`]) or without? Then the stream is to be aborted (RFC 5041 section
    /// 6.2.1): the device has taken them as others. Octets beyond a gap are seen while theirs is
    /// the range that changed last, and all others when the gap closes.
    pub fn reaches_beyond(&self, fin: u32) -> bool {
        let ends = [Some(self.rcv_nxt), self.changed.map(|range| range.right)];
        ends.into_iter()
            .flatten()
            .any(|end| end.wrapping_sub(fin) as i32 > 0)
    }

    /// Read an entry of the ring.
    pub(crate) fn decode(words: &Entry) -> Self {
        let changed = OutOfOrderRange {
            left: words[4],
            right: words[5],
        };
        Self {
            connection: ConnectionId((words[0] >> 16) as u16),
            reasons: Reasons(words[0] & ((1 << abi::REASONS) - 1)),
            rcv_nxt: words[1],
            seg_ack: words[2],
            seg_wnd: words[3] as u16,
            fin: (words[0] & abi::FIN_SEEN != 0).then_some(words[6]),
            duplicate_acks_due: (words[3] >> 16) as u8,
            duplicate_acks_seen: (words[3] >> 24) as u8,
            ranges: (words[0] >> abi::RANGES_SHIFT & 0x1f) as u8,
            changed: (words[0] & abi::HAS_RANGE != 0).then_some(changed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_is_where_the_contract_says() {
        let reasons = abi::ACK | abi::FIRST_FPDU;
        let head = 0x0123 << 16 | 16 << abi::RANGES_SHIFT | abi::HAS_RANGE | reasons;
        let words = [
            head,
            0x1111_1111,
            0x2222_2222,
            0x0403_8001,
            0x44,
            0x55,
            0x66,
            0,
        ];
        let event = Event::decode(&words);
        let expected = Event {
            connection: ConnectionId(0x123),
            reasons: [Reason::Ack, Reason::FirstFpdu].into_iter().collect(),
            rcv_nxt: 0x1111_1111,
            seg_ack: 0x2222_2222,
            seg_wnd: 0x8001,
            fin: None,
            duplicate_acks_due: 3,
            duplicate_acks_seen: 4,
            ranges: 16,
            changed: Some(OutOfOrderRange {
                left: 0x44,
                right: 0x55,
            }),
        };
        assert_eq!(event, expected);
        let words = [abi::FIN_SEEN | abi::FIN, 0, 0, 0, 0x44, 0x55, 0x66, 0];
        let event = Event::decode(&words);
        assert_eq!((event.fin, event.changed), (Some(0x66), None));
        assert!(event.reasons.iter().eq([Reason::Fin]));
    }

    /// DDP-029: in order or beyond a gap, by one octet, across the wrap.
    #[test]
    fn octets_after_a_fin_are_seen() {
        let event = |rcv_nxt, range: Option<(u32, u32)>| Event {
            rcv_nxt,
            changed: range.map(|(left, right)| OutOfOrderRange { left, right }),
            ..Event::decode(&[0; 8])
        };
        for fin in [5_u32, 0, u32::MAX, 1 << 31] {
            let beyond = fin.wrapping_add(1);
            let before = fin.wrapping_sub(9);
            assert!(!event(fin, None).reaches_beyond(fin));
            assert!(event(beyond, None).reaches_beyond(fin));
            assert!(!event(before, Some((before, fin))).reaches_beyond(fin));
            assert!(event(before, Some((fin, beyond))).reaches_beyond(fin));
        }
    }

    #[test]
    fn every_reason_has_a_bit_of_its_own() {
        let all: Reasons = Reason::ALL.into_iter().collect();
        assert_eq!(all.0, (1 << abi::REASONS) - 1);
        assert!(all.iter().eq(Reason::ALL));
        assert_eq!(Reasons::default().iter().count(), 0);
    }
}
