//! MPA: FPDU boundaries by length, markers, CRC32C (RFC 5044 sections 4 and 6).
//!
//! The stream is kept as octets from the next FPDU's first one on. Every octet is examined where
//! it stands: a marker is where (sequence number - SeqStart) mod 512 is 0 (MPA-013).

/// Distance of markers in octets of the stream.
const MARKER_INTERVAL: usize = 512;
const MARKER_OCTETS: usize = 4;

/// An FPDU that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fpdu {
    /// Sequence number of its first octet, a leading marker included.
    pub sequence: u32,
    /// Sequence number after its last octet.
    pub sequence_end: u32,
    /// The ULPDU.
    pub ulpdu: Vec<u8>,
    /// CRC32C is right or not checked.
    pub crc_good: bool,
    /// Every marker points to the FPDU's start.
    pub marker_good: bool,
    /// The next marker after it is there, and points into it.
    pub is_entered: bool,
}

/// Receive state of one stream.
#[derive(Clone, Debug)]
pub struct MpaReceiver {
    markers: bool,
    crc: bool,
    /// Sequence number of `octets[0]`.
    sequence: u32,
    /// Octets from SeqStart to `octets[0]`, modulo [`MARKER_INTERVAL`].
    phase: usize,
    octets: Vec<u8>,
}

impl MpaReceiver {
    /// A stream that starts at `sequence_start`.
    pub fn new(sequence_start: u32, markers: bool, crc: bool) -> Self {
        Self {
            markers,
            crc,
            sequence: sequence_start,
            phase: 0,
            octets: Vec::new(),
        }
    }

    /// Octets of an FPDU begun but not whole.
    pub fn held_octets(&self) -> usize {
        self.octets.len()
    }

    /// Octets that are missing of the FPDU begun, if its length is known.
    pub fn missing_octets(&self) -> Option<u32> {
        if self.octets.is_empty() {
            return None;
        }
        let mut wire_octets = 0;
        let mut plain = Vec::new();
        let mut needed = 2;
        while plain.len() < needed {
            if self.markers && (self.phase + wire_octets) % MARKER_INTERVAL == 0 {
                wire_octets += MARKER_OCTETS;
                continue;
            }
            // Beyond the length field only places count.
            let octet = self.octets.get(wire_octets).copied();
            plain.push(if plain.len() < 2 { octet? } else { 0 });
            wire_octets += 1;
            if plain.len() == 2 {
                let ulpdu_length = u16::from_be_bytes([plain[0], plain[1]]);
                needed = fpdu_octets(ulpdu_length);
            }
        }
        Some((wire_octets - self.octets.len()) as u32)
    }

    /// Take the next octets of the stream; the FPDUs that became whole.
    pub fn push(&mut self, octets: &[u8]) -> Vec<Fpdu> {
        self.octets.extend_from_slice(octets);
        let mut fpdus = Vec::new();
        let mut used = 0;
        while let Some((fpdu, wire_octets, _)) = self.first_of(self.sequence, &self.octets[used..])
        {
            fpdus.push(fpdu);
            used += wire_octets;
            self.sequence = self.sequence.wrapping_add(wire_octets as u32);
            self.phase = (self.phase + wire_octets) % MARKER_INTERVAL;
        }
        self.octets.drain(..used);
        fpdus
    }

    /// Does the FPDU that is not whole yet begin at `sequence`, and a marker in what is there of it
    /// point elsewhere?
    pub fn contradicts(&self, sequence: u32) -> bool {
        let is_marker = |at: &usize| (self.phase + at) % MARKER_INTERVAL == 0;
        let places = (0..self.octets.len()).filter(is_marker);
        let marker = |at: usize| {
            let octets = self.octets.get(at..at + MARKER_OCTETS)?;
            Some((at, u16::from_be_bytes([octets[2], octets[3]])))
        };
        let walk = Walk {
            markers: places.filter_map(marker).collect(),
            ..Walk::default()
        };
        self.markers && self.sequence == sequence && !walk.markers_agree()
    }

    /// The FPDU that begins with `octets[0]`, which is octet `sequence` of the stream and lies
    /// beyond what is in order, with its octets on the wire; `None` if it is not whole or not good.
    /// With `proven` its start must show: it holds a marker (MPA-044); each marker points to it.
    pub fn beyond(&self, sequence: u32, octets: &[u8], proven: bool) -> Option<(Fpdu, usize)> {
        if !self.markers {
            return None;
        }
        let (fpdu, wire_octets, markers) = self.first_of(sequence, octets)?;
        let good = fpdu.crc_good && fpdu.marker_good && (markers > 0 || !proven);
        good.then_some((fpdu, wire_octets))
    }

    /// The FPDU that begins with `octets[0]`, octet `sequence` of the stream, if it is whole; its
    /// octets on the wire, and its markers.
    fn first_of(&self, sequence: u32, octets: &[u8]) -> Option<(Fpdu, usize, usize)> {
        let ahead = sequence.wrapping_sub(self.sequence) as usize;
        let walk = self.walk(octets, (self.phase + ahead) % MARKER_INTERVAL)?;
        let fpdu = self.finish(sequence, octets, &walk);
        Some((fpdu, walk.wire_octets, walk.markers.len()))
    }

    /// Walk the FPDU that begins with `stream[0]`, `phase` octets after a marker's place; `None`
    /// while it is not whole.
    fn walk(&self, stream: &[u8], phase: usize) -> Option<Walk> {
        let mut walk = Walk::default();
        self.walk_to(&mut walk, stream, phase, 2)?;
        let ulpdu_length = u16::from_be_bytes([walk.plain[0], walk.plain[1]]);
        self.walk_to(&mut walk, stream, phase, fpdu_octets(ulpdu_length))?;
        Some(walk)
    }

    /// Go on until there are `needed` octets without markers.
    fn walk_to(&self, walk: &mut Walk, stream: &[u8], phase: usize, needed: usize) -> Option<()> {
        while walk.plain.len() < needed {
            let at = walk.wire_octets;
            let after_place = (phase + at) % MARKER_INTERVAL;
            if self.markers && after_place == 0 {
                let marker = stream.get(at..at + MARKER_OCTETS)?;
                walk.markers
                    .push((at, u16::from_be_bytes([marker[2], marker[3]])));
                walk.wire_octets += MARKER_OCTETS;
                continue;
            }
            let mut octets = needed - walk.plain.len();
            if self.markers {
                octets = octets.min(MARKER_INTERVAL - after_place);
            }
            walk.plain.extend_from_slice(stream.get(at..at + octets)?);
            walk.wire_octets += octets;
        }
        Some(())
    }

    fn finish(&self, sequence: u32, octets: &[u8], walk: &Walk) -> Fpdu {
        let wire = &octets[..walk.wire_octets];
        let ulpdu_length = usize::from(u16::from_be_bytes([walk.plain[0], walk.plain[1]]));
        // The CRC is the last four octets and covers all before it, leading marker included
        // (MPA-021, MPA-022); no marker can stand inside it, as everything is a multiple of four
        // octets.
        let (covered, crc) = wire.split_at(wire.len() - 4);
        let crc_good = !self.crc || crc32c::crc32c(covered).to_le_bytes() == crc;
        Fpdu {
            sequence,
            sequence_end: sequence.wrapping_add(walk.wire_octets as u32),
            ulpdu: walk.plain[2..2 + ulpdu_length].to_vec(),
            crc_good,
            marker_good: walk.markers_agree(),
            is_entered: self.is_entered(sequence, octets, walk.wire_octets),
        }
    }

    /// Does the next marker after the first `wire_octets` of `octets`, the first one of which is
    /// octet `sequence`, point to one of them, but for the first?
    fn is_entered(&self, sequence: u32, octets: &[u8], wire_octets: usize) -> bool {
        let phase = self.phase + sequence.wrapping_sub(self.sequence) as usize;
        let is_marker = |at: &usize| (phase + at) % MARKER_INTERVAL == 0;
        let mut after = wire_octets..wire_octets + MARKER_INTERVAL;
        let at = self.markers.then(|| after.find(is_marker)).flatten();
        let marker = at.and_then(|at| Some((at, octets.get(at..at + MARKER_OCTETS)?)));
        marker.is_some_and(|(at, octets)| {
            let fpduptr = u16::from_be_bytes([octets[2], octets[3]]) & !3;
            let start = at.checked_sub(usize::from(fpduptr));
            start.is_some_and(|start| start > 0 && start < wire_octets)
        })
    }
}

/// Octets of an FPDU without its markers: length, ULPDU, pad, CRC (MPA-001).
fn fpdu_octets(ulpdu_length: u16) -> usize {
    (2 + usize::from(ulpdu_length)).next_multiple_of(4) + 4
}

/// An FPDU taken apart.
#[derive(Clone, Debug, Default)]
struct Walk {
    /// Octets without markers, length field first.
    plain: Vec<u8>,
    /// Octets with markers.
    wire_octets: usize,
    /// Markers: offset in the FPDU, FPDUPTR.
    markers: Vec<(usize, u16)>,
}

impl Walk {
    fn markers_agree(&self) -> bool {
        let leading = self.markers.first().is_some_and(|&(at, _)| at == 0);
        let header_at = if leading { MARKER_OCTETS } else { 0 };
        self.markers.iter().all(|&(at, fpduptr)| {
            // The two low bits are reserved (MPA-012); positions count modulo 2^16.
            let fpduptr = fpduptr & !3;
            if at == 0 {
                // Between two FPDUs a marker is zero (MPA-010).
                return fpduptr == 0;
            }
            // From ULPDU_Length, or, as the older draft may be read, from the leading marker
            // (MPA-011).
            fpduptr == (at - header_at) as u16 || fpduptr == at as u16
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let octet = |pair: &[u8]| {
            u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hexadecimal")
        };
        digits.chunks(2).map(octet).collect()
    }

    const A_REV_0: &str = "00000000 002A4003 00000000 00000000 00000001 00000000 00000000 00000000
        00000000 00000000 00000000 00000000 4C86B384";
    const B_REV_0: &str = "002A4003 00000000 00000000 00000002 00000000 00000014 00000000 00000000
        00000000 00000000 00000000 00000000 A19CD103";
    const A_REV_1: &str = "00000000 002A4143 00000000 00000000 00000001 00000000 00000000 00000000
        00000000 00000000 00000000 00000000 52239983";
    const B_REV_1: &str = "002A4143 00000000 00000000 00000002 00000000 00000014 00000000 00000000
        00000000 00000000 00000000 00000000 84925898";

    /// MPA-001, MPA-020, MPA-022, MPA-023, MPA-024: the golden FPDUs, octet by octet.
    #[test]
    fn golden_fpdus_are_whole_at_their_last_octet_and_good() {
        for (hex, offset) in [
            (A_REV_0, 0),
            (B_REV_0, 0x1ec),
            (A_REV_1, 0),
            (B_REV_1, 0x1ec),
        ] {
            let octets = golden(hex);
            let mut receiver = MpaReceiver::new(0xffff_ff00, true, true);
            receiver.phase = offset;
            let (last, head) = octets.split_last().expect("not empty");
            for octet in head {
                assert_eq!(
                    receiver.push(&[*octet]),
                    [],
                    "nothing before the last octet (MPA-042)"
                );
            }
            let fpdus = receiver.push(&[*last]);
            assert_eq!(fpdus.len(), 1);
            assert_eq!(fpdus[0].ulpdu.len(), 42);
            assert!(fpdus[0].crc_good && fpdus[0].marker_good, "{hex}");
        }
    }

    /// MPA-054: each flipped bit after the length field is seen.
    #[test]
    fn any_flipped_bit_makes_a_golden_fpdu_bad() {
        for bit in 6 * 8..52 * 8 {
            let mut octets = golden(A_REV_1);
            octets[bit / 8] ^= 1 << (bit % 8);
            let fpdus = MpaReceiver::new(7, true, true).push(&octets);
            assert!(!fpdus[0].crc_good, "bit {bit}");
        }
    }

    /// MPA-010, MPA-011, MPA-012, MPA-055: where a marker may point.
    #[test]
    fn markers_agree_only_with_the_start_of_their_fpdu() {
        let walk = |markers: &[(usize, u16)]| Walk {
            markers: markers.to_vec(),
            ..Walk::default()
        };
        assert!(walk(&[(0, 0), (512, 0x1fc), (1024, 0x3fc)]).markers_agree());
        assert!(walk(&[(0, 0), (512, 0x200)]).markers_agree());
        assert!(walk(&[(20, 0x17)]).markers_agree());
        assert!(!walk(&[(0, 4)]).markers_agree());
        assert!(!walk(&[(20, 0x18)]).markers_agree());
        assert!(!walk(&[(20, 0x10)]).markers_agree());
    }
}
