//! One offloaded connection: its receivers, and how it accepts a segment when the device was short
//! of memory.
//!
//! In: a segment with payload, the pages of its frame, and what the device had room for. Out: what
//! TCP accepts of it, and what was refused for lack of room and must be retransmitted.

use super::ddp::DdpReceiver;
use super::mpa::MpaReceiver;
use super::placement::Placement;
use super::reorder::OutOfOrderPool;
use super::tcp::{Acceptance, TcpReceiver, TcpSegment};
use rnic_driver::{ConnectionKey, QueueId};
use std::collections::BTreeMap;

/// Whether the device had room for a frame. That depends on the cycle, so it is an input of the
/// model; the model decides everything else itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Room {
    /// It had, or the model's own limits decide.
    Enough,
    /// No pages: the frame was dropped unread (`drop_no_page`).
    NoPage,
    /// The few pages left are not available to this segment (`drop_tcp_no_room`).
    Short,
    /// As `Short`, for a segment in order; if its FPDU misses 16,384 octets or more, the device
    /// also discards all octets of its connection beyond gaps (ADR 13).
    GivenUp,
    /// No free number for another range (`drop_tcp_no_range`). The model detects that itself.
    NoRange,
    /// Few pages are left, and this is the segment's result: it may have been accepted up to the
    /// end of the FPDU that its connection had begun, and no further (ADR 13).
    UpTo(Taken),
}

/// TCP's result for a segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// RCV.NXT after it.
    pub rcv_nxt: u32,
    /// `rnic_abi::events::SegmentVerdict`.
    pub verdict: u8,
    /// Octets that its connection then has beyond gaps.
    pub ooo_octets: u32,
    /// The connection has accepted a FIN; one after the cut is not accepted.
    pub fin_seen: bool,
}

/// Missing octets of an FPDU from which on octets beyond gaps may block it; for fewer the device
/// reserves pages (ADR 13).
pub const DISTANT_OCTETS: u32 = 16_384;

/// One offloaded connection.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) key: ConnectionKey,
    pub(super) completion_queue: QueueId,
    pub(super) tcp: TcpReceiver,
    pub(super) mpa: MpaReceiver,
    pub(super) ddp: DdpReceiver,
    /// Start of the FPDU that stopped the stream, if a marker in it or after it contradicts that
    /// start.
    pub(super) contradicted: Option<u32>,
    /// First octet of the FPDU that was delivered last.
    pub(super) delivered: Option<u32>,
    /// DDP's state when the receivers were last idle, with buffers posted since.
    pub(super) ddp_when_idle: DdpReceiver,
    /// What FPDUs beyond a gap may have placed, by the sequence number of their first octet.
    pub(super) out_of_order: BTreeMap<u32, Placement>,
}

impl Stream {
    /// Accept a segment with payload whose frame takes `pages` pages; also returns what was refused
    /// for lack of room.
    pub(super) fn accept(
        &mut self,
        segment: &TcpSegment,
        pages: u32,
        room: Room,
        pool: &mut OutOfOrderPool,
    ) -> (Acceptance, Room) {
        if let Room::UpTo(result) = room {
            if let Some(acceptance) = self.accept_in_part(segment, pages, result, pool) {
                return (acceptance, room);
            }
        }
        let acceptance = match room {
            Room::Short => self.tcp.refuse(),
            Room::GivenUp => {
                let missing = self.mpa.missing_octets().unwrap_or(0);
                if self.tcp.is_next(segment) && missing >= DISTANT_OCTETS {
                    self.tcp.out_of_order.clear(pool);
                }
                self.tcp.refuse()
            }
            _ => self.tcp.accept(segment, pages, pool),
        };
        let refused = match acceptance {
            Acceptance::NoRoom if room == Room::GivenUp => room,
            Acceptance::NoRange => Room::NoRange,
            Acceptance::NoRoom => Room::Short,
            _ => Room::Enough,
        };
        (acceptance, refused)
    }

    /// Accept a segment up to the end of the begun FPDU, if the device did: that is, if only this
    /// limit gives the device's `result`.
    fn accept_in_part(
        &mut self,
        segment: &TcpSegment,
        pages: u32,
        result: Taken,
        pool: &mut OutOfOrderPool,
    ) -> Option<Acceptance> {
        let window = self.tcp.window;
        let to_fpdu_end = self.mpa.missing_octets()?.min(window);
        let within = |window| {
            let (mut tcp, mut taken) = (self.tcp.clone(), pool.clone());
            tcp.window = window;
            let acceptance = tcp.accept(segment, pages, &mut taken);
            let made = Taken {
                rcv_nxt: tcp.rcv_nxt,
                verdict: acceptance.verdict() as u8,
                ooo_octets: tcp.out_of_order.octets() as u32,
                fin_seen: tcp.fin.is_some(),
            };
            (made, tcp, taken, acceptance)
        };
        let (as_whole, ..) = within(window);
        let (in_part, tcp, taken, acceptance) = within(to_fpdu_end);
        if as_whole == result || in_part != result {
            return None;
        }
        (self.tcp, *pool) = (tcp, taken);
        self.tcp.window = window;
        Some(acceptance)
    }
}
