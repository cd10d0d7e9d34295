//! MPA by hand (RFC 5044, RFC 6581): start-up frames, FPDUs, markers, CRC32C.
//!
//! ```text
//!  start-up   key 16 | M C R S 0 | Rev | PD_Length 2 | Private Data
//!  FPDU       ULPDU_Length 2 | ULPDU | PAD to a multiple of 4 | CRC32C 4, a marker each 512 octets
//! ```

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
    pub markers: bool,
    /// Octets of the stream so far, from SeqStart.
    pub position: u64,
}

impl Framing {
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
        // FPDUPTR counts from ULPDU_Length; a marker in front of it has 0.
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
        let mut ulpdus = Vec::new();
        let mut reader = Reading::new(markers, stream);
        while let Some(ulpdu) = reader.next() {
            ulpdus.push(ulpdu);
        }
        ulpdus
    }
}

/// A stream that is read.
struct Reading<'a> {
    framing: Framing,
    stream: &'a [u8],
    at: usize,
    /// Where ULPDU_Length of the FPDU is.
    head: usize,
}

impl<'a> Reading<'a> {
    fn new(markers: bool, stream: &'a [u8]) -> Self {
        Self {
            framing: Framing::new(markers),
            stream,
            at: 0,
            head: 0,
        }
    }

    /// So many octets without markers; words, as markers stand between words alone.
    fn take(&mut self, octets: usize, is_first: bool) -> Option<Vec<u8>> {
        let mut taken = Vec::new();
        while taken.len() < octets {
            if self.framing.is_marker_due(self.at as u64) {
                let marker = self.stream.get(self.at..self.at + MARKER_OCTETS)?;
                let pointer = match is_first && taken.is_empty() {
                    true => 0,
                    false => self.at - self.head,
                };
                assert_eq!(
                    marker,
                    &(pointer as u32).to_be_bytes(),
                    "marker at {}",
                    self.at
                );
                self.at += MARKER_OCTETS;
            }
            if is_first && taken.is_empty() {
                self.head = self.at;
            }
            taken.extend_from_slice(self.stream.get(self.at..self.at + 4)?);
            self.at += 4;
        }
        Some(taken)
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        let begin = self.at;
        let mut body = self.take(4, true)?;
        let octets = usize::from(u16::from_be_bytes([body[0], body[1]]));
        let rest = (2 + octets).next_multiple_of(4) - 4;
        body.extend(self.take(rest, false)?);
        assert!(body[2 + octets..].iter().all(|&pad| pad == 0), "PAD");
        // A marker between PAD and CRC is in front of the CRC, which covers it.
        let crc = self.take(CRC_OCTETS, false)?;
        let covered = &self.stream[begin..self.at - CRC_OCTETS];
        assert_eq!(
            crc,
            crc32c(covered).to_le_bytes(),
            "CRC of the FPDU at {begin}"
        );
        Some(body[2..2 + octets].to_vec())
    }
}

/// MPA-024, MPA-020: what RFC 5044 prints of two FPDUs with markers.
#[test]
fn the_strangers_fpdus_are_those_of_the_document() {
    let header = |msn: u32| super::ddp::untagged(super::ddp::SEND, 0, msn, 0);
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
