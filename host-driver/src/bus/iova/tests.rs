use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::iter::once;

#[test]
fn the_lowest_range_that_fits_is_taken() {
    let mut space = FirstFit::new([0x1000..0x3000, 0x8000..0x10000]);
    assert_eq!(space.allocate(0x2001, 1), Some(0x8000..0xa001));
    assert_eq!(space.allocate(0x1000, 0x1000), Some(0x1000..0x2000));
    assert_eq!(space.allocate(0x1000, 0x1000), Some(0x2000..0x3000));
    assert_eq!(space.allocate(0x1000, 0x1000), Some(0xb000..0xc000));
}

/// Bus addresses of x86 machines: those of MSI messages are never given away.
#[test]
fn nothing_is_allocated_in_a_hole() {
    let hole = 0xfee0_0000_u64..0xfef0_0000;
    let mut space = FirstFit::new([0..hole.start, hole.end..1 << 33]);
    let mut taken = 0;
    while let Some(range) = space.allocate(1 << 20, 1 << 20) {
        assert!(
            range.end <= hole.start || range.start >= hole.end,
            "{range:x?}"
        );
        taken += 1;
    }
    assert_eq!(taken, (1 << 13) - 1);
}

#[test]
fn alignment_is_kept_and_what_it_skips_stays_free() {
    let mut space = FirstFit::new(once(0x1001..0x9000));
    assert_eq!(space.allocate(0x10, 0x4000), Some(0x4000..0x4010));
    assert_eq!(space.allocate(0x2fff, 1), Some(0x1001..0x4000));
    assert_eq!(space.allocate(0x10, 0x4000), Some(0x8000..0x8010));
    assert_eq!(space.allocate(0x10, 0x4000), None);
}

#[test]
fn a_full_space_has_room_again_when_its_parts_are_free() {
    let whole = 0x1000..0x5000;
    let mut space = FirstFit::new(once(whole.clone()));
    let parts: Vec<_> = (0..4)
        .map(|_| space.allocate(0x1000, 1).expect("room"))
        .collect();
    assert_eq!(space.allocate(1, 1), None);
    for part in [1, 3, 0, 2] {
        space.free(parts[part].clone());
    }
    assert_eq!(space, FirstFit::new(once(whole.clone())));
    assert!(space.is_free(&whole));
    assert_eq!(space.allocate(0x4001, 1), None);
    assert_eq!(space.allocate(0x4000, 1), Some(whole));
}

#[test]
fn the_end_of_all_addresses_overflows_nothing() {
    let mut space = FirstFit::new(once(u64::MAX - 0x10..u64::MAX));
    assert_eq!(space.allocate(1, 0x1000), None);
    assert_eq!(space.allocate(u64::MAX, 1), None);
    assert_eq!(space.allocate(0x10, 1), Some(u64::MAX - 0x10..u64::MAX));
}

#[test]
#[should_panic(expected = "is free already")]
fn what_is_free_is_not_freed_again() {
    let mut space = FirstFit::new(once(0..0x1000));
    let range = space.allocate(0x100, 1).expect("room");
    space.free(range.clone());
    space.free(range);
}

/// An allocator that looks at each address.
struct Naive {
    is_free: Vec<bool>,
}

impl Naive {
    fn allocate(&mut self, octets: usize, align: usize) -> Option<Range<u64>> {
        let mut starts = (0..self.is_free.len()).step_by(align);
        let fits = |&start: &usize| {
            let range = self.is_free.get(start..start + octets);
            range.is_some_and(|range| range.iter().all(|is_free| *is_free))
        };
        let start = starts.find(fits)?;
        self.is_free[start..start + octets].fill(false);
        Some(start as u64..(start + octets) as u64)
    }

    fn free(&mut self, range: &Range<u64>) {
        self.is_free[range.start as usize..range.end as usize].fill(true);
    }
}

/// To replay a failure, run this with the seed that it printed alone.
#[test]
fn random_allocations_are_those_of_a_naive_allocator() {
    for seed in 0..40 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let hole = 200..230;
        let mut space = FirstFit::new([3..hole.start, hole.end..500]);
        let mut naive = Naive {
            is_free: (0..500_u64)
                .map(|at| at >= 3 && !hole.contains(&at))
                .collect(),
        };
        let mut held = Vec::new();
        for step in 0..400 {
            if random.random_bool(0.45) && !held.is_empty() {
                let range: Range<u64> = held.swap_remove(random.random_range(0..held.len()));
                naive.free(&range);
                assert!(!space.is_free(&range));
                space.free(range.clone());
                assert!(space.is_free(&range));
            } else {
                let (octets, align) = (random.random_range(1..40), 1 << random.random_range(0..6));
                let expected = naive.allocate(octets, align);
                let found = space.allocate(octets as u64, align as u64);
                assert_eq!(
                    found, expected,
                    "seed {seed}, step {step}: {octets}, {align}"
                );
                held.extend(found);
            }
        }
        held.into_iter().for_each(|range| space.free(range));
        let expected = FirstFit::new([3..hole.start, hole.end..500]);
        assert_eq!(space, expected, "seed {seed}: all is free");
    }
}
