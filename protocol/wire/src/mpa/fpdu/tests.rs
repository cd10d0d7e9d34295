//! Golden FPDUs of the drafts and of RFC 5044, worked layouts, and round trips.

use super::*;
use proptest::prelude::*;
use std::vec;

/// The ULPDU of the golden FPDUs: a Send of 24 zero octets.
fn golden_ulpdu(control: [u8; 2], msn: u8) -> Vec<u8> {
    let mut ulpdu = vec![0; 42];
    ulpdu[..2].copy_from_slice(&control);
    ulpdu[13] = msn;
    ulpdu
}

const WITH_MARKERS: Framing = Framing {
    markers: true,
    crc: true,
};

/// MPA-001, MPA-017, MPA-022, MPA-023, MPA-024, START-017: both golden FPDUs of both revisions, as
/// the first and the third of a stream, the second one being the 492-octet FPDU between them.
#[test]
fn golden_fpdus_are_written_and_read() {
    let revisions = [
        (
            [0x40, 0x03],
            [0x4c, 0x86, 0xb3, 0x84],
            [0xa1, 0x9c, 0xd1, 0x03],
        ),
        (
            [0x41, 0x43],
            [0x52, 0x23, 0x99, 0x83],
            [0x84, 0x92, 0x58, 0x98],
        ),
    ];
    for (control, crc_first, crc_second) in revisions {
        let mut stream = Vec::new();
        WITH_MARKERS.append(&mut stream, &[&golden_ulpdu(control, 1)]);
        let mut first = vec![0, 0, 0, 0, 0, 0x2a];
        first.extend(golden_ulpdu(control, 1));
        first.extend(crc_first);
        assert_eq!(stream, first);

        let mut stream = Vec::new();
        WITH_MARKERS.append(&mut stream, &[&[0; 0x1e2]]);
        assert_eq!(stream.len(), 0x1ec);
        WITH_MARKERS.append(&mut stream, &[&golden_ulpdu(control, 2)]);
        let mut second = vec![0, 0x2a];
        second.extend(golden_ulpdu(control, 2));
        second.splice(20..20, [0, 0, 0, 0x14]);
        second.extend(crc_second);
        assert_eq!(stream[0x1ec..], second);
        let (fpdu, octets) = WITH_MARKERS.extract(&stream, 0x1ec).expect("complete");
        assert_eq!((fpdu.ulpdu(), octets), (&golden_ulpdu(control, 2)[..], 52));
    }
}

/// MPA-016: the worked layout with a marker 12 octets into the FPDU.
#[test]
fn a_marker_in_the_middle_of_a_ulpdu() {
    let ulpdu: Vec<u8> = (1..=16).collect();
    let mut stream = vec![0xee; 500];
    WITH_MARKERS.append(&mut stream, &[&ulpdu]);
    let fpdu = &stream[500..];
    assert_eq!(fpdu.len(), 28);
    assert_eq!(fpdu[..2], [0, 0x10]);
    assert_eq!(fpdu[2..12], ulpdu[..10]);
    assert_eq!(fpdu[12..16], [0, 0, 0, 0x0c]);
    assert_eq!(fpdu[16..22], ulpdu[10..]);
    assert_eq!(fpdu[22..24], [0, 0]);
    assert!(crc32c::verify(fpdu));
}

/// MPA-021: a marker due directly after PAD precedes the CRC, which covers it.
#[test]
fn a_marker_between_pad_and_crc_is_covered() {
    let mut stream = vec![0xee; 500];
    WITH_MARKERS.append(&mut stream, &[&[7; 10]]);
    assert_eq!(stream[512..516], [0, 0, 0, 12]);
    assert_eq!(stream.len(), 520);
    assert!(crc32c::verify(&stream[500..]));
    stream[512] = 1;
    assert!(!crc32c::verify(&stream[500..]));
}

/// MPA-010: a marker position after an FPDU's last octet belongs to the next FPDU.
#[test]
fn an_fpdu_that_ends_at_a_marker_position_has_no_trailing_marker() {
    let mut stream = vec![0xee; 496];
    WITH_MARKERS.append(&mut stream, &[&[7; 10]]);
    assert_eq!(stream.len(), 512);
    WITH_MARKERS.append(&mut stream, &[&[8; 2]]);
    assert_eq!(stream[512..518], [0, 0, 0, 0, 0, 2]);
}

/// MPA-002, MPA-003: PAD completes a multiple of four and is zero, in a dirty buffer too.
#[test]
fn pad_and_crc_are_written_over_a_dirty_buffer() {
    for (length, pad) in [(0, 2), (1, 1), (2, 0), (3, 3), (4, 2), (42, 0)] {
        let ulpdu = vec![0x11; length];
        let repr = FpduRepr {
            ulpdu: &ulpdu,
            crc: true,
        };
        let mut octets = vec![0xa5; repr.buffer_len()];
        repr.emit(&mut Fpdu::new_unchecked(&mut octets));
        let fpdu = Fpdu::new_checked(&octets).expect("complete");
        assert_eq!(fpdu.pad(), &[0; 3][..pad]);
        assert!(fpdu.verify_crc());
        assert_eq!(FpduRepr::parse(&fpdu), Ok(repr));
        assert_eq!(octets.len(), 6 + length + pad);
    }
}

/// MPA-006: without CRC the field keeps its place, as zero.
#[test]
fn without_crc_the_field_is_zero() {
    let framing = Framing {
        markers: false,
        crc: false,
    };
    let mut stream = Vec::new();
    framing.append(&mut stream, &[&[1, 2], &[3]]);
    assert_eq!(stream, [0, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn incomplete_fpdus_are_refused() {
    let mut stream = Vec::new();
    WITH_MARKERS.append(&mut stream, &[&[7; 1000]]);
    for end in 0..stream.len() {
        assert!(WITH_MARKERS.extract(&stream[..end], 0).is_err(), "{end}");
    }
    assert!(Fpdu::new_checked([0u8, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
    assert!(Fpdu::new_checked([0u8]).is_err());
}

/// MPA-032, MPA-034, MPA-035, MPA-036: the worked values.
#[test]
fn mulpdu_follows_emss() {
    let with = [1460, 1461, 536, 8960, 100, 70000].map(|emss| mulpdu(emss, true));
    assert_eq!(with, [1442, 1442, 522, 8882, 128, 64768]);
    let without = [1460, 1463, 536].map(|emss| mulpdu(emss, false));
    assert_eq!(without, [1454, 1454, 530]);
}

proptest! {
    /// MPA-013, MPA-015, MPA-017: any ULPDUs are extracted again from a stream in any framing.
    #[test]
    fn ulpdus_survive_a_stream(
        markers: bool,
        crc: bool,
        ulpdus in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..1500), 1..12),
    ) {
        let framing = Framing { markers, crc };
        let mut stream = Vec::new();
        for ulpdu in &ulpdus {
            let start = stream.len();
            let (head, tail) = ulpdu.split_at(ulpdu.len() / 2);
            framing.append(&mut stream, &[head, tail]);
            prop_assert_eq!(stream.len() - start, framing.fpdu_octets(start as u64, ulpdu.len()));
            prop_assert!(!crc || crc32c::verify(&stream[start..]));
        }
        let mut at = 0;
        for ulpdu in &ulpdus {
            if markers && octets_to_marker(at as u64) == 0 {
                prop_assert_eq!(&stream[at..at + 4], &[0; 4]);
            }
            let (fpdu, octets) = framing.extract(&stream, at).expect("complete");
            prop_assert_eq!(fpdu.ulpdu(), &ulpdu[..]);
            at += octets;
        }
        prop_assert_eq!(at, stream.len());
    }
}
