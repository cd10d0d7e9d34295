//! What leaves: segments and frames of the interface, on the two rings of the device.
//!
//! ```text
//!  control ring: ACK, SYN, RST, ARP, NDP, echo      bulk ring: payload, FIN
//! ```
//!
//! Only segments that may overtake others of their connection use the control ring, which goes
//! first.

use super::records::{Body, Record};
use super::tap::Tap;
use crate::device::access::{Bar, Dma, DmaBuffer};
use crate::device::error::DriverError;
use crate::device::ids::TransmitRing;
use crate::device::rings::{InsertCrc, Piece, TransmitFrame};
use crate::stack::{Ends, Interface, LinkHeader, SegmentHeader, Unroutable};
use crate::verbs::frame_memory::FrameMemory;
use crate::verbs::frames::stage_held;
use crate::verbs::ledger::Ledger;
use rnic_iwarp::framer::{Crc, Fpdu, HEAD_OCTETS_MAX};
use rnic_tcp::{Head, Outgoing};
use rnic_wire::mpa::crc32c;

/// Octets of the longest headers, as they are copied: Ethernet, IP, TCP, those of an FPDU.
const HEADERS_OCTETS_MAX: usize = 128 + HEAD_OCTETS_MAX;
/// Frames of a ring that are announced together.
const BATCH: usize = 16;
/// Pieces of the frame with most: headers, a payload of four, PAD and CRC.
const PIECES_MAX: usize = 6;

/// Counts of what an endpoint has done, beyond those of its interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointCounts {
    /// Frames that were handed to the device.
    pub frames_sent: u64,
    /// Segments that were not sent, as their next hop was not known: TCP sends them again.
    pub no_hop: u64,
    /// Frames that the device refused or could not read.
    pub not_sent: u64,
    /// Segments of no connection that were answered with an RST.
    pub resets: u64,
    /// Segments whose header is malformed.
    pub malformed: u64,
    /// Segments of no connection that called for no answer, or found no room for one.
    pub unanswered: u64,
    /// Events and completions of connections that have ended.
    pub late: u64,
    /// Reports of a smaller MTU that name a segment which is not in flight.
    pub forged_reports: u64,
    /// Times that a Read Response, or the rest of one, began to wait until the peer acknowledges
    /// others, as `PairOptions::snapshot_octets` were copied.
    pub response_waits: u64,
    /// Calls of the device that failed.
    pub device_errors: u64,
}

/// The device and the interface, for the time of one turn.
pub(super) struct Wire<'a, B: Bar, D: Dma> {
    pub(super) ledger: &'a mut Ledger<B, D>,
    pub(super) interface: &'a mut Interface,
    pub(super) counts: &'a mut EndpointCounts,
    pub(super) tap: Option<&'a Tap>,
    /// Microseconds.
    pub(super) now: u64,
}

/// The octets of a segment with payload.
struct Payload<'a> {
    /// Before what stays in place.
    head: &'a [u8],
    memory: &'a [rnic_iwarp::framer::Piece],
    trailer: &'a [u8],
    /// The device puts a CRC into the last four octets.
    crc: bool,
}

impl<B: Bar, D: Dma> Wire<'_, B, D> {
    /// Room for a segment with payload of `octets` octets.
    pub(super) fn has_bulk_room(&self, octets: usize) -> bool {
        let copied = [HEADERS_OCTETS_MAX, octets];
        let device = self.ledger.view();
        device.has_transmit_room(TransmitRing::Bulk, PIECES_MAX, &copied)
    }

    /// Room for a frame of the interface, or a segment without payload.
    pub(super) fn has_control_room(&self) -> bool {
        let octets = usize::from(self.interface.settings().mtu_octets) + HEADERS_OCTETS_MAX;
        let device = self.ledger.view();
        device.has_transmit_room(TransmitRing::Control, 1, &[octets])
    }

    /// Send a segment; `record` has its payload.
    pub(super) fn send(
        &mut self,
        ends: &Ends,
        outgoing: &Outgoing,
        record: Option<&mut Record>,
    ) -> Result<(), Unroutable> {
        let link = self.interface.header(ends.peer.ip(), self.now)?;
        let Some(link) = link else {
            self.wait_for_hop(ends, outgoing);
            return Ok(());
        };
        let ring = match outgoing.is_control() {
            true => TransmitRing::Control,
            false => TransmitRing::Bulk,
        };
        let sent = match (outgoing.piece, record) {
            (Some(piece), Some(record)) => {
                let (from, octets) = (piece.offset_octets as usize, piece.octets as usize);
                self.send_record(ring, ends, &link, outgoing, record, (from, octets))
            }
            _ => self.send_bare(ring, ends, &link, &outgoing.head),
        };
        match sent {
            Ok(()) => self.counts.frames_sent += 1,
            Err(_) => self.counts.device_errors += 1,
        }
        Ok(())
    }

    /// A segment without payload waits at the interface until its next hop is known. One with
    /// payload is sent again by TCP.
    fn wait_for_hop(&mut self, ends: &Ends, outgoing: &Outgoing) {
        let packet = match outgoing.piece {
            None => SegmentHeader::packet(ends, &outgoing.head),
            Some(_) => None,
        };
        let sent = packet.map(|packet| self.interface.send(packet, ends.peer.ip(), self.now));
        self.counts.no_hop += u64::from(!matches!(sent, Some(Ok(()))));
    }

    fn send_bare(
        &mut self,
        ring: TransmitRing,
        ends: &Ends,
        link: &LinkHeader,
        head: &Head,
    ) -> Result<(), DriverError> {
        let payload = Payload {
            head: &[],
            memory: &[],
            trailer: &[],
            crc: false,
        };
        self.send_payload(ring, ends, link, head, &payload)
    }

    fn send_record(
        &mut self,
        ring: TransmitRing,
        ends: &Ends,
        link: &LinkHeader,
        outgoing: &Outgoing,
        record: &mut Record,
        (from, octets): (usize, usize),
    ) -> Result<(), DriverError> {
        if let Body::InPlace(fpdu) = &record.body {
            if (from, octets) != (0, fpdu.octets()) {
                // TCP has cut it: its CRC is not in the segment that has the first octets.
                record.body = Body::Copied(self.copied(fpdu));
            }
        }
        let payload = match &record.body {
            Body::InPlace(fpdu) => Payload {
                head: fpdu.head.as_slice(),
                memory: fpdu.payload.as_slice(),
                trailer: fpdu.trailer.as_slice(),
                crc: fpdu.crc == Crc::Device,
            },
            Body::Copied(all) => Payload {
                head: &[],
                memory: &[],
                trailer: all.get(from..from + octets).unwrap_or_default(),
                crc: false,
            },
        };
        self.send_payload(ring, ends, link, &outgoing.head, &payload)
    }

    /// An FPDU as it is in the stream.
    fn copied(&self, fpdu: &Fpdu) -> Vec<u8> {
        let memory = self.ledger.view().memory();
        let mut octets = fpdu.head.as_slice().to_vec();
        for piece in fpdu.payload.as_slice() {
            let at = octets.len();
            octets.resize(at + piece.octets as usize, 0);
            memory.read(piece.offset, &mut octets[at..]);
        }
        let trailer = fpdu.trailer.as_slice();
        match fpdu.crc {
            Crc::Done => octets.extend_from_slice(trailer),
            Crc::Device => {
                let pad = trailer.len() - crc32c::CRC_OCTETS;
                octets.extend_from_slice(&trailer[..pad]);
                let crc = crc32c::field(&octets);
                octets.extend_from_slice(&crc);
            }
        }
        octets
    }

    fn send_payload(
        &mut self,
        ring: TransmitRing,
        ends: &Ends,
        link: &LinkHeader,
        head: &Head,
        payload: &Payload<'_>,
    ) -> Result<(), DriverError> {
        let memory_octets: usize = payload
            .memory
            .iter()
            .map(|piece| piece.octets as usize)
            .sum();
        let octets = payload.head.len() + memory_octets + payload.trailer.len();
        // Ends of two families have no connection, and TCP sends no segment that is too long.
        let Some(header) = SegmentHeader::new(link, ends, head, octets) else {
            return Ok(());
        };
        let mut front = [0; HEADERS_OCTETS_MAX];
        let header_octets = header.octets().len();
        let front_octets = header_octets + payload.head.len();
        front[..header_octets].copy_from_slice(header.octets());
        front[header_octets..front_octets].copy_from_slice(payload.head);
        let mut pieces = [Piece::Octets(&front[..front_octets]); PIECES_MAX];
        let mut count = 1;
        let mut held = FrameMemory::default();
        for piece in payload.memory {
            pieces[count] = Piece::Memory(DmaBuffer {
                address: piece.offset,
                octets: piece.octets as usize,
            });
            count += 1;
            held.add(piece.region.into());
        }
        if !payload.trailer.is_empty() {
            pieces[count] = Piece::Octets(payload.trailer);
            count += 1;
        }
        let crc = payload.crc.then(|| InsertCrc {
            first: header_octets,
            octets: octets - crc32c::CRC_OCTETS,
        });
        let frame = TransmitFrame {
            pieces: &pieces[..count],
            checksum: Some(header.checksum()),
            crc,
            cookie: 0,
        };
        self.stage(ring, &frame, held)
    }

    /// Send what the interface has to say.
    pub(super) fn send_frames(&mut self) {
        while self.has_control_room() {
            let Some(octets) = self.interface.poll(self.now) else {
                return;
            };
            let frame = TransmitFrame {
                pieces: &[Piece::Octets(&octets)],
                checksum: None,
                crc: None,
                cookie: 0,
            };
            match self.stage(TransmitRing::Control, &frame, FrameMemory::default()) {
                Ok(()) => self.counts.frames_sent += 1,
                Err(_) => self.counts.device_errors += 1,
            }
        }
    }

    /// Put a frame on a ring; the device learns of several together.
    fn stage(
        &mut self,
        ring: TransmitRing,
        frame: &TransmitFrame<'_>,
        held: FrameMemory,
    ) -> Result<(), DriverError> {
        stage_held(self.ledger, ring, frame, held)?;
        if let Some(tap) = self.tap {
            tap.show_sent(frame, self.ledger.view().memory());
        }
        match self.ledger.view().staged_frames(ring) {
            BATCH.. => self.ledger.device().announce_frames(ring),
            _ => Ok(()),
        }
    }

    /// Tell the device of the frames that are left on the rings.
    pub(super) fn announce(&mut self) {
        for ring in TransmitRing::ALL {
            let is_gone = self.ledger.device().announce_frames(ring).is_err();
            self.counts.device_errors += u64::from(is_gone);
        }
    }
}
