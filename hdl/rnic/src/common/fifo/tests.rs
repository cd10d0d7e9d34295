//! Order, count and stalls of the FIFO against a queue of the standard library.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};
use std::collections::VecDeque;

type Uut = Fifo<Bits<24>, 3, 4>;

fn connected(almost_full_free_words: usize) -> Simulation<Uut> {
    simulate!(Uut::new(almost_full_free_words))
}

/// Random writes and reads against a queue; the writer tries even when full.
fn walk(free_words: usize, write_of_8: u64, read_of_8: u64) {
    let mut random = Random::from_environment();
    let mut uut = connected(free_words);
    let mut model: VecDeque<u64> = VecDeque::new();
    let mut written = 0u64;
    let mut taken = 0u64;
    for _ in 0..3000 {
        let context = format!("free {free_words}");
        assert_eq!(uut.fill.val(), model.len() as u64, "{context}");
        assert_eq!(uut.full.val(), model.len() == 8, "{context}");
        assert_eq!(
            uut.almost_full.val(),
            model.len() >= 8 - free_words,
            "{context}"
        );
        if !uut.empty.val() {
            assert_eq!(uut.data_out.val(), model[0], "{context}");
        }
        let write = random.chance(write_of_8, 8);
        let read = random.chance(read_of_8, 8);
        uut.write.next = write;
        uut.data_in.next = written.into();
        uut.read.next = read;
        let reset = random.chance(1, 500);
        uut.reset.next = reset;
        let (accepts, offers) = (!uut.full.val(), !uut.empty.val());
        uut.tick();
        if reset {
            model.clear();
            continue;
        }
        if read && offers {
            model.pop_front();
            taken += 1;
        }
        if write && accepts {
            model.push_back(written);
            written += 1;
        }
    }
    assert!(taken > 500, "the walk moved only {taken} words");
}

#[test]
fn keeps_order_and_count_under_every_mix_of_stalls() {
    for free_words in [1, 3, 7] {
        for (write, read) in [(8, 8), (8, 3), (3, 8), (5, 5), (4, 6)] {
            walk(free_words, write, read);
        }
    }
}

#[test]
fn first_word_falls_through_in_one_cycle_and_then_one_word_moves_per_cycle() {
    let mut uut = connected(1);
    uut.write.next = true;
    uut.read.next = true;
    for cycle in 0..40u64 {
        uut.data_in.next = cycle.into();
        uut.tick();
        assert!(!uut.empty.val(), "after cycle {cycle}");
        assert_eq!(uut.data_out.val(), cycle);
    }
}

#[test]
#[should_panic(expected = "F = 5 must be A + 1 = 4")]
fn refuses_a_fill_width_that_cannot_hold_the_depth() {
    let _ = Fifo::<Bits<8>, 3, 5>::new(1);
}

#[test]
#[should_panic(expected = "outside 1..8")]
fn refuses_an_almost_full_mark_beyond_the_depth() {
    let _ = Uut::new(8);
}

#[test]
fn lockstep_with_verilog() {
    lockstep!("fifo", Uut::new(2), 6000, |uut, random| {
        uut.reset.next = random.chance(1, 300);
        uut.write.next = random.chance(2, 3);
        uut.data_in.next = random.wide();
        uut.read.next = random.chance(5, 8);
    });
}
