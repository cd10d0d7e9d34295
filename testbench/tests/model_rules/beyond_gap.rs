//! What FPDUs beyond a gap may have left in memory before their turn: the model's notes.
//!
//! Segments of whole FPDUs go in, in any order; the bus addresses that the model has noted come
//! out. It has no cycles: what counts is the order of segments, posts and changes of regions.

use crate::rig::{buffer_address, pattern, region, Rig, MARKED, REGION_TO, STAG};
use rnic_abi::errors::StreamError;
use rnic_testbench::traffic::Sender;
use rnic_wire::ddp::errors::DDP_BOUNDS;
use rnic_wire::ddp::terminate::TerminateRepr;
use std::ops::Range;

/// Payload of each FPDU, so long that a marker stands in it.
const OCTETS: usize = 600;

/// Bus addresses that are noted.
fn noted(rig: &Rig) -> Vec<u64> {
    let notes = rig.model.out_of_order_placements();
    notes.map(|note| note.address).collect()
}

/// One segment with these FPDUs of the stream.
fn arrive(rig: &mut Rig, fpdus: Range<usize>) {
    let sent = &rig.sender.fpdus()[fpdus];
    let (first, last) = (&sent[0].octets, &sent[sent.len() - 1].octets);
    let octets = first.start..last.end;
    rig.segment(octets.start, octets.end);
}

/// MPA-044, MPA-045: an error stops the stream before a span. FPDUs of the span may still be
/// placed until the receivers are idle.
#[test]
fn after_an_error_a_span_is_read_until_the_receivers_are_idle() {
    let mut rig = Rig::new(MARKED);
    let stag_unknown = STAG ^ 1 << 8;
    let places = [0, 0, 1000, 2000, 3000];
    let stags = [STAG, stag_unknown, STAG, STAG, STAG];
    for (place, stag) in places.into_iter().zip(stags) {
        rig.sender
            .rdma_write(stag, REGION_TO + place, &pattern(OCTETS));
    }
    let at = |place: u64| region().address + place;
    arrive(&mut rig, 2..3);
    assert_eq!(noted(&rig), [at(1000)]);
    arrive(&mut rig, 0..2);
    assert_eq!(rig.stopped(), Some(StreamError::DdpStag));
    arrive(&mut rig, 3..4);
    assert_eq!(noted(&rig), [at(1000), at(2000)]);
    rig.model.mark_idle();
    arrive(&mut rig, 4..5);
    assert_eq!(noted(&rig), [at(1000), at(2000)]);
    let untouched = rig.region()[OCTETS..].iter().all(|&octet| octet == 0);
    assert!(untouched, "only what was in order is placed");
}

/// Two Sends, one of them beyond a gap, what `third` sends, a Terminate, and a Send that is not
/// delivered any more.
fn terminated(third: impl Fn(&mut Sender, &[u8])) -> Rig {
    let mut rig = Rig::new(MARKED);
    let octets = pattern(OCTETS);
    rig.sender.send(&octets);
    rig.sender.send(&octets);
    third(&mut rig.sender, &octets);
    rig.sender.terminate(&TerminateRepr {
        cause: DDP_BOUNDS,
        segment_length: None,
        ddp_header: &[],
        rdmap_header: &[],
    });
    rig.post(0, 4);
    rig.sender.send(&octets);
    rig
}

/// With a Send that invalidates the region.
fn invalidated_and_terminated() -> Rig {
    terminated(|sender, octets| {
        sender.send_invalidate(STAG, octets);
    })
}

/// MPA-045, RDMAP-020: a receiver that is still in the span when its stream has come further reads
/// on with the region that the stream has invalidated since; so what follows a Terminate may be in
/// memory, and of what was delivered nothing is left open.
#[test]
fn what_follows_a_terminate_may_be_placed_with_a_region_that_was_valid() {
    let mut rig = invalidated_and_terminated();
    arrive(&mut rig, 1..2);
    assert_eq!(noted(&rig), [buffer_address(0, 2)]);
    arrive(&mut rig, 0..1);
    arrive(&mut rig, 2..3);
    arrive(&mut rig, 3..4);
    assert!(noted(&rig).is_empty(), "all of it is delivered");
    arrive(&mut rig, 4..5);
    assert_eq!(noted(&rig), [buffer_address(0, 4)]);
    let untouched = rig.buffer(0, 4).iter().all(|&octet| octet == 0);
    assert!(untouched, "the model places what is in order");
}

/// MPA-045: a receiver that had read an FPDU of the span before the owner took its region away goes
/// on after it.
#[test]
fn what_follows_an_fpdu_of_a_region_that_is_gone_may_be_placed() {
    let mut rig = terminated(|sender, octets| sender.rdma_write(STAG, REGION_TO, octets));
    arrive(&mut rig, 1..2);
    arrive(&mut rig, 0..1);
    arrive(&mut rig, 2..3);
    rig.model.deregister(STAG);
    arrive(&mut rig, 3..4);
    arrive(&mut rig, 4..5);
    assert_eq!(noted(&rig), [buffer_address(0, 3)]);
}

/// MPA-045: once the receivers are idle, no receiver is in the span any more.
#[test]
fn what_follows_a_terminate_is_not_placed_once_the_receivers_were_idle() {
    let mut rig = invalidated_and_terminated();
    arrive(&mut rig, 1..2);
    arrive(&mut rig, 0..1);
    arrive(&mut rig, 2..3);
    rig.model.mark_idle();
    arrive(&mut rig, 3..4);
    arrive(&mut rig, 4..5);
    assert!(noted(&rig).is_empty());
}

/// MPA-045: the same with a region that is taken away: its owner has waited for the receivers.
#[test]
fn a_region_that_its_owner_took_away_serves_no_fpdu() {
    let mut rig = Rig::new(MARKED);
    for place in [0, 1000, 2000] {
        rig.sender
            .rdma_write(STAG, REGION_TO + place, &pattern(OCTETS));
    }
    arrive(&mut rig, 1..2);
    assert_eq!(noted(&rig), [region().address + 1000]);
    rig.model.deregister(STAG);
    arrive(&mut rig, 2..3);
    assert_eq!(noted(&rig), [region().address + 1000]);
    rig.model.register(&region());
    let both = [region().address + 1000, region().address + 2000];
    assert_eq!(noted(&rig), both);
}
