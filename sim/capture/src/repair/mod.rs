//! What a sender's card was to do when the frames were captured: checksums to fill in, long frames
//! to cut. Captures of the sending host show them before the card has.
//!
//! In: the frames of a file, twice: [`Survey`] counts what each sender leaves to its card,
//! [`Repair`] does it. Out: frames as they were on the wire.
//!
//! | found | repaired |
//! |---|---|
//! | TCP or UDP checksum is the pseudo-header's sum | always: by chance once in 65,536 frames |
//! | TCP, UDP or IPv4 header checksum is 0 | if most frames with payload of its direction are so |
//! | frame longer than the device takes, with TCP | cut; its checksum says nothing of the pieces |
//! | IP header without a length | the length of the frame |
//!
//! A frame that has a good copy nearby is left as it is: the copy is what was on the wire. Of a
//! long frame the pieces are left out that good segments nearby hold. All other wrong checksums
//! stay wrong.

mod copies;
mod cut;
mod datagram;

use crate::finding::{grouped, hash, Finding, Frames};
use crate::segment::FLAGS_AT;
use copies::{Copies, Stretch};
use datagram::{Datagram, Sum};
use etherparse::{IpNumber, TcpOptionElement, TcpSlice};
use rnic_abi::limits::MAX_FRAME_OCTETS;
use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;

/// Frames within which a copy counts.
const NEARBY_FRAMES: usize = 4096;
/// Payload of a segment where the capture does not show what was agreed on: Ethernet's 1500 octets,
/// less headers with time stamps.
const SEGMENT_OCTETS: usize = 1448;
const TCP_HEADER_OCTETS: usize = 20;

/// Frames of one direction of a connection: those with payload count before those without.
#[derive(Debug, Default)]
struct Direction {
    /// With payload, and without.
    frames: [u32; 2],
    transports_zero: [u32; 2],
    headers_zero: [u32; 2],
}

impl Direction {
    /// Whether most have a checksum of 0, of which there are `zeros`.
    fn leaves(&self, zeros: [u32; 2]) -> bool {
        let kind = usize::from(self.frames[0] == 0);
        2 * zeros[kind] > self.frames[kind]
    }
}

/// A segment of which there may be copies.
#[derive(Debug, Default)]
struct Twins {
    /// The last frame that has one.
    last: usize,
    has_good: bool,
    /// Frames whose checksums are wrong.
    wrong: Vec<usize>,
}

/// What senders leave to their cards.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// By the hash of both ends: a capture may have millions.
    directions: HashMap<u64, Direction>,
    /// What the receiver of a direction takes in a segment, as its SYN says.
    segment_octets: HashMap<u64, u16>,
    recent: HashMap<u64, Twins>,
    /// Frames that have a good copy.
    copied: BTreeSet<usize>,
    of_long: Copies,
}

impl Survey {
    /// Note frame `number` of the file.
    pub(crate) fn note(&mut self, number: usize, frame: &[u8]) {
        let Some(datagram) = Datagram::locate(frame) else {
            return;
        };
        let transport = datagram.transport_sum(frame);
        let header = datagram.header_sum(frame);
        let direction = self.directions.entry(ends(frame, &datagram)).or_default();
        let kind = usize::from(!datagram.has_payload(frame));
        direction.frames[kind] += 1;
        direction.transports_zero[kind] += u32::from(transport == Sum::Zero);
        direction.headers_zero[kind] += u32::from(header == Sum::Zero);
        if datagram.protocol == IpNumber::TCP {
            self.note_segment(number, frame, &datagram, (transport, header));
        }
    }

    fn note_segment(
        &mut self,
        number: usize,
        frame: &[u8],
        datagram: &Datagram,
        (transport, header): (Sum, Sum),
    ) {
        let segment = &frame[datagram.transport..datagram.octets.end];
        let Ok(tcp) = TcpSlice::from_slice(segment) else {
            return;
        };
        let source = SocketAddr::new(datagram.source, tcp.source_port());
        let destination = SocketAddr::new(datagram.destination, tcp.destination_port());
        if tcp.syn() {
            let named = tcp.options_iterator().find_map(|option| match option {
                Ok(TcpOptionElement::MaximumSegmentSize(octets)) => Some(octets),
                _ => None,
            });
            if let Some(octets) = named {
                self.segment_octets
                    .insert(hash(&(destination, source)), octets);
            }
        }
        let numbers = (tcp.sequence_number(), tcp.acknowledgment_number());
        let rest = (tcp.payload().len(), tcp.header_slice()[FLAGS_AT]);
        let key = hash(&(source, destination, numbers, rest));
        let is_good = transport == Sum::Good && header == Sum::Good;
        self.note_copy(number, key, is_good);
        let stretch = Stretch {
            number,
            ends: ends(frame, datagram),
            sequence: tcp.sequence_number(),
            octets: tcp.payload().len() as u32,
        };
        match datagram.octets.end > MAX_FRAME_OCTETS {
            _ if is_good => self.of_long.note_good(stretch),
            true => self.of_long.note_long(stretch),
            false => {}
        }
    }

    fn note_copy(&mut self, number: usize, key: u64, is_good: bool) {
        let is_near = |last: usize| number - last <= NEARBY_FRAMES;
        if self.recent.len() > 4 * NEARBY_FRAMES {
            self.recent.retain(|_, copies| is_near(copies.last));
        }
        let copies = self.recent.entry(key).or_default();
        if !is_near(copies.last) {
            *copies = Twins::default();
        }
        copies.last = number;
        copies.has_good |= is_good;
        if !is_good {
            copies.wrong.push(number);
        }
        if copies.has_good {
            self.copied.extend(copies.wrong.drain(..));
        }
    }

    fn leaves_transports(&self, ends: u64) -> bool {
        let direction = self.directions.get(&ends);
        direction.is_some_and(|direction| direction.leaves(direction.transports_zero))
    }

    fn leaves_headers(&self, ends: u64) -> bool {
        let direction = self.directions.get(&ends);
        direction.is_some_and(|direction| direction.leaves(direction.headers_zero))
    }
}

/// The direction of a datagram.
fn ends(frame: &[u8], datagram: &Datagram) -> u64 {
    let [source, destination] = datagram.ports(frame);
    hash(&(
        SocketAddr::new(datagram.source, source),
        SocketAddr::new(datagram.destination, destination),
    ))
}

/// Repairs the frames of a file, and counts what it did.
#[derive(Debug)]
pub(crate) struct Repair {
    survey: Survey,
    transports: Frames,
    headers: Frames,
    cut: Frames,
    pieces: usize,
    /// Longer than the device takes, and nothing that a card would cut.
    too_long: Frames,
}

impl Repair {
    pub(crate) fn new(survey: Survey) -> Self {
        Self {
            survey,
            transports: Frames::default(),
            headers: Frames::default(),
            cut: Frames::default(),
            pieces: 0,
            too_long: Frames::default(),
        }
    }

    /// Forget what was done: another pass begins.
    pub(crate) fn reset(&mut self) {
        *self = Self::new(std::mem::take(&mut self.survey));
    }

    /// Frame `number` of the file as it was on the wire: itself, or its pieces.
    pub(crate) fn frames(&mut self, number: usize, mut frame: Vec<u8>) -> Vec<Vec<u8>> {
        let Some(datagram) = Datagram::locate(&frame) else {
            return self.unless_too_long(number, frame);
        };
        let is_long = datagram.octets.end > MAX_FRAME_OCTETS;
        if is_long && datagram.protocol == IpNumber::TCP {
            let size = self.segment_octets(&frame, &datagram);
            let is_elsewhere = |piece: &_| self.survey.of_long.have(number, piece);
            let pieces = cut::cut(&frame, &datagram, size, MAX_FRAME_OCTETS, is_elsewhere);
            if let Some(pieces) = pieces {
                self.cut.add(number);
                self.pieces += pieces.len();
                return pieces;
            }
        }
        if datagram.lacks_length {
            datagram.fill_length(&mut frame);
        }
        if self.survey.copied.contains(&number) {
            return self.unless_too_long(number, frame);
        }
        let header = datagram.header_sum(&frame);
        let leaves_headers = self.survey.leaves_headers(ends(&frame, &datagram));
        if datagram.lacks_length || header == Sum::Zero && leaves_headers {
            datagram.fill_header(&mut frame);
            self.headers.add(number);
        }
        let transport = datagram.transport_sum(&frame);
        let leaves_transports = self.survey.leaves_transports(ends(&frame, &datagram));
        if transport == Sum::PseudoHeader || transport == Sum::Zero && leaves_transports {
            datagram.fill_transport(&mut frame);
            self.transports.add(number);
        }
        self.unless_too_long(number, frame)
    }

    fn unless_too_long(&mut self, number: usize, frame: Vec<u8>) -> Vec<Vec<u8>> {
        if frame.len() <= MAX_FRAME_OCTETS {
            return vec![frame];
        }
        self.too_long.add(number);
        Vec::new()
    }

    /// Payload of a segment in this direction: what the receiver's SYN names, less options.
    fn segment_octets(&self, frame: &[u8], datagram: &Datagram) -> usize {
        let header_octets = 4 * usize::from(frame[datagram.transport + 12] >> 4);
        let options = header_octets.saturating_sub(TCP_HEADER_OCTETS);
        match self.survey.segment_octets.get(&ends(frame, datagram)) {
            Some(&named) => usize::from(named).saturating_sub(options).max(1),
            None => SEGMENT_OCTETS,
        }
    }

    /// What was done and what was left out, a line each.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut done = Vec::new();
        for (frames, what) in [
            (&self.transports, "TCP or UDP"),
            (&self.headers, "IP header"),
        ] {
            if frames.count > 0 {
                let frames = frames.count_of("frame");
                done.push(format!("{what} checksums of {frames} filled in"));
            }
        }
        if self.cut.count > 0 {
            let frames = self.cut.count_of("frame");
            let longest = grouped(MAX_FRAME_OCTETS as u64);
            let pieces = grouped(self.pieces as u64);
            done.push(format!(
                "{frames} longer than {longest} octets cut into {pieces}"
            ));
        }
        let mut findings = Vec::new();
        if !done.is_empty() {
            let text = format!(
                "{}: left to the network card by the sender (checksum and segmentation offload); \
                 to record what is on the wire, `ethtool -K IF tx off rx off tso off gso off gro \
                 off lro off` first; `--as-captured` plays the frames as they are",
                done.join(", ")
            );
            let mut frames = [&self.transports, &self.headers, &self.cut]
                .map(|frames| &frames.first[..])
                .concat();
            frames.sort_unstable();
            frames.dedup();
            let count = self.transports.count + self.headers.count + self.cut.count;
            findings.push(Finding::new("offload_repaired", count, &frames, text));
        }
        if self.too_long.count > 0 {
            let longest = grouped(MAX_FRAME_OCTETS as u64);
            let frames = self.too_long.count_of("frame");
            let text = format!("{frames} longer than {longest} octets, without TCP, left out");
            let (count, first) = (self.too_long.count, &self.too_long.first);
            findings.push(Finding::new("too_long", count, first, text));
        }
        findings
    }
}
