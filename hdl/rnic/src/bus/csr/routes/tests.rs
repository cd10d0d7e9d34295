//! Every pulse reaches its counter, alone.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, settle, tick, Random};

/// The counters that pulse one cycle after `drive`.
fn counted(drive: impl FnOnce(&mut CounterRoutes)) -> Vec<Counter> {
    let mut uut = CounterRoutes::default();
    uut.connect_all();
    settle(&mut uut);
    drive(&mut uut);
    tick(&mut uut, |uut| &mut uut.clock);
    let counts = uut.counts.val();
    let pulsed = |counter: &&Counter| counts.get_bit(counter.index());
    rnic_abi::counters::ALL
        .iter()
        .filter(pulsed)
        .copied()
        .collect()
}

#[test]
fn each_pulse_is_one_counter() {
    for (bit, counter) in FRONT_END.iter().enumerate() {
        assert_eq!(
            counted(|uut| uut.front_end.next = (1u64 << bit).into()),
            [*counter]
        );
    }
    for (bit, counter) in TCP.iter().enumerate() {
        assert_eq!(
            counted(|uut| uut.tcp.next = (1u64 << bit).into()),
            [*counter]
        );
    }
    for (bit, counter) in PLACEMENT.iter().enumerate() {
        assert_eq!(
            counted(|uut| uut.placement.next = (1u64 << bit).into()),
            [*counter]
        );
    }
    assert_eq!(
        counted(|uut| uut.no_page.next = true),
        [Counter::DropNoPage]
    );
    assert_eq!(counted(|uut| uut.fpdu.next = true), [Counter::Fpdus]);
    let closed = counted(|uut| uut.post_closed.next = true);
    assert_eq!(closed, [Counter::RefusePostClosed]);
    let full = counted(|uut| uut.post_full.next = true);
    assert_eq!(full, [Counter::RefusePostFull]);
    assert_eq!(counted(|_| ()), []);
}

#[test]
fn each_refusal_counts_as_its_error() {
    for error in rnic_abi::errors::ALL {
        let counted = counted(|uut| {
            uut.error_number.next = (error as u64).into();
            uut.error_valid.next = true;
        });
        assert_eq!(counted, [error.counter()], "{error:?}");
    }
}

#[test]
fn lockstep_with_verilog() {
    lockstep(
        "counter_routes",
        CounterRoutes::default(),
        4000,
        |uut| &mut uut.clock,
        |uut, random: &mut Random| {
            uut.front_end.next = random.below(1 << 8).into();
            uut.no_page.next = random.chance(1, 2);
            uut.tcp.next = random.below(1 << 10).into();
            uut.fpdu.next = random.chance(1, 2);
            uut.post_closed.next = random.chance(1, 2);
            uut.post_full.next = random.chance(1, 2);
            uut.error_number.next = random.below(21).into();
            uut.error_valid.next = random.chance(1, 2);
            uut.placement.next = random.below(1 << 4).into();
        },
    );
}
