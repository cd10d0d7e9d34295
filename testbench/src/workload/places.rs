//! Where an FPDU's octets are in its stream: markers' and others'.
//!
//! Offsets count in octets from SeqStart, the first octet of full operation: with markers, one
//! stands at each multiple of 512 (RFC 5044 section 4.3).

use rnic_wire::mpa::marker::{MARKER_INTERVAL_OCTETS, MARKER_OCTETS};
use std::ops::Range;

/// Stream offsets of the octets of one FPDU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// All that are no marker's, in order.
    pub plain: Vec<usize>,
    /// Those of the FPDUPTRs of its markers.
    pub pointers: Vec<usize>,
}

impl Places {
    /// Of an FPDU that takes `octets` of a stream with or without `markers`.
    pub fn of(octets: Range<usize>, markers: bool) -> Self {
        let mut places = Self::default();
        for octet in octets {
            let from_marker_position = octet % MARKER_INTERVAL_OCTETS;
            match markers && from_marker_position < MARKER_OCTETS {
                false => places.plain.push(octet),
                true if from_marker_position >= MARKER_OCTETS / 2 => places.pointers.push(octet),
                true => {}
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_octet_is_plain_or_a_markers() {
        let octets = 510..1040;
        let without = Places::of(octets.clone(), false);
        assert_eq!(without.plain, octets.clone().collect::<Vec<_>>());
        assert!(without.pointers.is_empty());
        let with = Places::of(octets, true);
        assert_eq!(with.pointers, [514, 515, 1026, 1027]);
        assert_eq!(with.plain.len(), 530 - 2 * MARKER_OCTETS);
        assert!(!with.plain.contains(&512) && with.plain.contains(&516));
    }
}
