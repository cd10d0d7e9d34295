//! The free numbers: each is out at most once, and all of them can be.
use super::*;
use rnic_hdl_tools::testkit::lockstep;
use std::collections::VecDeque;

const NUMBERS: u64 = 256;

/// Takes and gives at random, with stretches that empty the pool and stretches that fill it.
#[test]
fn every_number_is_out_once_and_all_can_be_out() {
    let mut free: VecDeque<u64> = (0..NUMBERS).collect();
    let (mut taken, mut most, mut cycle, mut since_give) = (Vec::new(), 0, 0usize, 0);
    let uut = FreeList::<8, 9>::default();
    lockstep!("free_numbers", uut, 12_000, |uut, random| {
        let filling = (cycle / 1000) % 2 == 0;
        let reset = matches!(cycle, 0 | 7_777);
        uut.reset.next = reset;
        if cycle > 0 {
            assert_eq!(uut.used.val().index(), taken.len());
        }
        if since_give > 6 {
            let expected = !free.is_empty();
            assert_eq!(uut.available.val(), expected);
        }
        uut.take.next =
            !reset && uut.available.val() && random.chance(if filling { 4 } else { 1 }, 6);
        if uut.take.next {
            let number = uut.number.val().index() as u64;
            assert_eq!(Some(number), free.pop_front());
            taken.push(number);
        }
        uut.give.next =
            !reset && !taken.is_empty() && random.chance(if filling { 1 } else { 4 }, 6);
        since_give += 1;
        if uut.give.next {
            let place = random.below(taken.len() as u64) as usize;
            let number = taken.swap_remove(place);
            uut.given.next = number.into();
            free.push_back(number);
            since_give = 0;
        }
        if reset {
            free = (0..NUMBERS).collect();
            taken.clear();
        }
        most = most.max(taken.len());
        cycle += 1;
    });
    assert_eq!(most as u64, NUMBERS, "the pool was never empty");
}
