//! TCP connections of a capture: which frames are of which, how each began, and the head of what
//! each end sent.
//!
//! In: frames in order. Out: connections with their frames; of the octets only those that may be a
//! start-up frame are kept, since a capture may be larger than memory.
//!
//! A SYN on the ends of a known connection opens another one only if it is answered: a SYN-ACK
//! acknowledges it (RFC 5961 section 4), or the known one had ended before. A SYN-ACK that comes
//! again with another sequence number, before either end has sent payload, sets the start anew.

use crate::bad_checksums::{key, BadChecksums};
use crate::reassembly::Reassembly;
use crate::segment::{Segment, FLAG_ACK, FLAG_FIN, FLAG_RST, FLAG_SYN};
use crate::startup::{StartupFrame, STARTUP_OCTETS_MAX};
use std::collections::HashMap;
use std::net::SocketAddr;

/// One TCP connection.
#[derive(Debug)]
pub(crate) struct Tracked {
    pub(crate) ends: [SocketAddr; 2],
    /// What each end sent, up to the end of its start-up frame.
    pub(crate) heads: [Reassembly; 2],
    /// Its first and its last frame, and how many there are.
    pub(crate) span: Span,
    /// Its frames, in order, if they are kept.
    pub(crate) frames: Vec<usize>,
    pub(crate) sides: [Side; 2],
    /// A SYN that would open another connection if it is answered.
    pending: Option<Box<Pending>>,
    was_reset: bool,
}

/// The frames of a connection.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Span {
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) count: usize,
}

/// What one end has sent.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Side {
    /// Segments, with payload or without.
    pub(crate) segments: usize,
    pub(crate) has_syn: bool,
    pub(crate) has_fin: bool,
    /// The sequence number after its last octet, as its FIN says.
    pub(crate) end: Option<u32>,
    /// The furthest octet of the other end that it has acknowledged.
    pub(crate) acknowledged: Option<u32>,
    /// Sequence numbers of its payload: the first, and the one after the last.
    pub(crate) sequence: Option<(u32, u32)>,
}

#[derive(Debug)]
struct Pending {
    side: usize,
    sequence: u32,
    octets: u32,
    frame: usize,
    payload: Vec<u8>,
}

/// The connections of the frames so far.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    pub(crate) connections: Vec<Tracked>,
    /// The last connection of each pair of ends, by their hash: a capture may have millions.
    current: HashMap<u64, u32>,
    /// Segments whose checksum is wrong.
    pub(crate) bad_checksums: BadChecksums,
    keeps_frames: bool,
}

impl Tracker {
    /// One that keeps the frames of each connection; otherwise where they begin and end.
    pub(crate) fn with_frames() -> Self {
        Self {
            keeps_frames: true,
            ..Self::default()
        }
    }

    /// The segment of the frame at `index`, which is `number` in its file.
    pub(crate) fn segment(&mut self, index: usize, number: usize, segment: &Segment) {
        let ends = [segment.source, segment.destination];
        let key = key(ends);
        if !segment.checksum_good {
            self.bad_checksums.add(key, number);
            return;
        }
        let known = self.current.get(&key).map(|&known| known as usize);
        let is_of = |&known: &usize| self.connections[known].ends.contains(&ends[0]);
        let Some(known) = known.filter(is_of) else {
            self.open(key, ends, index, segment);
            return;
        };
        let keeps_frames = self.keeps_frames;
        let connection = &mut self.connections[known];
        if connection.opens_another(segment) {
            if connection.has_ended() {
                self.open(key, ends, index, segment);
                return;
            }
            connection.pending = Some(Box::new(Pending {
                side: connection.side(segment.source),
                sequence: segment.sequence,
                octets: segment.payload.len() as u32,
                frame: index,
                payload: segment.payload.to_vec(),
            }));
            return;
        }
        match connection.confirmed(segment) {
            Some(pending) => {
                let ends = connection.ends;
                self.open_confirmed(key, ends, &pending);
                let new = self.connections.last_mut().expect("one was opened");
                new.take(index, segment, keeps_frames);
            }
            None => connection.take(index, segment, keeps_frames),
        }
    }

    fn open(&mut self, key: u64, ends: [SocketAddr; 2], index: usize, segment: &Segment) {
        let mut connection = Tracked::new(ends);
        connection.take(index, segment, self.keeps_frames);
        self.current.insert(key, self.connections.len() as u32);
        self.connections.push(connection);
    }

    fn open_confirmed(&mut self, key: u64, ends: [SocketAddr; 2], syn: &Pending) {
        let mut connection = Tracked::new(ends);
        let first = syn.sequence.wrapping_add(1);
        connection.note_frame(syn.frame, self.keeps_frames);
        connection.heads[syn.side].begin(first);
        connection.heads[syn.side].push(first, &syn.payload, syn.frame);
        connection.sides[syn.side].segments = 1;
        connection.sides[syn.side].has_syn = true;
        connection.sides[syn.side].extend(first, syn.octets);
        self.current.insert(key, self.connections.len() as u32);
        self.connections.push(connection);
    }
}

impl Tracked {
    fn new(ends: [SocketAddr; 2]) -> Self {
        Self {
            ends,
            heads: [(); 2].map(|()| Reassembly::limited(STARTUP_OCTETS_MAX + 1)),
            span: Span::default(),
            frames: Vec::new(),
            sides: Default::default(),
            pending: None,
            was_reset: false,
        }
    }

    /// Which end `source` is.
    pub(crate) fn side(&self, source: SocketAddr) -> usize {
        usize::from(self.ends[0] != source)
    }

    /// Whether neither end has sent payload.
    fn is_silent(&self) -> bool {
        self.sides.iter().all(|side| side.sequence.is_none())
    }

    /// Whether it was reset, or both ends have said that they are done.
    fn has_ended(&self) -> bool {
        self.was_reset || self.sides.iter().all(|side| side.has_fin)
    }

    /// A SYN without ACK whose sequence number is not the one this connection began with, or that
    /// comes after its end.
    fn opens_another(&self, segment: &Segment) -> bool {
        let is_syn = segment.flags & (FLAG_SYN | FLAG_ACK) == FLAG_SYN;
        let side = self.side(segment.source);
        let first = segment.sequence.wrapping_add(1);
        let differs = self.heads[side].offset(first) != Some(0);
        let is_known = self.sides[side].segments > 0 || self.has_ended();
        is_syn && is_known && (differs || self.has_ended())
    }

    /// The SYN that `segment` acknowledges, if it is a SYN-ACK for the one that waits.
    fn confirmed(&mut self, segment: &Segment) -> Option<Box<Pending>> {
        let pending = self.pending.as_ref()?;
        let both = FLAG_SYN | FLAG_ACK;
        let is_answer = segment.flags & both == both && self.side(segment.source) != pending.side;
        let beyond = segment
            .acknowledgment
            .wrapping_sub(pending.sequence.wrapping_add(1));
        if !is_answer || beyond > pending.octets {
            return None;
        }
        self.pending.take()
    }

    fn note_frame(&mut self, index: usize, is_kept: bool) {
        let first = if self.span.count == 0 {
            index
        } else {
            self.span.first
        };
        self.span = Span {
            first,
            last: index,
            count: self.span.count + 1,
        };
        if is_kept {
            self.frames.push(index);
        }
    }

    fn take(&mut self, index: usize, segment: &Segment, is_kept: bool) {
        self.note_frame(index, is_kept);
        let number = self.side(segment.source);
        let is_silent = self.is_silent();
        let side = &mut self.sides[number];
        side.segments += 1;
        side.has_syn |= segment.flags & FLAG_SYN != 0;
        if segment.flags & FLAG_FIN != 0 {
            side.has_fin = true;
            let octets = segment.payload.len() as u32;
            side.end = Some(payload_sequence(segment).wrapping_add(octets));
        }
        if segment.flags & (FLAG_ACK | FLAG_SYN) == FLAG_ACK {
            let known = side.acknowledged.unwrap_or(segment.acknowledgment);
            let is_further = segment.acknowledgment.wrapping_sub(known) as i32 >= 0;
            side.acknowledged = Some(if is_further {
                segment.acknowledgment
            } else {
                known
            });
        }
        self.was_reset |= segment.flags & FLAG_RST != 0;
        let head = &mut self.heads[number];
        push(head, segment, index, is_silent);
        if segment.flags & FLAG_SYN != 0 && head.octets().is_empty() {
            side.sequence = None;
        }
        if !segment.payload.is_empty() {
            side.extend(payload_sequence(segment), segment.payload.len() as u32);
        }
        if let Some(wanted) = StartupFrame::head_octets(head.octets()) {
            head.limit(wanted);
        }
    }

    /// All that each end sent, from its frames; `segment_of` gives them again. Of an end whose
    /// first sequence number is `named`, all from there on.
    pub(crate) fn streams<'a>(
        &self,
        named: [Option<u32>; 2],
        segment_of: impl Fn(usize) -> Option<Segment<'a>>,
    ) -> [Reassembly; 2] {
        let mut streams: [Reassembly; 2] = Default::default();
        for (stream, first) in streams.iter_mut().zip(named) {
            if let Some(first) = first {
                stream.begin(first);
            }
        }
        let mut is_silent = true;
        for &frame in &self.frames {
            let Some(segment) = segment_of(frame) else {
                continue;
            };
            let side = self.side(segment.source);
            match named[side] {
                Some(_) => streams[side].push(payload_sequence(&segment), segment.payload, frame),
                None => push(&mut streams[side], &segment, frame, is_silent),
            }
            is_silent &= segment.payload.is_empty();
        }
        streams
    }
}

impl Side {
    fn extend(&mut self, first: u32, octets: u32) {
        let end = first.wrapping_add(octets);
        let (known_first, known_end) = self.sequence.unwrap_or((first, end));
        let before = |a: u32, b: u32| (a.wrapping_sub(b) as i32) < 0;
        self.sequence = Some((
            if before(first, known_first) {
                first
            } else {
                known_first
            },
            if before(known_end, end) {
                end
            } else {
                known_end
            },
        ));
    }

    /// Whether an octet with this sequence number was seen, or one before and one after it.
    pub(crate) fn contains(&self, sequence: u32) -> bool {
        self.sequence
            .is_some_and(|(first, end)| sequence.wrapping_sub(first) < end.wrapping_sub(first))
    }
}

fn payload_sequence(segment: &Segment) -> u32 {
    let syn = segment.flags & FLAG_SYN != 0;
    segment.sequence.wrapping_add(u32::from(syn))
}

/// Add a segment to what its sender has sent; `is_silent`: neither end has sent payload before.
fn push(stream: &mut Reassembly, segment: &Segment, frame: usize, is_silent: bool) {
    let first = payload_sequence(segment);
    if segment.flags & FLAG_SYN != 0 {
        let is_other = stream.has_begun() && stream.sequence(0) != first;
        match segment.flags & FLAG_ACK {
            // It opens no connection: none has answered.
            0 if is_other => return,
            0 => {}
            _ if is_other && is_silent => *stream = stream.emptied(),
            _ if is_other => return,
            _ => {}
        }
        stream.begin(first);
    } else if !segment.payload.is_empty() {
        stream.begin(first);
    }
    stream.push(first, segment.payload, frame);
}
