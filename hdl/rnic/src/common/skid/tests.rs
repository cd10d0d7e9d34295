//! A register slice under every mix of stalls, in lockstep with its Verilog.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Pace, Simulation, StreamDriver, StreamMonitor};

type Uut = Skid<Bits<16>>;

fn connected() -> Simulation<Uut> {
    simulate!(Uut::default())
}

/// Sends `words` counted words at these paces and returns the cycles it took.
fn transfer(words: u64, offer: Pace, take: Pace) -> u64 {
    let mut uut = connected();
    let mut driver = StreamDriver::new(offer);
    let mut monitor = StreamMonitor::new(take);
    driver.extend((0..words).map(Bits::from));
    let cycles = uut.run_until(100 * words, |uut, random| {
        driver.drive(&mut uut.s_data, &mut uut.s_valid, &uut.s_ready, random);
        monitor.watch(&uut.m_data, &uut.m_valid, &mut uut.m_ready, random);
        let left = words - monitor.taken().len() as u64;
        (left > 0).then_some(left)
    });
    let received = monitor.taken().iter().map(|(_, word)| word.to_u64());
    assert_eq!(received.collect::<Vec<_>>(), (0..words).collect::<Vec<_>>());
    uut.tick();
    assert!(!uut.m_valid.val(), "a word came out that never went in");
    cycles + 1
}

#[test]
fn keeps_every_word_in_order_under_every_mix_of_stalls() {
    for (offer, take) in [(8, 8), (8, 2), (2, 8), (4, 4), (6, 5)] {
        transfer(1000, Pace::of_8(offer), Pace::of_8(take));
    }
}

#[test]
fn moves_one_word_per_cycle_with_one_cycle_of_latency() {
    assert_eq!(transfer(1000, Pace::Always, Pace::Always), 1001);
}

#[test]
fn ready_does_not_depend_on_the_sink() {
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
    lockstep!("skid", Uut::default(), 4000, |uut, random| {
        uut.reset.next = random.chance(1, 200);
        resets += u32::from(uut.reset.next);
        uut.s_valid.next = random.chance(3, 4);
        uut.s_data.next = random.wide();
        uut.m_ready.next = random.chance(2, 3);
    });
    assert!(resets > 5, "the stimulus must reach the reset");
}
