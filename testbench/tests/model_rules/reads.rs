//! Read Responses against the reads that were asked for (RDMAP-008, RDMAP-011).

use crate::rig::{pattern, region, Rig, CONNECTION, REGION_OCTETS, REGION_TO, STAG};
use rnic_abi::counters::Counter;
use rnic_abi::errors::StreamError;
use rnic_driver::{Completion, RegionConfig};
use rnic_testbench::traffic::StreamConfig;
use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::tagged::TaggedRepr;

/// Octets of the read of most tests.
const OCTETS: usize = 2000;

fn rig() -> Rig {
    Rig::new(StreamConfig::default())
}

/// A segment of a Read Response to `stag`, so many octets after the region's first.
fn respond(rig: &mut Rig, stag: u32, offset: i64, last: bool, octets: usize) {
    let header = TaggedRepr {
        control: ControlRepr::new(1, Opcode::ReadResponse, last),
        stag,
        to: REGION_TO.wrapping_add_signed(offset),
    };
    rig.sender.tagged_segment(&header, &pattern(octets));
    rig.deliver();
}

/// The segments, as offset, L and octets, go on; the last of them is refused, and not placed.
fn refused(rig: &mut Rig, segments: &[(i64, bool, usize)]) {
    for (number, &(offset, last, octets)) in segments.iter().enumerate() {
        let before = rig.region().to_vec();
        respond(rig, STAG, offset, last, octets);
        let is_culprit = number + 1 == segments.len();
        let expected = is_culprit.then_some(StreamError::RdmapReadResponse);
        assert_eq!(rig.stopped(), expected, "segment {number}");
        if is_culprit {
            assert_eq!(rig.region(), before, "segment {number}");
        }
    }
    assert_eq!(rig.counter(Counter::RefuseRdmapReadResponse), 1);
}

/// A rig with one read from the region's first octet.
fn one_read() -> Rig {
    let mut rig = rig();
    rig.read(STAG, REGION_TO, OCTETS);
    rig
}

/// RDMAP-011: no read, no response; nor one more than there were reads.
#[test]
fn a_response_nobody_asked_for() {
    refused(&mut rig(), &[(0, true, 100)]);
    refused(&mut rig(), &[(0, true, 0)]);
    refused(&mut one_read(), &[(0, true, OCTETS), (0, true, OCTETS)]);
}

/// RDMAP-011: neither longer nor shorter than what was asked for.
#[test]
fn a_response_of_another_length() {
    refused(&mut one_read(), &[(0, true, OCTETS + 1)]);
    refused(&mut one_read(), &[(0, true, OCTETS - 1)]);
    refused(&mut one_read(), &[(0, false, OCTETS)]);
    refused(&mut one_read(), &[(0, true, 0)]);
    let (first, rest) = (700, OCTETS - 700);
    let second = 700;
    refused(
        &mut one_read(),
        &[(0, false, first), (second, true, rest + 1)],
    );
    refused(
        &mut one_read(),
        &[(0, false, first), (second, true, rest - 1)],
    );
    refused(&mut one_read(), &[(0, false, first), (second, false, rest)]);
}

/// RDMAP-008, RDMAP-011: a response begins where its read does, and goes on without a gap.
#[test]
fn a_response_to_another_offset() {
    for offset in [-1, 1, 100] {
        let mut rig = rig();
        let config = RegionConfig {
            tagged_offset: REGION_TO - 1,
            ..region()
        };
        rig.model.register(&config);
        rig.read(STAG, REGION_TO, OCTETS);
        refused(&mut rig, &[(offset, false, 100)]);
    }
    for offset in [0, 99, 101] {
        refused(&mut one_read(), &[(0, false, 100), (offset, false, 100)]);
    }
}

/// RDMAP-011: a good STag, but not that of the read; with another key, or of another region.
#[test]
fn a_response_to_another_stag() {
    for stag in [STAG ^ 1, STAG ^ 0x100] {
        let mut rig = rig();
        rig.model.register(&region());
        rig.read(stag, REGION_TO, OCTETS);
        refused(&mut rig, &[(0, true, OCTETS)]);
    }
}

/// RDMAP-008: responses come in the order of the requests.
#[test]
fn the_answer_to_the_second_read_comes_first() {
    let mut rig = rig();
    rig.read(STAG, REGION_TO, 100);
    rig.read(STAG, REGION_TO + 100, 100);
    refused(&mut rig, &[(100, true, 100)]);
}

/// RDMAP-008, DDP-018: a zero-length read has one response without octets.
#[test]
fn a_zero_length_read() {
    let mut rig = rig();
    rig.read(0, 0, 0);
    let second = rig.read(STAG, REGION_TO, 10);
    respond(&mut rig, 0xdead_beef, -5, true, 0);
    respond(&mut rig, STAG, 0, true, 10);
    assert_eq!(rig.stopped(), None);
    let completions = rig.completions();
    let last = completions.last();
    assert_eq!(completions.len(), 2);
    assert!(matches!(
        last,
        Some(Completion::ReadResponse { connection: CONNECTION, pool_entry, .. })
            if *pool_entry == second
    ));
    let mut rig = self::rig();
    rig.read(STAG, REGION_TO, 0);
    refused(&mut rig, &[(0, true, 1)]);
    let mut rig = self::rig();
    rig.read(STAG, REGION_TO, 0);
    refused(&mut rig, &[(0, false, 0)]);
}

/// A segment without octets in the middle of a response changes nothing.
#[test]
fn a_segment_without_octets() {
    let mut rig = one_read();
    respond(&mut rig, 0, 0, false, 0);
    respond(&mut rig, STAG, 0, false, 500);
    respond(&mut rig, 0, 0, false, 0);
    respond(&mut rig, STAG, 500, true, OCTETS - 500);
    assert_eq!((rig.stopped(), rig.completions().len()), (None, 1));
}

/// Of a region of 32 GiB and more, the device could not count the octets of a read.
#[test]
fn a_region_of_2_to_the_35_octets_is_no_sink() {
    for (octets, is_sink) in [(1 << 35, false), ((1 << 35) - 1, true)] {
        let mut rig = one_read();
        rig.model.register(&RegionConfig { octets, ..region() });
        if is_sink {
            respond(&mut rig, STAG, 0, true, OCTETS);
            assert_eq!(rig.stopped(), None);
        } else {
            refused(&mut rig, &[(0, true, OCTETS)]);
        }
    }
}

/// RDMAP-010: what a region forbids comes before what a read asks for.
#[test]
fn a_read_opens_no_region() {
    let mut rig = rig();
    rig.read(STAG, REGION_TO, REGION_OCTETS + 1);
    respond(&mut rig, STAG, REGION_OCTETS as i64, false, 1);
    assert_eq!(rig.stopped(), Some(StreamError::DdpBounds));
}

/// RDMAP-011, MPA-044: beyond a gap no response may be placed, but its read is still there for it.
#[test]
fn a_response_beyond_a_gap_waits() {
    let mut rig = Rig::new(StreamConfig {
        markers: true,
        ..StreamConfig::default()
    });
    rig.sender.send(&pattern(700));
    let first = rig.sender.stream().len();
    rig.read_and_respond(STAG, REGION_TO, &pattern(1000));
    let end = rig.sender.stream().len();
    rig.segment(first, end);
    assert_eq!(rig.model.out_of_order_placements().count(), 0);
    rig.segment(0, first);
    assert_eq!(rig.region()[..1000], pattern(1000));
    assert_eq!((rig.stopped(), rig.completions().len()), (None, 2));
}
