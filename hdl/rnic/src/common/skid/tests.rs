//! A register slice under every mix of stalls, in lockstep with its Verilog.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};

type Uut = Skid<Bits<16>>;

fn connected() -> Simulation<Uut> {
    simulate!(Uut::default())
}

fn clock(uut: &mut Uut) -> &mut Signal<In, Clock> {
    &mut uut.clock
}

/// Sends `words` counted words with the given stall odds and returns the cycles it took.
fn transfer(words: u64, offer_of_8: u64, take_of_8: u64) -> u64 {
    let mut random = Random::from_environment();
    let mut uut = connected();
    let (mut sent, mut received, mut cycles) = (0u64, 0u64, 0u64);
    let mut offering = false;
    while received < words {
        // A source holds its word until it is taken.
        offering = sent < words && (offering || random.chance(offer_of_8, 8));
        uut.s_valid.next = offering;
        uut.s_data.next = (sent & 0xffff).into();
        uut.m_ready.next = random.chance(take_of_8, 8);
        let (ready, valid) = (uut.s_ready.val(), uut.m_valid.val());
        if valid {
            assert_eq!(uut.m_data.val(), received & 0xffff, "cycle {cycles}");
        }
        received += u64::from(valid && uut.m_ready.next);
        if offering && ready {
            sent += 1;
            offering = false;
        }
        uut.tick();
        cycles += 1;
        assert!(cycles < 100 * words, "no progress");
    }
    assert!(!uut.m_valid.val(), "a word came out that never went in");
    cycles
}

#[test]
fn keeps_every_word_in_order_under_every_mix_of_stalls() {
    for (offer, take) in [(8, 8), (8, 2), (2, 8), (4, 4), (6, 5)] {
        transfer(1000, offer, take);
    }
}

#[test]
fn moves_one_word_per_cycle_with_one_cycle_of_latency() {
    assert_eq!(transfer(1000, 8, 8), 1001);
}

#[test]
fn ready_does_not_look_at_the_sink_in_the_same_cycle() {
    let mut uut = connected();
    uut.s_valid.next = true;
    uut.tick();
    assert!(uut.s_ready.val(), "one word inside, one place free");
    uut.tick();
    assert!(!uut.s_ready.val(), "two words inside");
    uut.m_ready.next = true;
    uut.settle();
    assert!(!uut.s_ready.val(), "the free place shows one cycle later");
}

#[test]
fn lockstep_with_verilog() {
    let mut resets = 0;
    lockstep("skid", Uut::default(), 4000, clock, |uut, random| {
        uut.reset.next = random.chance(1, 200);
        resets += u32::from(uut.reset.next);
        uut.s_valid.next = random.chance(3, 4);
        uut.s_data.next = random.wide();
        uut.m_ready.next = random.chance(2, 3);
    });
    assert!(resets > 5, "the stimulus must reach the reset");
}
