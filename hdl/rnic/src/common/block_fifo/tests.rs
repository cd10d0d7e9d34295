//! Counted words in order, to the mark and to the depth, and in lockstep with Verilog.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};
use std::collections::VecDeque;

type Uut = BlockFifo<Bits<16>, 5, 6>;

fn connected(free_words: usize) -> Simulation<Uut> {
    let mut uut = simulate!(Uut::new(free_words));
    uut.pulse(|uut| &mut uut.reset);
    uut.settle();
    uut
}

/// Moves counted words with the given odds; the writer stops at `almost_full`, as those do
/// that have words on their way, and sends as many more as it said it might.
fn walk(free_words: usize, write_of_8: u64, read_of_8: u64) {
    let mut random = Random::from_environment();
    let mut uut = connected(free_words);
    let mut model = VecDeque::new();
    let (mut written, mut taken, mut on_the_way) = (0u64, 0, 0);
    for _ in 0..6000 {
        on_the_way = if uut.almost_full.val() {
            on_the_way + 1
        } else {
            0
        };
        let write = random.chance(write_of_8, 8) && on_the_way <= free_words;
        let read = random.chance(read_of_8, 8);
        uut.write.next = write;
        uut.data_in.next = (written & 0xffff).into();
        uut.read.next = read;
        uut.settle();
        assert!(!(write && uut.full.val()), "a word is lost");
        if !uut.empty.val() {
            let head = *model.front().expect("a word that was written");
            assert_eq!(uut.data_out.val(), head);
            if read {
                model.pop_front();
                taken += 1;
            }
        }
        if write {
            model.push_back(written & 0xffff);
            written += 1;
        }
        uut.tick();
    }
    assert!(taken > 500, "only {taken} words moved");
}

#[test]
fn keeps_order_and_count_under_every_mix_of_stalls() {
    for free_words in [1, 4, 12] {
        for (write, read) in [(8, 8), (8, 3), (3, 8), (5, 5)] {
            walk(free_words, write, read);
        }
    }
}

#[test]
fn the_first_word_falls_through_in_four_cycles_and_then_one_moves_per_cycle() {
    let mut uut = connected(1);
    uut.write.next = true;
    uut.read.next = true;
    for cycle in 0..100u64 {
        uut.data_in.next = cycle.into();
        uut.tick();
        assert_eq!(uut.empty.val(), cycle < 3, "after cycle {cycle}");
        if cycle >= 3 {
            assert_eq!(uut.data_out.val(), cycle - 3);
        }
    }
}

#[test]
fn holds_its_depth_and_refuses_more() {
    let mut uut = connected(3);
    uut.write.next = true;
    let mut accepted = 0;
    for cycle in 0..60u64 {
        uut.data_in.next = cycle.into();
        uut.settle();
        accepted += u32::from(!uut.full.val());
        assert!(!uut.full.val() || uut.almost_full.val());
        uut.tick();
    }
    assert_eq!(accepted, 32 + 8);
}

#[test]
fn lockstep_with_verilog() {
    lockstep!("block_fifo", Uut::new(4), 4000, |uut, random| {
        uut.reset.next = random.chance(1, 300);
        uut.write.next = random.chance(5, 8);
        uut.data_in.next = random.wide();
        uut.read.next = random.chance(1, 2);
    });
}

#[test]
#[should_panic(expected = "F = 4 must be A + 1 = 6")]
fn refuses_a_count_that_cannot_hold_the_depth() {
    let _ = BlockFifo::<Bits<8>, 5, 4>::new(1);
}
