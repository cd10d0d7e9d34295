//! FPDU boundaries, markers and CRC32C.

use crate::rig::{pattern, Rig, CONNECTION, MARKED, REGION_TO, STAG};
use rnic_abi::counters::Counter;
use rnic_abi::errors::StreamError;
use rnic_driver::Completion;
use rnic_testbench::traffic::StreamConfig;

/// One write of 1400 octets in one FPDU: markers at 0, 512 and 1024.
fn marked() -> Rig {
    let mut rig = Rig::new(MARKED);
    rig.sender.rdma_write(STAG, REGION_TO, &pattern(1400));
    rig
}

/// The write after `change` to the stream, its CRC set right.
fn resealed(change: impl Fn(&mut [u8])) -> Rig {
    let mut rig = marked();
    change(rig.sender.stream_mut());
    rig.sender.reseal(0);
    rig.deliver();
    rig
}

/// MPA-005: any length that fits a DDP header. DDP-003: it gives the payload octets.
#[test]
fn every_length_has_its_boundary() {
    for markers in [false, true] {
        let mut rig = Rig::new(StreamConfig { markers, ..MARKED });
        for octets in 0..300 {
            rig.sender
                .rdma_write(STAG, REGION_TO + octets as u64, &pattern(octets));
        }
        rig.deliver();
        assert_eq!(rig.stopped(), None);
        assert_eq!(rig.counter(Counter::Fpdus), 300);
        assert_eq!(rig.region()[299..598], pattern(299));
    }
}

/// MPA-042: nothing is placed before an FPDU's last octet is there.
#[test]
fn an_fpdu_is_held_until_it_is_whole() {
    let mut rig = marked();
    let end = rig.sender.stream().len();
    for start in (0..end - 1).step_by(300) {
        rig.segment(start, (end - 1).min(start + 300));
    }
    assert!(rig.untouched());
    assert_eq!(rig.model.held_octets(), end - 1);
    rig.segment(end - 1, end);
    assert_eq!(rig.region()[..1400], pattern(1400));
    assert_eq!(rig.model.held_octets(), 0);
}

/// MPA-004: PAD may hold anything that the CRC covers.
#[test]
fn pad_is_covered_and_means_nothing() {
    let mut rig = Rig::new(StreamConfig {
        markers: false,
        ..MARKED
    });
    rig.sender.rdma_write(STAG, REGION_TO, &pattern(3));
    let pad = 2 + 14 + 3;
    rig.sender.stream_mut()[pad] = 0xff;
    rig.sender.reseal(0);
    rig.deliver();
    assert_eq!(
        (rig.stopped(), &rig.region()[..4]),
        (None, &[1, 2, 3, 0][..])
    );
    rig.sender.rdma_write(STAG, REGION_TO, &pattern(7));
    let end = rig.sender.stream().len();
    rig.sender.stream_mut()[end - 5] = 0xff;
    rig.deliver();
    assert_eq!(rig.stopped(), Some(StreamError::MpaCrc));
}

/// MPA-006, MPA-019: without CRC its field may hold anything.
#[test]
fn without_crc_the_field_is_not_checked() {
    let mut rig = Rig::new(StreamConfig {
        crc: false,
        ..MARKED
    });
    rig.sender.rdma_write(STAG, REGION_TO, &pattern(9));
    let end = rig.sender.stream().len();
    rig.sender.stream_mut()[end - 4..].copy_from_slice(&[1, 2, 3, 4]);
    rig.deliver();
    assert_eq!((rig.stopped(), &rig.region()[..9]), (None, &pattern(9)[..]));
}

/// MPA-054, MPA-058, MPA-059: reported once; nothing after it is placed; TCP goes on.
#[test]
fn a_wrong_crc_stops_the_stream() {
    let mut rig = marked();
    rig.sender.rdma_write(STAG, REGION_TO, &pattern(1400));
    rig.sender.stream_mut()[700] ^= 0x10;
    rig.deliver();
    assert_eq!(rig.stopped(), Some(StreamError::MpaCrc));
    assert!(rig.untouched());
    assert_eq!(rig.counter(Counter::Fpdus), 0);
    assert_eq!(rig.counter(Counter::TcpInOrder), 2);
    let report = rig.completions();
    let [Completion::Error {
        ulpdu_length: 1414,
        sequence: 0xffff_ff00,
        ..
    }] = report[..]
    else {
        panic!("{report:?}");
    };
}

/// MPA-008: the reserved half of a marker is under the CRC and under nothing else.
#[test]
fn reserved_halves_of_markers_are_ignored() {
    let rig = resealed(|stream| {
        for at in [0, 512, 1024] {
            stream[at..at + 2].fill(0xff);
        }
    });
    assert_eq!(
        (rig.stopped(), &rig.region()[..1400]),
        (None, &pattern(1400)[..])
    );
}

/// MPA-011, MPA-012: both readings of the second marker; low bits are reserved.
#[test]
fn markers_may_count_from_a_leading_marker() {
    for (second, third) in [
        (0x1fc, 0x3fc),
        (0x200, 0x400),
        (0x1ff, 0x3fd),
        (0x203, 0x3fe),
    ] {
        let rig = resealed(|stream| {
            stream[514..516].copy_from_slice(&u16::to_be_bytes(second));
            stream[1026..1028].copy_from_slice(&u16::to_be_bytes(third));
        });
        assert_eq!(rig.stopped(), None, "{second:#x} {third:#x}");
    }
}

/// MPA-010, MPA-015, MPA-055: a marker that points elsewhere, under a right CRC.
#[test]
fn a_marker_that_points_elsewhere_stops_the_stream() {
    for (at, value) in [
        (0, 4),
        (0, 0xfffc),
        (512, 0x1f8),
        (512, 0x204),
        (512, 0),
        (1024, 0x1fc),
    ] {
        let rig = resealed(|stream| {
            stream[at + 2..at + 4].copy_from_slice(&u16::to_be_bytes(value));
        });
        assert_eq!(
            rig.stopped(),
            Some(StreamError::MpaMarker),
            "{value:#x} at {at}"
        );
        assert!(rig.untouched());
        assert_eq!(rig.counter(Counter::Fpdus), 0);
    }
}

/// MPA-055: when the hardware reports disagreeing starts, the model does so only if a marker
/// contradicts this FPDU.
#[test]
fn starts_disagree_only_by_a_marker_that_is_there() {
    let start = MARKED.sequence_start;
    for octets in [500, 600] {
        let mut rig = marked();
        rig.segment(0, octets);
        rig.model.starts_disagree(CONNECTION, start);
        assert_eq!(rig.stopped(), None, "{octets} good octets");
    }
    let mut rig = marked();
    rig.sender.stream_mut()[515] ^= 8;
    rig.segment(0, 600);
    rig.model.starts_disagree(CONNECTION, start.wrapping_add(4));
    assert_eq!(rig.stopped(), None, "another FPDU");
    rig.model.starts_disagree(CONNECTION, start);
    assert_eq!(rig.stopped(), Some(StreamError::MpaMarker));
}

/// MPA-055: the refusal of a whole FPDU becomes MPA error 3 if one of its markers points elsewhere;
/// with a wrong CRC alone it stays.
#[test]
fn a_refusal_becomes_the_earlier_error_if_a_marker_points_elsewhere() {
    for (octet, error) in [(515, StreamError::MpaMarker), (700, StreamError::MpaCrc)] {
        let mut rig = marked();
        rig.sender.stream_mut()[octet] ^= 8;
        rig.deliver();
        assert_eq!(rig.stopped(), Some(StreamError::MpaCrc));
        rig.model.starts_disagree(CONNECTION, MARKED.sequence_start);
        assert_eq!(rig.stopped(), Some(error), "octet {octet}");
        let completions = rig.completions();
        let [Completion::Error { code, .. }] = completions[..] else {
            panic!("one error: {completions:?}");
        };
        assert_eq!(code, error.terminate().2);
    }
}

/// A wrong CRC takes precedence over a wrong marker.
#[test]
fn a_wrong_crc_goes_before_a_wrong_marker() {
    let mut rig = marked();
    rig.sender.stream_mut()[515] ^= 8;
    rig.deliver();
    assert_eq!(rig.stopped(), Some(StreamError::MpaCrc));
}

/// MPA-013, MPA-014: markers go on where sequence numbers wrap, and over many FPDUs.
#[test]
fn markers_count_from_the_start_of_the_stream() {
    for sequence_start in [0, 11, 0xffff_fffc, 0xffff_fe01] {
        let mut rig = Rig::new(StreamConfig {
            sequence_start,
            ..MARKED
        });
        for octets in 0..150 {
            rig.sender
                .rdma_write(STAG, REGION_TO + octets as u64, &pattern(octets));
        }
        rig.deliver();
        assert_eq!(rig.stopped(), None);
        assert_eq!(rig.region()[149..298], pattern(149));
    }
}

/// MPA2-005, MPA2-006: a zero-length FPDU opens a stream, and nothing else.
#[test]
fn a_zero_length_fpdu_is_for_the_start_only() {
    for markers in [false, true] {
        let mut rig = Rig::new(StreamConfig { markers, ..MARKED });
        rig.sender.zero_length_fpdu();
        rig.sender.rdma_write(STAG, REGION_TO, &pattern(9));
        rig.deliver();
        assert_eq!((rig.stopped(), &rig.region()[..9]), (None, &pattern(9)[..]));
        assert_eq!(rig.completions(), [], "it is not delivered");
        rig.sender.zero_length_fpdu();
        rig.deliver();
        assert_eq!(rig.stopped(), Some(StreamError::MpaLocalCatastrophic));
    }
}

/// MPA2-006: two in a row are one too many.
#[test]
fn a_second_zero_length_fpdu_stops_the_stream() {
    let mut rig = Rig::new(MARKED);
    rig.sender.zero_length_fpdu();
    rig.sender.zero_length_fpdu();
    rig.deliver();
    assert_eq!(rig.stopped(), Some(StreamError::MpaLocalCatastrophic));
}

/// MPA-032: the longest ULPDU, whose FPDU has more than 2^16 octets with its markers.
#[test]
fn markers_far_from_their_header_count_modulo_two_to_the_sixteenth() {
    for octets in [64768, 65535] {
        let mut rig = Rig::new(MARKED);
        let mut ulpdu = vec![0; octets];
        ulpdu[..2].copy_from_slice(&[0xc1, 0x40]);
        ulpdu[2..6].copy_from_slice(&STAG.to_be_bytes());
        rig.sender.ulpdu(&ulpdu);
        assert!(rig.sender.stream().len() > 1 << 16 || octets == 64768);
        rig.deliver();
        // Markers and CRC are right; the write lies outside of the region.
        assert_eq!(rig.stopped(), Some(StreamError::DdpBounds));
        assert_eq!(rig.counter(Counter::Fpdus), 1);
    }
}
