//! MPA by hand (RFC 5044, RFC 6581): start-up frames, FPDUs, markers, CRC32C.
//!
//! ```text
//!  start-up   key 16 | M C R S 0 | Rev | PD_Length 2 | Private Data
//!  FPDU       ULPDU_Length 2 | ULPDU | PAD to a multiple of 4 | CRC32C 4, a marker each 512 octets
//! ```

use thiserror::Error;

/// Key of a Request: `MPA ID Req Frame`.
pub const KEY_REQUEST: [u8; 16] = [
    0x4d, 0x50, 0x41, 0x20, 0x49, 0x44, 0x20, 0x52, 0x65, 0x71, 0x20, 0x46, 0x72, 0x61, 0x6d, 0x65,
];
/// Key of a Reply: `MPA ID Rep Frame`.
pub const KEY_REPLY: [u8; 16] = [
    0x4d, 0x50, 0x41, 0x20, 0x49, 0x44, 0x20, 0x52, 0x65, 0x70, 0x20, 0x46, 0x72, 0x61, 0x6d, 0x65,
];
/// M: the sender of the frame wants markers.
pub const FLAG_MARKERS: u8 = 0x80;
/// C: CRC32C.
pub const FLAG_CRC: u8 = 0x40;
/// R: rejected.
pub const FLAG_REJECTED: u8 = 0x20;
/// S: enhanced data opens the Private Data.
pub const FLAG_ENHANCED: u8 = 0x10;
/// A of enhanced data, in its first 16 bits: the peer-to-peer model.
pub const PEER_TO_PEER: u16 = 0x8000;
/// Octets of a start-up frame without Private Data.
pub const START_OCTETS: usize = 20;
/// From one marker to the next.
const MARKER_SPACING: u64 = 512;
const MARKER_OCTETS: usize = 4;
const CRC_OCTETS: usize = 4;

/// A start-up frame.
pub fn start(key: &[u8; 16], flags: u8, revision: u8, private_data: &[u8]) -> Vec<u8> {
    let mut octets = key.to_vec();
    octets.extend_from_slice(&[flags, revision]);
    octets.extend_from_slice(&(private_data.len() as u16).to_be_bytes());
    octets.extend_from_slice(private_data);
    octets
}

/// A start-up frame of revision 2 with enhanced data: A, B and IRD, then C, D and ORD.
pub fn start_enhanced(key: &[u8; 16], flags: u8, words: [u16; 2], rest: &[u8]) -> Vec<u8> {
    let mut private_data = words.map(u16::to_be_bytes).concat();
    private_data.extend_from_slice(rest);
    start(key, flags | FLAG_ENHANCED, 2, &private_data)
}

/// CRC32C: reflected, polynomial 0x82f63b78, all ones first, complemented.
pub fn crc32c(octets: &[u8]) -> u32 {
    let step = |crc: u32, _| crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
    let next = |crc: u32, octet: &u8| (0..8).fold(crc ^ u32::from(*octet), step);
    !octets.iter().fold(!0, next)
}

/// An FPDU with the markers in it.
#[derive(Clone, Debug)]
pub struct Fpdu {
    /// As they are sent.
    pub octets: Vec<u8>,
}

impl Fpdu {
    /// Change bits of an octet; the CRC is not right any more.
    pub fn flip(mut self, at: usize, bits: u8) -> Self {
        self.octets[at] ^= bits;
        self
    }

    /// Make the CRC right.
    pub fn seal(mut self) -> Self {
        let end = self.octets.len() - CRC_OCTETS;
        let crc = crc32c(&self.octets[..end]);
        self.octets[end..].copy_from_slice(&crc.to_le_bytes());
        self
    }
}

/// One direction of full operation.
#[derive(Clone, Debug, Default)]
pub struct Framing {
    /// Markers are in it.
    pub markers: bool,
    /// Octets of the stream so far, from SeqStart.
    pub position: u64,
}

impl Framing {
    /// From its first octet on.
    pub fn new(markers: bool) -> Self {
        Self {
            markers,
            position: 0,
        }
    }

    fn is_marker_due(&self, position: u64) -> bool {
        self.markers && position % MARKER_SPACING == 0
    }

    /// The next FPDU of the stream.
    pub fn fpdu(&mut self, ulpdu: &[u8]) -> Fpdu {
        let mut body = (ulpdu.len() as u16).to_be_bytes().to_vec();
        body.extend_from_slice(ulpdu);
        body.resize(body.len().next_multiple_of(4), 0);
        let mut octets = Vec::new();
        // FPDUPTR counts from ULPDU_Length; a marker before it has 0.
        let mut head = 0;
        for word in body.chunks(4).map(Some).chain([None]) {
            if self.is_marker_due(self.position + octets.len() as u64) {
                let pointer = match octets.len() {
                    0 => {
                        head = MARKER_OCTETS;
                        0
                    }
                    octets => (octets - head) as u16,
                };
                octets.extend_from_slice(&[0, 0]);
                octets.extend_from_slice(&pointer.to_be_bytes());
            }
            octets.extend_from_slice(word.unwrap_or_default());
        }
        octets.extend_from_slice(&[0; CRC_OCTETS]);
        self.position += octets.len() as u64;
        Fpdu { octets }.seal()
    }

    /// The ULPDUs of a stream from its first octet on, as far as they are whole.
    ///
    /// # Panics
    /// A marker or a CRC is wrong, or PAD is not zero (MPA-003).
    pub fn read(markers: bool, stream: &[u8]) -> Vec<Vec<u8>> {
        let read = Stream::read(markers, true, stream);
        if let Some(fault) = read.fault {
            panic!("{fault}");
        }
        read.ulpdus
    }
}

/// What a sender of FPDUs must not do.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// MPA-009, MPA-010.
    #[error("the marker at octet {at} of the stream is {found:02x?}, not {expected:02x?}")]
    Marker {
        /// Octets of the stream before it.
        at: usize,
        /// Its octets.
        found: [u8; 4],
        /// What they are to be.
        expected: [u8; 4],
    },
    /// MPA-003.
    #[error("PAD of the FPDU at octet {at} of the stream is not zero")]
    Pad {
        /// Octets of the stream before the FPDU.
        at: usize,
    },
    /// MPA-020.
    #[error("CRC32C of the FPDU at octet {at} of the stream is wrong")]
    Crc {
        /// Octets of the stream before the FPDU.
        at: usize,
    },
}

/// A stream of FPDUs that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// Its whole ULPDUs, up to the fault.
    pub ulpdus: Vec<Vec<u8>>,
    /// Octets after the last of them.
    pub rest_octets: usize,
    /// What is wrong with the next one.
    pub fault: Option<Fault>,
}

impl Stream {
    /// Read it from its first octet on. Without `crc` the field may have anything (MPA-006).
    pub fn read(markers: bool, crc: bool, stream: &[u8]) -> Self {
        let mut reading = Reading {
            framing: Framing::new(markers),
            crc,
            stream,
            at: 0,
            head: 0,
        };
        let mut read = Self::default();
        loop {
            let begin = reading.at;
            match reading.next() {
                Ok(Some(ulpdu)) => read.ulpdus.push(ulpdu),
                Ok(None) => {
                    read.rest_octets = stream.len() - begin;
                    return read;
                }
                Err(fault) => {
                    read.rest_octets = stream.len() - begin;
                    read.fault = Some(fault);
                    return read;
                }
            }
        }
    }
}

/// A stream that is read.
struct Reading<'a> {
    framing: Framing,
    crc: bool,
    stream: &'a [u8],
    at: usize,
    /// Where ULPDU_Length of the FPDU is.
    head: usize,
}

impl Reading<'_> {
    /// So many octets without markers; words, as markers stand between words alone.
    fn take(&mut self, octets: usize, is_first: bool) -> Result<Option<Vec<u8>>, Fault> {
        let mut taken = Vec::new();
        while taken.len() < octets {
            let opens = is_first && taken.is_empty();
            if self.framing.is_marker_due(self.at as u64) {
                let Some(found) = self.word() else {
                    return Ok(None);
                };
                let pointer = if opens { 0 } else { self.at - self.head };
                let (at, expected) = (self.at, (pointer as u32).to_be_bytes());
                if found != expected {
                    return Err(Fault::Marker {
                        at,
                        found,
                        expected,
                    });
                }
                self.at += MARKER_OCTETS;
            }
            if opens {
                self.head = self.at;
            }
            let Some(word) = self.word() else {
                return Ok(None);
            };
            taken.extend_from_slice(&word);
            self.at += word.len();
        }
        Ok(Some(taken))
    }

    /// The next four octets.
    fn word(&self) -> Option<[u8; 4]> {
        let word = self.stream.get(self.at..self.at + MARKER_OCTETS)?;
        word.try_into().ok()
    }

    fn next(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let begin = self.at;
        let Some(mut body) = self.take(4, true)? else {
            return Ok(None);
        };
        let octets = usize::from(u16::from_be_bytes([body[0], body[1]]));
        let rest = (2 + octets).next_multiple_of(4) - 4;
        let Some(more) = self.take(rest, false)? else {
            return Ok(None);
        };
        body.extend(more);
        // A marker between PAD and CRC is before the CRC, which covers it.
        let Some(crc) = self.take(CRC_OCTETS, false)? else {
            return Ok(None);
        };
        if body[2 + octets..].iter().any(|&pad| pad != 0) {
            return Err(Fault::Pad { at: begin });
        }
        let covered = &self.stream[begin..self.at - CRC_OCTETS];
        if self.crc && crc != crc32c(covered).to_le_bytes() {
            return Err(Fault::Crc { at: begin });
        }
        Ok(Some(body[2..2 + octets].to_vec()))
    }
}

/// A start-up frame that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartFrame {
    /// Its key.
    pub key: [u8; 16],
    /// M, C, R, S and reserved bits.
    pub flags: u8,
    /// Its revision.
    pub revision: u8,
    /// Private Data, the enhanced data in front.
    pub private_data: Vec<u8>,
}

impl StartFrame {
    /// The frame at the beginning of a stream, once it is whole.
    pub fn read(stream: &[u8]) -> Option<Self> {
        let (head, rest) = stream.split_first_chunk::<START_OCTETS>()?;
        let octets = usize::from(u16::from_be_bytes([head[18], head[19]]));
        Some(Self {
            key: head[..16].try_into().expect("16 octets"),
            flags: head[16],
            revision: head[17],
            private_data: rest.get(..octets)?.to_vec(),
        })
    }

    /// Octets of the frame.
    pub fn octets(&self) -> usize {
        START_OCTETS + self.private_data.len()
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The 16-bit words of enhanced data: A, B and IRD, then C, D and ORD.
    pub fn enhanced(&self) -> Option<[u16; 2]> {
        let (data, _) = self.private_data.split_first_chunk::<4>()?;
        let words = [[data[0], data[1]], [data[2], data[3]]];
        self.has(FLAG_ENHANCED)
            .then_some(words.map(u16::from_be_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddp;

    /// MPA-024, MPA-020: what RFC 5044 prints of two FPDUs with markers.
    #[test]
    fn fpdus_are_those_of_the_document() {
        let header = |msn: u32| ddp::untagged(ddp::SEND, 0, msn, 0);
        let mut framing = Framing::new(true);
        let first = framing.fpdu(&[&header(1)[..], &[0; 24]].concat());
        assert_eq!(first.octets[..8], [0, 0, 0, 0, 0, 0x2a, 0x41, 0x43]);
        assert_eq!(first.octets[48..], [0x52, 0x23, 0x99, 0x83]);
        framing.position = 492;
        let second = framing.fpdu(&[&header(2)[..], &[0; 24]].concat());
        assert_eq!(second.octets[20..24], [0, 0, 0, 0x14]);
        assert_eq!(second.octets[48..], [0x84, 0x92, 0x58, 0x98]);
        let read = Framing::read(true, &first.octets);
        assert_eq!(read, [[&header(1)[..], &[0; 24]].concat()]);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    /// Each fault of a sender is found, and where.
    #[test]
    fn a_fault_of_a_stream_is_found() {
        let ulpdu = ddp::send(1, &[7; 700]);
        let good = Framing::new(true).fpdu(&ulpdu);
        let read = Stream::read(true, true, &good.octets);
        assert_eq!(
            (read.ulpdus.len(), read.rest_octets, read.fault),
            (1, 0, None)
        );
        let fault = |fpdu: Fpdu| Stream::read(true, true, &fpdu.octets).fault;
        let end = good.octets.len();
        assert_eq!(fault(good.clone().flip(100, 1)), Some(Fault::Crc { at: 0 }));
        let marker = fault(good.clone().flip(515, 4).seal());
        assert!(
            matches!(marker, Some(Fault::Marker { at: 512, .. })),
            "{marker:?}"
        );
        let mut padded = Framing::default().fpdu(&ddp::send(1, &[7; 3]));
        assert_eq!(Stream::read(false, true, &padded.octets).fault, None);
        padded = padded.flip(23, 1).seal();
        assert_eq!(
            Stream::read(false, true, &padded.octets).fault,
            Some(Fault::Pad { at: 0 })
        );
        let wrong = good.clone().flip(end - 1, 1);
        assert_eq!(
            Stream::read(true, false, &wrong.octets).fault,
            None,
            "no CRC is in use"
        );
        let half = Stream::read(true, true, &good.octets[..end - 4]);
        assert_eq!((half.ulpdus.len(), half.rest_octets), (0, end - 4));
    }

    /// A start-up frame is read field by field.
    #[test]
    fn a_start_up_frame_is_read() {
        let octets = start_enhanced(&KEY_REPLY, FLAG_CRC, [PEER_TO_PEER | 2, 3], b"x");
        let frame = StartFrame::read(&octets).expect("it is whole");
        assert_eq!((frame.key, frame.revision), (KEY_REPLY, 2));
        assert_eq!(frame.enhanced(), Some([PEER_TO_PEER | 2, 3]));
        assert_eq!(frame.octets(), octets.len());
        assert_eq!(StartFrame::read(&octets[..24]), None);
        let plain = start(&KEY_REQUEST, 0, 1, b"abcd");
        assert_eq!(StartFrame::read(&plain).expect("whole").enhanced(), None);
    }
}
