//! An MPA sender in plain Rust, from RFC 5044 section 4, and the same words read back.

/// Octets between two marker positions.
const MARKER_SPACING: u64 = 512;

/// A sender in one direction of a connection.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Markers are sent.
    pub markers: bool,
    /// Octets sent since SeqStart.
    pub position: u64,
    /// FPDUPTR counts from a leading marker, as the older draft can be read (MPA-011).
    pub points_to_lead: bool,
}

impl Sender {
    pub fn new(markers: bool, position: u64) -> Self {
        assert_eq!(position % 4, 0, "an FPDU starts at a word");
        Self {
            markers,
            position,
            points_to_lead: false,
        }
    }

    /// The FPDU of `ulpdu` at the present position, as sent on the wire.
    pub fn fpdu(&mut self, ulpdu: &[u8]) -> Vec<u8> {
        let length = u16::try_from(ulpdu.len()).expect("a ULPDU has at most 65535 octets");
        let mut content = length.to_be_bytes().to_vec();
        content.extend_from_slice(ulpdu);
        content.resize(content.len().next_multiple_of(4), 0);
        let mut wire = Vec::new();
        let mut length_at = 0;
        for (index, word) in content.chunks(4).enumerate() {
            self.marker_if_due(&mut wire, length_at);
            if index == 0 && !self.points_to_lead {
                length_at = wire.len();
            }
            self.put(&mut wire, word);
        }
        self.marker_if_due(&mut wire, length_at);
        let crc = crc32c::crc32c(&wire).to_le_bytes();
        self.put(&mut wire, &crc);
        wire
    }

    fn marker_if_due(&mut self, wire: &mut Vec<u8>, length_at: usize) {
        if self.markers && self.position % MARKER_SPACING == 0 {
            let distance = if wire.is_empty() {
                0
            } else {
                wire.len() - length_at
            };
            let fpduptr = (distance as u16).to_be_bytes();
            self.put(wire, &[0, 0, fpduptr[0], fpduptr[1]]);
        }
    }

    fn put(&mut self, wire: &mut Vec<u8>, word: &[u8]) {
        wire.extend_from_slice(word);
        self.position += word.len() as u64;
    }
}

/// The octets of `wire`, which begins at stream position `position`, without the markers.
pub fn without_markers(wire: &[u8], markers: bool, position: u64) -> Vec<u8> {
    let mut plain = Vec::new();
    for (index, word) in wire.chunks(4).enumerate() {
        if !(markers && (position + 4 * index as u64) % MARKER_SPACING == 0) {
            plain.extend_from_slice(word);
        }
    }
    plain
}

/// Octets on the wire of the FPDU at the start of `stream`, if ULPDU_Length is there, and that.
pub fn measure(stream: &[u8], markers: bool, position: u64) -> Result<(usize, usize), usize> {
    let lead = markers && position % MARKER_SPACING == 0;
    let head = if lead { 8 } else { 4 };
    if stream.len() < head {
        return Err(head);
    }
    let at = head - 4;
    let length = usize::from(u16::from_be_bytes([stream[at], stream[at + 1]]));
    // Walk word by word: content and CRC, and a marker wherever one is due.
    let content_words = (length + 2).div_ceil(4) + 1;
    let (mut octets, mut words) = (0, 0);
    while words < content_words {
        if !(markers && (position + octets as u64) % MARKER_SPACING == 0) {
            words += 1;
        }
        octets += 4;
    }
    Ok((octets, length))
}
