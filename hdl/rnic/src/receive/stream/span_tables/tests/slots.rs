//! Free slots: none is given twice.
use super::super::*;
use rnic_abi::limits::PAGES;
use rnic_hdl_tools::testkit::{lockstep, settle};

/// A slot is out once at a time, whether it was used before or not.
#[test]
fn lockstep_with_verilog_and_no_slot_is_given_twice() {
    let (mut out, mut reused, mut cycle) = (Vec::new(), 0, 0);
    // A slot that was freed is offered again from the next cycle on.
    let mut resting = [0u8; 2];
    let mut seen = [false; FRAGMENTS];
    lockstep!(
        "free_slots",
        FreeFragments::default(),
        8000,
        |uut, random| {
            uut.reset.next = cycle == 0;
            cycle += 1;
            settle(uut);
            let resting_now: u8 = resting.iter().sum();
            let free = FRAGMENTS - out.len() - usize::from(resting_now);
            let wanted = [7, 1][(cycle / 200) % 2];
            uut.take.next = cycle > 2 && free > 0 && random.chance(wanted, 8);
            if uut.take.next {
                let slot = uut.slot.val().index();
                assert!(slot >= PAGES && !out.contains(&slot), "{slot}");
                reused += usize::from(std::mem::replace(&mut seen[slot - PAGES], true));
                out.push(slot);
            }
            uut.free_valid.next = out.len() > 1 && random.chance(8 - wanted, 8);
            resting.rotate_right(1);
            resting[0] = u8::from(uut.free_valid.next);
            if uut.free_valid.next {
                let at = random.below(out.len() as u64 - 1) as usize;
                uut.free.next = ((out.remove(at) - PAGES) as u64).into();
            }
        }
    );
    assert!(seen.iter().all(|seen| *seen) && reused > 500, "{reused}");
}
