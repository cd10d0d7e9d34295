//! One offloaded connection: its receivers, and how a segment is judged where the device was short
//! of room.
//!
//! Enters: a segment with payload, the pages that its frame takes, and what the device had room
//! for. Leaves: what TCP accepts of it, and what there was no room for, so that it is sent again.

use super::ddp::DdpReceiver;
use super::mpa::MpaReceiver;
use super::placement::Placement;
use super::reorder::OutOfOrderPool;
use super::tcp::{Acceptance, TcpReceiver, TcpSegment};
use rnic_driver::ConnectionKey;
use std::collections::BTreeMap;

/// Whether the device had room for a frame. How much it has depends on the cycle, so the model is
/// told; all else it decides itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Room {
    /// It had, or the model's own bounds say so.
    Enough,
    /// No pages: the frame was dropped before anything of it was looked at (`drop_no_page`).
    NoPage,
    /// Few pages are left, and they are not for this segment (`drop_tcp_no_room`).
    Short,
    /// As `Short`, of a segment in order; and all that the device held of its connection beyond
    /// gaps is forgotten, if its FPDU misses 16,384 octets or more (ADR 13).
    GivenUp,
    /// No number for another range (`drop_tcp_no_range`). The model finds that itself.
    NoRange,
    /// Few pages are left, and this is what became of the segment: it may have been taken up to the
    /// end of the FPDU that its connection had begun, and no further (ADR 13).
    UpTo(Taken),
}

/// What TCP has made of a segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// RCV.NXT behind it.
    pub rcv_nxt: u32,
    /// `rnic_abi::events::SegmentVerdict`.
    pub verdict: u8,
    /// Octets that its connection then has beyond gaps.
    pub ooo_octets: u32,
    /// A FIN was within what the connection has taken: one behind a cut was not.
    pub fin_seen: bool,
}

/// Octets missing of an FPDU from which on what lies beyond gaps may be in its way: the last ones
/// are what the device keeps pages for (ADR 13).
pub const DISTANT_OCTETS: u32 = 16_384;

/// One offloaded connection.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) key: ConnectionKey,
    pub(super) tcp: TcpReceiver,
    pub(super) mpa: MpaReceiver,
    pub(super) ddp: DdpReceiver,
    /// Where the FPDU begins that stopped the stream, if a marker in it or behind it contradicts.
    pub(super) contradicted: Option<u32>,
    /// DDP's state when the receivers were last at rest, with what was posted since.
    pub(super) ddp_when_idle: DdpReceiver,
    /// What FPDUs beyond a gap may have placed, by the sequence number of their first octet.
    pub(super) out_of_order: BTreeMap<u32, Placement>,
}

impl Stream {
    /// Judge a segment with payload, whose frame takes `pages` pages; what there was no room for.
    pub(super) fn accept(
        &mut self,
        segment: &TcpSegment,
        pages: u32,
        room: Room,
        pool: &mut OutOfOrderPool,
    ) -> (Acceptance, Room) {
        if let Room::UpTo(told) = room {
            if let Some(acceptance) = self.accept_in_part(segment, pages, told, pool) {
                return (acceptance, room);
            }
        }
        let acceptance = match room {
            Room::Short => self.tcp.refuse(segment),
            Room::GivenUp => {
                let missing = self.mpa.missing_octets().unwrap_or(0);
                if self.tcp.is_next(segment) && missing >= DISTANT_OCTETS {
                    self.tcp.out_of_order.clear(pool);
                }
                self.tcp.refuse(segment)
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

    /// Accept a segment up to the end of the FPDU begun, if the device has done so: then what
    /// became of it is as told, and would not be without that limit.
    fn accept_in_part(
        &mut self,
        segment: &TcpSegment,
        pages: u32,
        told: Taken,
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
                fin_seen: tcp.fin_seen,
            };
            (made, tcp, taken, acceptance)
        };
        let (as_whole, ..) = within(window);
        let (in_part, tcp, taken, acceptance) = within(to_fpdu_end);
        if as_whole == told || in_part != told {
            return None;
        }
        (self.tcp, *pool) = (tcp, taken);
        self.tcp.window = window;
        Some(acceptance)
    }
}
