//! Ranges of every alignment leave as one run of octets.
use super::*;
use rnic_hdl_tools::testkit::{bits_of, simulate, Random};
use std::collections::VecDeque;

/// Sends `jobs` jobs of random ranges with the given odds of 8; returns beats and cycles.
fn exercise<const D: usize, const O: usize, const H: usize>(
    jobs: u64,
    send: u64,
    take: u64,
    whole: bool,
) -> (u64, u64) {
    let mut random = Random::from_environment();
    let mut uut = simulate!(Joiner::<D, O, H>::default());
    let lanes = (D / 8) as u64;
    // Octets of each job not yet received, and whether any were.
    let mut expected: VecDeque<(Vec<u8>, bool)> = VecDeque::new();
    let mut data = Bits::<D>::default();
    let (mut sent, mut received, mut cycles) = (0, 0, 0);
    let (mut beats, mut beats_left) = (0, 0);
    let mut gap = false;
    while received < jobs {
        uut.beat_data.next = data;
        data = random.wide();
        uut.beat_valid.next = false;
        uut.beat_last.next = random.chance(1, 2);
        let may = !uut.almost_full.val() && !gap && sent < jobs;
        gap = false;
        if may && random.chance(send, 8) {
            if beats_left == 0 {
                beats_left = 1 + random.below(12);
                expected.push_back((Vec::new(), false));
            }
            beats_left -= 1;
            beats += 1;
            let last = beats_left == 0;
            let first = if whole { 0 } else { random.below(lanes) };
            let mut octets = match random.below(2) {
                _ if whole => lanes,
                0 => lanes - first,
                _ => 1 + random.below(lanes - first),
            };
            if last && !whole && random.chance(1, 4) {
                octets = 0;
            }
            let run: Vec<u8> = (0..lanes).map(|_| random.bits() as u8).collect();
            data = bits_of(&run);
            let range = first as usize..(first + octets) as usize;
            let job = expected.back_mut().expect("a job is open");
            job.0.extend(&run[range]);
            uut.beat_valid.next = true;
            uut.beat_first.next = first.into();
            uut.beat_octets.next = octets.into();
            uut.beat_last.next = last;
            sent += u64::from(last);
            gap = last;
        }
        uut.joined_ready.next = random.chance(take, 8);
        if uut.joined_valid.val() && uut.joined_ready.next {
            let (rest, opened) = expected.front_mut().expect("a job was sent");
            let octets = uut.joined_octets.val().to_u64() as usize;
            let last = uut.joined_last.val();
            assert_eq!(uut.joined_first.val(), !*opened);
            *opened = true;
            assert!(last || octets == D / 8, "{octets} octets");
            assert!(octets <= rest.len(), "too many octets");
            for (i, octet) in rest.drain(..octets).enumerate() {
                let lane = uut.joined_data.val().get_bits::<8>(8 * i);
                assert_eq!(lane, u64::from(octet), "lane {i}, job {received}");
            }
            if last {
                assert!(rest.is_empty(), "octets are missing");
                expected.pop_front();
                received += 1;
            }
        }
        uut.tick();
        cycles += 1;
        assert!(cycles < 200 * jobs + 1000, "no progress");
    }
    (beats, cycles)
}

#[test]
fn ranges_of_every_alignment_become_one_run_128() {
    for (send, take) in [(8, 8), (8, 3), (3, 8), (5, 5)] {
        exercise::<128, 4, 2>(150, send, take, false);
    }
}

#[test]
fn ranges_of_every_alignment_become_one_run_512() {
    for (send, take) in [(8, 8), (5, 4)] {
        exercise::<512, 6, 3>(60, send, take, false);
    }
}

#[test]
fn whole_words_pass_at_one_beat_per_cycle() {
    let (beats, cycles) = exercise::<128, 4, 2>(40, 8, 8, true);
    // One idle cycle after each job, and five from the last announcement to its beat.
    assert!(
        cycles <= beats + 40 + 6,
        "{cycles} cycles for {beats} beats"
    );
}
