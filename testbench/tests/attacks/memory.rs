//! Packet memory that one connection fills with what lies beyond its own gaps.

use crate::bare::{simulation, Bare, REGION_TO, STAG};
use crate::scene::pattern;
use rnic_abi::counters::Counter::*;
use rnic_abi::limits::PAGES;
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_driver::{Config, Dma, RegionConfig};
use rnic_testbench::traffic::StreamConfig;
use std::ops::Range;

const FIRST: u64 = 0x1_0000_0000;
/// More octets than packet memory holds.
const WIDE_WINDOW: u32 = 1 << 18;
/// Octets of a segment, whose frame takes six pages.
const MSS: usize = 1448;
/// Octets of a Write that takes 45 segments, and the region for it.
const LONG_OCTETS: usize = 63_980;
const LONG_STAG: u32 = 0x0012_3401;
/// Such Writes: more segments than memory holds.
const WRITES: usize = 3;
/// An STag that nobody registered.
const UNKNOWN_STAG: u32 = 0x0077_7701;

fn open(markers: bool) -> Bare {
    let mut bare = Bare::open(simulation(256), Config::default(), FIRST, 2);
    let stream = StreamConfig {
        markers,
        mulpdu: LONG_OCTETS + 14,
        ..StreamConfig::default()
    };
    bare.open_again_with(stream, WIDE_WINDOW);
    let region = bare.device.dma().allocate("long", LONG_OCTETS, 1);
    let config = RegionConfig {
        stag: LONG_STAG,
        rights: RIGHT_REMOTE_WRITE,
        protection_domain: 3,
        connection: None,
        tagged_offset: 0,
        octets: LONG_OCTETS as u64,
        address: region.expect("memory is there").address,
    };
    bare.device.register_region(&config).expect("a region");
    bare
}

/// Segments of the stream from `start` on.
fn segments(bare: &Bare, start: usize) -> Vec<Range<usize>> {
    let end = bare.sender.stream().len();
    let starts = (start..end).step_by(MSS);
    starts.map(|at| at..(at + MSS).min(end)).collect()
}

/// Fewer pages are free than the reserve and a frame.
fn assert_short(bare: &mut Bare) {
    bare.rest();
    let free = bare.device.free_pages();
    let reserve = Config::default().in_order_reserve;
    assert!(free < reserve + 6, "{free} of {PAGES} pages are free");
}

/// MPA-042, MPA-052: an FPDU of 45 segments, of which four are lost, with a window behind it that
/// takes more than packet memory. What the device holds behind it is in the way of what it misses,
/// and is given up; everything gets through.
#[test]
fn a_long_fpdu_gets_through_memory_full_of_what_lies_behind_it() {
    let mut bare = open(false);
    for _ in 0..WRITES {
        bare.sender.rdma_write(LONG_STAG, 0, &pattern(LONG_OCTETS));
    }
    let segments = segments(&bare, 0);
    let lost = [1, 3, 5, 7];
    for (number, segment) in segments.iter().enumerate() {
        if !lost.contains(&number) {
            bare.send(segment.clone());
        }
    }
    assert_short(&mut bare);
    let end = bare.sender.stream().len();
    for _ in 0..2 * segments.len() {
        let accepted = bare.accepted();
        if accepted == end {
            break;
        }
        bare.send(accepted..(accepted + MSS).min(end));
        bare.rest();
    }
    assert_eq!(bare.accepted(), end);
    assert!(bare.counter(DropTcpNoRoom) > 0);
    assert_eq!(bare.counter(Fpdus), WRITES as u32);
    bare.assert_clean();
}

/// MPA-052: a stream that an error has stopped while spans followed it. Its segments in order find
/// room however full memory is, as nothing of them is kept.
#[test]
fn a_stopped_stream_goes_on_accepting_when_memory_is_short() {
    let mut bare = open(true);
    bare.sender.rdma_write(UNKNOWN_STAG, 0, &pattern(600));
    for _ in 0..4 {
        bare.sender.rdma_write(STAG, REGION_TO, &pattern(600));
    }
    let small = bare.sender.stream().len();
    for _ in 0..WRITES {
        bare.sender.rdma_write(LONG_STAG, 0, &pattern(LONG_OCTETS));
    }
    let fpdus: Vec<_> = bare.sender.fpdus()[..5].to_vec();
    // Spans that follow the stream as soon as the FPDU before them is there, which is bad.
    [4, 2, 3, 1, 0]
        .into_iter()
        .for_each(|number: usize| bare.send(fpdus[number].octets.clone()));
    bare.rest();
    assert_eq!(bare.accepted(), small);
    assert_eq!(bare.counter(RefuseDdpStag), 1);
    let segments = segments(&bare, small);
    segments[6..]
        .iter()
        .for_each(|segment| bare.send(segment.clone()));
    assert_short(&mut bare);
    for segment in &segments[..3] {
        bare.send(segment.clone());
        bare.rest();
    }
    assert_eq!(bare.accepted(), segments[2].end);
}
