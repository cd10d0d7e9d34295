//! Invalidation by the peer's word, and data that still arrives when an STag has ended.

use crate::scene::{
    pattern, Name, Scene, BOUND_STAG, GOOD_STAG, REGION_OCTETS, REGION_TO, SHARED_STAG, STAG,
};
use rnic_abi::errors::StreamError::*;
use rnic_driver::{DriverError, RegionConfig};
use rnic_testbench::docs::security::Answer::Stops;
use rnic_testbench::play::dut::Dut;
use std::ops::Range;

/// Octets of each Write of a burst, and how many of them there are.
const BURST_OCTETS: usize = 200;
const BURST: usize = REGION_OCTETS / BURST_OCTETS;
/// Octets of the Writes of a burst that fills the queue of commands: a long one keeps placement
/// busy, short ones take the places after it, and some of those that follow wait at the door.
const DOOR: [usize; 32] = {
    let mut octets = [8; 32];
    octets[0] = 1200;
    let mut late = 22;
    while late < 32 {
        octets[late] = 300;
        late += 1;
    }
    octets
};

/// Of the moments of a burst a short run takes one in so many.
const SHORT_ONE_OF: usize = 2;

/// A Send with Invalidate of `stag`.
fn invalidate(scene: &mut Scene, stag: u32) {
    scene.sender().send_invalidate(stag, &pattern(20));
}

/// A good Send with Invalidate of the own STag.
fn invalidate_well(scene: &mut Scene) {
    let msn = scene.sender().send_invalidate(STAG, &pattern(30));
    scene.places(scene.buffer(0, msn), 0, &pattern(30));
}

fn write(scene: &mut Scene, offset: usize, octets: usize) {
    let to = REGION_TO + offset as u64;
    scene.sender().rdma_write(STAG, to, &pattern(octets));
}

/// How an owner ends the use of its region's STag.
type Revoke = fn(&mut dyn Dut, &RegionConfig) -> Result<(), DriverError>;

fn take_away(dut: &mut dyn Dut, region: &RegionConfig) -> Result<(), DriverError> {
    dut.deregister(region.stag)
}

fn change_the_key(dut: &mut dyn Dut, region: &RegionConfig) -> Result<(), DriverError> {
    dut.renew(&RegionConfig {
        stag: region.stag ^ 0x55,
        ..*region
    })
}

/// A burst of Writes of `octets` each to the own region, back to back, whose STag the owner
/// ends when `first` of their frames are there: the number of Writes placed. All of them are in
/// memory when the driver's call returns.
fn revoke_while_writes_arrive(
    scene: &mut Scene,
    octets: &[usize],
    first: usize,
    revoke: Revoke,
) -> usize {
    let mut offset = 0;
    for &octets in octets {
        write(scene, offset, octets);
        offset += octets;
    }
    let fpdus = scene.sender().fpdus().to_vec();
    let frames: Vec<Vec<u8>> = fpdus
        .iter()
        .map(|fpdu| scene.segment(fpdu.octets.clone()))
        .collect();
    let region = Name::Region(STAG);
    let config = scene.region(STAG);
    let (placed, seen) = scene.race(&frames, first, |dut| revoke(dut, &config), region);
    let all: Vec<u8> = octets[..placed]
        .iter()
        .flat_map(|&octets| pattern(octets))
        .collect();
    let differs = (0..all.len()).find(|&octet| seen[octet] != all[octet]);
    assert_eq!(differs, None, "an octet was placed after the call returned");
    scene.places(region, 0, &all);
    scene.refused_is(placed);
    scene.skip_to(fpdus[fpdus.len() - 1].octets.end);
    placed
}

/// Revocations of a burst at several moments, with a host that takes a beat in one of twenty
/// cycles, so that writes are on their way for long: the Writes that came in time.
fn revocations(octets: &[usize], moments: Range<usize>, revoke: Revoke) -> Vec<usize> {
    let race = |first| {
        let mut scene = Scene::new(0.95);
        let placed = revoke_while_writes_arrive(&mut scene, octets, first, revoke);
        scene.attacked_goes_on(false);
        scene.bystander_receives();
        scene.check(Stops(DdpStag));
        placed
    };
    let moments = rnic_effort::some_of("moments of a burst", moments, SHORT_ONE_OF);
    let in_time: Vec<usize> = moments.map(race).collect();
    println!("{in_time:?} of {} Writes came in time", octets.len());
    assert!(in_time.iter().all(|&placed| placed < octets.len()));
    in_time
}

/// DDP-053: at any moment of a burst: none changes an octet once the driver's call has returned.
#[test]
fn a_revocation_is_over_when_the_call_returns() {
    revocations(&[BURST_OCTETS; BURST], 1..BURST, take_away);
}

/// DDP-053: the same when Writes that were checked before wait where placement takes no more.
#[test]
fn a_revocation_is_over_with_writes_at_the_door_of_placement() {
    for revoke in [take_away as Revoke, change_the_key] {
        let in_time = revocations(&DOOR, 19..DOOR.len(), revoke);
        assert!(
            in_time.iter().any(|&placed| placed > 19),
            "none was at the door"
        );
    }
}

attacks! {
    /// RDMAP-014: invalidates an STag whose index is not registered.
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

    /// RDMAP-013, DDP-042: goes on writing after its own Send with Invalidate, in the same burst.
    #[test]
    fn write_after_the_invalidation(scene) => Stops(DdpStag), {
        write(scene, 0, BURST_OCTETS);
        scene.places(Name::Region(STAG), 0, &pattern(BURST_OCTETS));
        invalidate_well(scene);
        write(scene, 1000, BURST_OCTETS);
    }

    /// DDP-050, DDP-053: the owner takes the region away when half of an FPDU has arrived; the rest
    /// comes then.
    #[test]
    fn revoked_with_half_an_fpdu_there(scene) => Stops(DdpStag), {
        write(scene, 0, BURST_OCTETS);
        scene.deliver_to(100);
        scene.settle();
        scene.each(|dut| dut.deregister(STAG));
    }

    /// DDP-050, DDP-042: the owner renews the region under another key; data for the old one comes.
    #[test]
    fn write_with_the_previous_key(scene) => Stops(DdpStag), {
        let region = RegionConfig { stag: STAG ^ 0x55, ..scene.region(STAG) };
        scene.each(|dut| dut.renew(&region));
        write(scene, 0, BURST_OCTETS);
    }

    /// DDP-053, DDP-050: the owner takes the region away while Writes arrive at the wire's rate;
    /// when the driver's call returns, no later one changes an octet.
    #[test]
    fn revoked_under_load(scene) => Stops(DdpStag), {
        let burst = [BURST_OCTETS; BURST];
        let placed = revoke_while_writes_arrive(scene, &burst, BURST / 2, take_away);
        assert!((1..BURST).contains(&placed), "{placed} of {BURST} Writes came in time");
    }
}
