//! Frames that are kept leave whole and in order; frames that are given up never do.
use super::*;
use rnic_hdl_tools::testkit::lockstep;
use std::collections::VecDeque;

#[test]
fn only_whole_frames_leave() {
    let (mut open, mut whole) = (Vec::<u64>::new(), VecDeque::<u64>::new());
    let (mut number, mut left, mut promised, mut taken) = (1u64, 0u64, 0u64, 0u64);
    let mut since = 0;
    lockstep!(
        "frame_store",
        FrameStore::<32, 5>::default(),
        8000,
        |uut, random| {
            uut.reset.next = since == 0;
            since += 1;
            uut.write.next = false;
            uut.commit.next = false;
            uut.rollback.next = false;
            uut.reserve.next = 0.into();
            uut.refund.next = 0.into();
            if left == 0 {
                // `free` is never more than there is: at most 8 words are in the prefetch FIFO.
                let free = uut.free.val().to_u64();
                let inside = (whole.len() + open.len()) as u64;
                assert!(
                    free + inside <= 31 + 8 && free <= 31,
                    "{free} free, {inside} inside"
                );
                let words = 1 + random.below(12);
                if since > 4 && free >= words && random.chance(1, 4) {
                    uut.reserve.next = words.into();
                    (left, promised) = (words, words);
                }
            } else if random.chance(3, 4) {
                uut.write.next = true;
                uut.data_in.next = number.into();
                open.push(number);
                number += 1;
                left -= 1;
                let fails = random.chance(1, 40);
                if fails {
                    open.clear();
                    uut.rollback.next = true;
                    uut.refund.next = promised.into();
                    left = 0;
                } else if left == 0 {
                    uut.commit.next = true;
                    whole.extend(open.drain(..));
                }
            }
            uut.read.next = random.chance(1, 2);
            if !uut.empty.val() {
                assert_eq!(Some(&uut.data_out.val().to_u64()), whole.front());
                if uut.read.next {
                    whole.pop_front();
                    taken += 1;
                }
            }
        }
    );
    assert!(taken > 1000, "{taken} words");
}
