//! TCP: header, checksum, acceptance (RFC 9293 sections 3.1 and 3.10.7.4).

use crate::ip::{ones_complement_sum, TcpDatagram};
use crate::reorder::{ClosedRange, OutOfOrderPool, OutOfOrderRanges, Refusal};
use rnic_abi::events::SegmentVerdict;
use rnic_driver::{OutOfOrderRange, Reason, Reasons};
use std::net::{IpAddr, SocketAddr};

const FLAG_FIN: u8 = 0x01;
const FLAG_SYN: u8 = 0x02;
const FLAG_RST: u8 = 0x04;
const FLAG_URG: u8 = 0x20;
const PROTOCOL_TCP: u32 = 6;

/// A segment with sane header.
#[derive(Clone, Debug)]
pub struct TcpSegment<'a> {
    /// Source address and port.
    pub source: SocketAddr,
    /// Destination address and port.
    pub destination: SocketAddr,
    /// SEG.SEQ.
    pub sequence: u32,
    /// SEG.ACK.
    pub acknowledgement: u32,
    /// SEG.WND, unscaled.
    pub window: u16,
    /// Control bits.
    pub flags: u8,
    /// The checksum is right.
    pub checksum_good: bool,
    /// It has options other than timestamps where RFC 7323 appendix A has them.
    pub has_more_options: bool,
    /// Payload.
    pub payload: &'a [u8],
}

impl<'a> TcpSegment<'a> {
    /// Read a segment; `None` if the data offset is impossible.
    pub fn parse(datagram: &TcpDatagram<'a>) -> Option<Self> {
        let octets = datagram.segment;
        if octets.len() < 20 {
            return None;
        }
        let header = usize::from(octets[12] >> 4) * 4;
        if header < 20 || header > octets.len() {
            return None;
        }
        let word = |at: usize| u32::from_be_bytes(octets[at..at + 4].try_into().expect("four"));
        let half = |at: usize| u16::from_be_bytes([octets[at], octets[at + 1]]);
        let pseudo = pseudo_header_sum(datagram.source, datagram.destination, octets.len());
        Some(Self {
            source: SocketAddr::new(datagram.source, half(0)),
            destination: SocketAddr::new(datagram.destination, half(2)),
            sequence: word(4),
            acknowledgement: word(8),
            window: half(14),
            flags: octets[13],
            checksum_good: ones_complement_sum(octets, pseudo) == 0xffff,
            has_more_options: !matches!(
                octets[20..header],
                [] | [1, 1, 8, 10, _, _, _, _, _, _, _, _]
            ),
            payload: &octets[header..],
        })
    }

    /// Segments that only the host's stack can judge.
    pub fn is_control(&self) -> bool {
        let fin_alone = self.flags & FLAG_FIN != 0 && self.payload.is_empty();
        self.flags & (FLAG_SYN | FLAG_RST | FLAG_URG) != 0 || fin_alone
    }
}

fn pseudo_header_sum(source: IpAddr, destination: IpAddr, length: usize) -> u32 {
    let sum = |address| match address {
        IpAddr::V4(v4) => ones_complement_sum(&v4.octets(), 0),
        IpAddr::V6(v6) => ones_complement_sum(&v6.octets(), 0),
    };
    u32::from(sum(source)) + u32::from(sum(destination)) + PROTOCOL_TCP + length as u32
}

/// What becomes of a segment's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// It continues the stream.
    InOrder {
        /// The octets that are in order now: the new ones, and those received before that they
        /// were missing for.
        octets: Vec<u8>,
        /// Some of its octets were there already.
        trimmed: bool,
    },
    /// New, but something before it is missing; it is kept.
    OutOfOrder {
        /// Some of its octets were there already.
        trimmed: bool,
    },
    /// Nothing new.
    Duplicate,
    /// Beyond the receive window.
    OutsideWindow,
    /// New, but something before it is missing, and its pages are more than may be kept.
    NoRoom,
    /// New, but something before it is missing, and it would be one received range too many.
    NoRange,
}

impl Acceptance {
    /// As the device calls it.
    pub fn verdict(&self) -> SegmentVerdict {
        match self {
            Self::InOrder { trimmed: false, .. } => SegmentVerdict::InOrder,
            Self::InOrder { .. } => SegmentVerdict::Trimmed,
            Self::OutOfOrder { .. } => SegmentVerdict::OutOfOrder,
            Self::Duplicate => SegmentVerdict::Duplicate,
            Self::OutsideWindow => SegmentVerdict::OutsideWindow,
            Self::NoRoom => SegmentVerdict::NoRoom,
            Self::NoRange => SegmentVerdict::NoRange,
        }
    }
}

impl From<Refusal> for Acceptance {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoRoom => Self::NoRoom,
            Refusal::NoRange => Self::NoRange,
        }
    }
}

/// Receive state of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpReceiver {
    /// RCV.NXT.
    pub rcv_nxt: u32,
    /// RCV.WND.
    pub window: u32,
    /// SEG.ACK of the last acceptable segment.
    pub seg_ack: u32,
    /// SEG.WND of that segment.
    pub seg_wnd: u16,
    /// Sequence number of the first FIN that came with payload, all of which was accepted.
    pub fin: Option<u32>,
    /// What was received beyond a gap.
    pub out_of_order: OutOfOrderRanges,
    /// Octets received beyond a gap that came in order since the receivers were last idle.
    pub closed: ClosedRange,
    /// Segments for which a duplicate ACK is due at once (RFC 5681 section 3.2), modulo 256.
    pub duplicate_acks: u8,
    /// Duplicate ACKs received (RFC 5681 section 2), modulo 256.
    pub duplicate_acks_seen: u8,
    /// What must have been reported of the connection to a sender.
    pub reasons: Reasons,
    /// The highest SEG.ACK of the acceptable segments that are to be reported, with its SEG.WND.
    pub acknowledged: Option<(u32, u16)>,
    /// The range beyond a gap that changed last, which may be in order by now.
    pub changed: Option<OutOfOrderRange>,
    /// Segments that were cut off at the window's right edge.
    pub cut_at_window: u64,
}

impl TcpReceiver {
    /// State on entry to full operation.
    pub fn new(rcv_nxt: u32, window: u32) -> Self {
        Self {
            rcv_nxt,
            window,
            seg_ack: 0,
            seg_wnd: 0,
            fin: None,
            out_of_order: OutOfOrderRanges::default(),
            closed: ClosedRange::default(),
            duplicate_acks: 0,
            duplicate_acks_seen: 0,
            reasons: Reasons::default(),
            acknowledged: None,
            changed: None,
            cut_at_window: 0,
        }
    }

    /// Keep what the segment says of the other direction, if it is acceptable (RFC 9293 section
    /// 3.10.7.4): some of it lies in the window, or it begins at RCV.NXT. What comes from elsewhere
    /// in sequence space may be anybody's (RFC 5961 section 5). Returns whether it is.
    pub fn acknowledge(&mut self, segment: &TcpSegment) -> bool {
        let first = i64::from(segment.sequence.wrapping_sub(self.rcv_nxt) as i32);
        let (window, end) = (i64::from(self.window), first + segment.payload.len() as i64);
        let begins_inside = (0..window).contains(&first) || first == 0;
        let is_acceptable = begins_inside || (first < 0 && end > 0 && window > 0);
        if is_acceptable {
            self.seg_ack = segment.acknowledgement;
            self.seg_wnd = segment.window;
        }
        is_acceptable
    }

    /// Does the segment hold the octet at RCV.NXT?
    pub fn is_next(&self, segment: &TcpSegment) -> bool {
        let before = self.rcv_nxt.wrapping_sub(segment.sequence);
        self.window > 0 && (before as usize) < segment.payload.len()
    }

    /// Judge a segment with payload for which there are no pages, wherever it lies.
    pub fn refuse(&mut self) -> Acceptance {
        // An ACK at once, so that its peer need not wait for a timeout (ADR 13).
        self.duplicate_acks = self.duplicate_acks.wrapping_add(1);
        self.reasons.extend([Reason::NotAccepted]);
        Acceptance::NoRoom
    }

    /// Judge a segment with payload, whose frame takes `pages` pages of packet memory, and advance
    /// over what is accepted in order.
    pub fn accept(
        &mut self,
        segment: &TcpSegment,
        pages: u32,
        pool: &mut OutOfOrderPool,
    ) -> Acceptance {
        let before = self.before();
        let is_acceptable = self.acknowledge(segment);
        let acceptance = self.judge(segment, pages, pool);
        if acceptance == Acceptance::NoRoom {
            // As for every segment that memory is too short for (ADR 13).
            (self.seg_ack, self.seg_wnd) = before.acknowledged;
        } else if is_acceptable {
            self.join_acknowledgement();
        }
        // Beyond a gap (RFC 5681 section 3.2), or not acceptable (RFC 9293 section 3.10.7.4).
        let is_due = !matches!(acceptance, Acceptance::InOrder { .. });
        self.duplicate_acks = self.duplicate_acks.wrapping_add(u8::from(is_due));
        self.note(before, segment, &acceptance);
        acceptance
    }

    fn judge(&mut self, segment: &TcpSegment, pages: u32, pool: &mut OutOfOrderPool) -> Acceptance {
        // Sequence space is a circle: distances are signed 32-bit differences.
        let first = i64::from(segment.sequence.wrapping_sub(self.rcv_nxt) as i32);
        let (window, last) = (i64::from(self.window), first + segment.payload.len() as i64);
        if first >= window {
            return Acceptance::OutsideWindow;
        }
        if last <= 0 {
            return Acceptance::Duplicate;
        }
        if window == 0 {
            return Acceptance::OutsideWindow;
        }
        let wanted = first.max(0) as u64..last.min(window) as u64;
        let taken = &segment.payload[(wanted.start as i64 - first) as usize..]
            [..(wanted.end - wanted.start) as usize];
        let new_octets = self.out_of_order.new_octets(&wanted);
        if new_octets == 0 {
            return Acceptance::Duplicate;
        }
        let trimmed = first < 0 || new_octets < wanted.end - wanted.start;
        let is_out_of_order = first > 0;
        if is_out_of_order {
            if let Err(refusal) = self.out_of_order.admit(&wanted, pages, pool) {
                return refusal.into();
            }
        }
        self.cut_at_window += u64::from(last > window);
        if segment.flags & FLAG_FIN != 0 && last <= window {
            let end = segment.sequence.wrapping_add(segment.payload.len() as u32);
            self.fin.get_or_insert(end);
        }
        if is_out_of_order {
            self.out_of_order.insert(wanted.start, taken, pages, pool);
            return Acceptance::OutOfOrder { trimmed };
        }
        let octets = self
            .out_of_order
            .close_gap(self.rcv_nxt, taken, pool, &mut self.closed);
        self.rcv_nxt = self.rcv_nxt.wrapping_add(octets.len() as u32);
        Acceptance::InOrder { octets, trimmed }
    }
}
