//! Every way into a reset leads through all of it.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};

/// A sequencer after the pin, in Ready.
fn ready() -> Simulation<ResetSequencer> {
    let mut uut = simulate!(ResetSequencer::default());
    uut.settle();
    uut.pulse(|uut| &mut uut.reset);
    for _ in 0..RESET_CYCLES {
        assert!(uut.resetting.val());
        uut.tick();
    }
    assert!(!uut.resetting.val() && !uut.hold.val() && !uut.room_reset.val());
    uut
}

/// Rooms are in reset for the whole sweep, and posted requests are held until the end.
fn expect_sweep_and_settle(uut: &mut Simulation<ResetSequencer>) {
    for cycle in 0..RESET_CYCLES {
        assert!(uut.resetting.val() && uut.hold.val(), "cycle {cycle}");
        assert_eq!(uut.room_reset.val(), cycle < SWEEP_CYCLES, "cycle {cycle}");
        uut.tick();
    }
    assert!(!uut.resetting.val() && !uut.hold.val() && !uut.room_reset.val());
}

#[test]
fn a_request_waits_for_the_packet_under_way_with_the_rooms_at_work() {
    let mut random = Random::from_environment();
    let mut uut = ready();
    for _ in 0..3 {
        uut.pulse(|uut| &mut uut.request);
        for _ in 0..random.below(300) {
            assert!(uut.resetting.val() && uut.hold.val() && !uut.room_reset.val());
            // A second request while the first one is under way changes nothing.
            uut.request.next = random.chance(1, 3);
            uut.tick();
        }
        uut.request.next = false;
        uut.pulse(|uut| &mut uut.held);
        uut.tick();
        expect_sweep_and_settle(&mut uut);
    }
}

#[test]
fn the_pin_begins_a_whole_sweep_in_every_state() {
    let mut random = Random::from_environment();
    let mut uut = ready();
    for _ in 0..8 {
        if random.chance(1, 2) {
            uut.pulse(|uut| &mut uut.request);
            if random.chance(3, 4) {
                uut.pulse(|uut| &mut uut.held);
            }
        }
        let cycles = random.below(RESET_CYCLES);
        for _ in 0..cycles {
            uut.tick();
        }
        uut.pulse(|uut| &mut uut.reset);
        expect_sweep_and_settle(&mut uut);
    }
}

#[test]
fn lockstep_with_verilog() {
    lockstep!(
        "reset_sequencer",
        ResetSequencer::default(),
        20_000,
        |uut, random| {
            uut.reset.next = random.chance(1, 3_000);
            uut.request.next = random.chance(1, 20);
            uut.held.next = random.chance(1, 20);
        }
    );
}
