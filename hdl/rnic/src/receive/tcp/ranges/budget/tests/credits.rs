//! Credits: 64 can be taken, and no more.
use super::super::*;
use rnic_abi::limits::FRAGMENTS as CREDITS;
use rnic_hdl_tools::testkit::lockstep;

#[test]
fn a_credit_is_available_until_all_are_taken() {
    let (mut cycle, mut out, mut all_out) = (0, 0, 0);
    let uut = Credits::<6, 7>::default();
    lockstep!("credits", uut, 4_000, |uut, random| {
        assert_eq!(uut.available.val(), out < CREDITS);
        assert_eq!(uut.used.val().index(), out);
        all_out += usize::from(out == CREDITS);
        let taking = (cycle / 200) % 2 == 0;
        uut.reset.next = cycle == 2_111;
        uut.take.next = uut.available.val() && random.chance(if taking { 7 } else { 2 }, 8);
        // Also one that was never taken.
        uut.give.next = random.chance(if taking { 2 } else { 6 }, 8);
        let given = usize::from(uut.give.next);
        out = if uut.take.next {
            out + 1 - given
        } else {
            out - given.min(out)
        };
        if uut.reset.next {
            out = 0;
        }
        cycle += 1;
    });
    assert!(all_out > 100, "{all_out}");
}
