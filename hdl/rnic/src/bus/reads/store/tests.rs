//! Beats of any alignment land where they belong, and nothing beside them is written.
use super::*;
use rnic_hdl_tools::testkit::{bits_of_words, lockstep, simulate, words_of, Random};
use std::collections::VecDeque;

/// Random beats at random places against a plain array.
fn exercise<const D: usize, const L: usize, const A: usize, const G: usize, const H: usize>() {
    let mut uut = simulate!(ReadStore::<D, L, A, G, H>::default());
    let mut random = Random::from_environment();
    let mut memory = vec![0u32; (1 << A) * 128];
    let mut data: VecDeque<Vec<u32>> = VecDeque::from(vec![vec![0; L]; CHECK_CYCLES]);
    for _ in 0..3000 {
        // The payload comes before what is known of it.
        let words: Vec<u32> = (0..L).map(|_| random.bits() as u32).collect();
        uut.completion_data.next = bits_of_words(&words);
        data.push_back(words);
        let (tag, dword) = (random.below(1 << A), random.below(128));
        let lanes = random.below(1 << L);
        uut.write_valid.next = random.chance(3, 4);
        uut.write_tag.next = tag.into();
        uut.write_dword.next = dword.into();
        uut.write_lanes.next = lanes.into();
        let beat = data.pop_front().expect("four beats are inside");
        for (lane, word) in beat.iter().enumerate() {
            if uut.write_valid.next && lanes >> lane & 1 == 1 {
                let place = (dword as usize + lane) % 128;
                memory[tag as usize * 128 + place] = *word;
            }
        }
        uut.tick();
    }
    uut.write_valid.next = false;
    uut.ticks(2);
    for address in 0..512 {
        uut.read_address.next = (address as u64).into();
        uut.ticks(2);
        let found: [u32; L] = words_of(uut.read_data.val());
        assert_eq!(
            found[..],
            memory[address * L..(address + 1) * L],
            "word {address}"
        );
    }
}

#[test]
fn beats_land_in_their_place_128() {
    exercise::<128, 4, 4, 2, 1>();
}

#[test]
fn beats_land_in_their_place_512() {
    exercise::<512, 16, 6, 4, 2>();
}

#[test]
fn lockstep_with_verilog() {
    let store = ReadStore::<128, 4, 4, 2, 1>::default();
    lockstep!("read_store", store, 3000, |uut, random| {
        uut.completion_data.next = random.wide();
        uut.write_valid.next = random.chance(3, 4);
        uut.write_tag.next = random.below(16).into();
        uut.write_dword.next = random.wide();
        uut.write_lanes.next = random.wide();
        uut.read_address.next = random.wide();
    });
}
