//! Invalidation by the peer's word, and data that still arrives when an STag has ended.

use crate::scene::{
    pattern, Name, Scene, BOUND_STAG, GOOD_STAG, REGION_OCTETS, REGION_TO, SHARED_STAG, STAG,
};
use rnic_abi::errors::StreamError::*;
use rnic_driver::RegionConfig;
use rnic_testbench::docs::security::Answer::Stops;

/// Octets of each Write of a burst, and how many of them there are.
const BURST_OCTETS: usize = 200;
const BURST: usize = REGION_OCTETS / BURST_OCTETS;

/// A Send with Invalidate of `stag`.
fn invalidate(scene: &mut Scene, stag: u32) {
    scene.sender().send_invalidate(stag, &pattern(20));
}

/// A good Send with Invalidate of the own STag.
fn invalidate_well(scene: &mut Scene) {
    let msn = scene.sender().send_invalidate(STAG, &pattern(30));
    scene.places(scene.buffer(0, msn), 0, &pattern(30));
}

fn write(scene: &mut Scene, offset: usize) {
    let to = REGION_TO + offset as u64;
    scene.sender().rdma_write(STAG, to, &pattern(BURST_OCTETS));
}

/// A burst of Writes to the own region, which the owner takes away when `first` of their frames are
/// there: the number of Writes placed. All of them are in memory when the driver's call returns.
fn revoke_while_writes_arrive(scene: &mut Scene, first: usize) -> usize {
    (0..BURST).for_each(|number| write(scene, number * BURST_OCTETS));
    let fpdus = scene.sender().fpdus().to_vec();
    let frames: Vec<Vec<u8>> = fpdus
        .iter()
        .map(|fpdu| scene.segment(fpdu.octets.clone()))
        .collect();
    let region = Name::Region(STAG);
    let (placed, seen) = scene.race(&frames, first, |dut| dut.deregister(STAG), region);
    let all = pattern(BURST_OCTETS).repeat(placed);
    assert_eq!(seen[..all.len()], all, "placed when the call returned");
    scene.places(region, 0, &all);
    scene.refused_is(placed);
    scene.skip_to(fpdus[BURST - 1].octets.end);
    placed
}

/// DDP-053: at any moment of a burst, with a host that takes a beat in one of twenty cycles, so
/// that writes are on their way for long: none changes an octet once the driver's call has
/// returned.
#[test]
fn a_revocation_is_over_when_the_call_returns() {
    let mut in_time = Vec::new();
    for first in 1..BURST {
        let mut scene = Scene::new(0.95);
        in_time.push(revoke_while_writes_arrive(&mut scene, first));
        scene.attacked_goes_on(false);
        scene.bystander_receives();
        scene.check(Stops(DdpStag));
    }
    println!("{in_time:?} of {BURST} Writes came in time");
    assert!(in_time.iter().all(|&placed| placed < BURST));
}

attacks! {
    /// RDMAP-014: invalidates an STag whose index nobody has.
    #[test]
    fn invalidate_an_unknown_stag(scene) => Stops(RdmapInvalidate), {
        invalidate(scene, STAG ^ 0x100);
    }

    /// RDMAP-014: invalidates with a guessed key.
    #[test]
    fn invalidate_with_a_wrong_key(scene) => Stops(RdmapInvalidate), {
        invalidate(scene, STAG ^ 1);
    }

    /// RDMAP-014, DDP-047: invalidates another domain's STag; its owner goes on using it.
    #[test]
    fn invalidate_a_foreign_stag(scene) => Stops(RdmapInvalidate), {
        invalidate(scene, GOOD_STAG);
    }

    /// RDMAP-014, DDP-048: invalidates an STag that is bound to another connection.
    #[test]
    fn invalidate_a_bound_stag(scene) => Stops(RdmapInvalidate), {
        invalidate(scene, BOUND_STAG);
    }

    /// RDMAP-014: invalidates an STag that streams of its domain share, which is not open to that.
    #[test]
    fn invalidate_a_shared_stag(scene) => Stops(RdmapInvalidate), {
        invalidate(scene, SHARED_STAG);
    }

    /// RDMAP-014: invalidates an STag twice.
    #[test]
    fn invalidate_twice(scene) => Stops(RdmapInvalidate), {
        invalidate_well(scene);
        invalidate(scene, STAG);
    }

    /// RDMAP-013, DDP-042: goes on writing behind its own Send with Invalidate, in the same burst.
    #[test]
    fn write_behind_the_invalidation(scene) => Stops(DdpStag), {
        write(scene, 0);
        scene.places(Name::Region(STAG), 0, &pattern(BURST_OCTETS));
        invalidate_well(scene);
        write(scene, 1000);
    }

    /// DDP-050, DDP-053: the owner takes the region away when half of an FPDU has arrived; the rest
    /// comes then.
    #[test]
    fn revoked_with_half_an_fpdu_there(scene) => Stops(DdpStag), {
        write(scene, 0);
        scene.deliver_to(100);
        scene.settle();
        scene.each(|dut| dut.deregister(STAG));
    }

    /// DDP-050, DDP-042: the owner renews the region under another key; data for the old one comes.
    #[test]
    fn write_with_the_key_of_before(scene) => Stops(DdpStag), {
        let region = RegionConfig { stag: STAG ^ 0x55, ..scene.region(STAG) };
        scene.each(|dut| dut.renew(&region));
        write(scene, 0);
    }

    /// DDP-053, DDP-050: the owner takes the region away while Writes arrive at the wire's rate;
    /// when the driver's call returns, no later one changes an octet.
    #[test]
    fn revoked_under_load(scene) => Stops(DdpStag), {
        let placed = revoke_while_writes_arrive(scene, BURST / 2);
        assert!((1..BURST).contains(&placed), "{placed} of {BURST} Writes came in time");
    }
}
