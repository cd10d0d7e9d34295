//! STags that a peer cannot guess: index and key come from the operating system's random source.
//!
//! A region's owner may also choose its STag itself; these are for owners that need not.

use crate::device::error::DriverError;

/// An STag whose index `is_free`, each free index but 0 and each of the 256 keys equally likely.
pub(crate) fn draw_new(is_free: impl Fn(u32) -> bool) -> Result<u32, DriverError> {
    let allowed = |stag: u32| stag >> 8 != 0 && is_free(stag >> 8);
    draw(system, u32::from_be_bytes, allowed)
}

/// The index of `present` with another key.
pub(crate) fn draw_next(present: u32) -> Result<u32, DriverError> {
    let with_key = |[key]: [u8; 1]| present & !0xff | u32::from(key);
    draw(system, with_key, |next| next != present)
}

/// The first STag made of random octets that is allowed. Most must be allowed for this to end soon.
fn draw<const N: usize>(
    mut source: impl FnMut(&mut [u8]) -> Result<(), DriverError>,
    stag: impl Fn([u8; N]) -> u32,
    allowed: impl Fn(u32) -> bool,
) -> Result<u32, DriverError> {
    loop {
        let mut octets = [0; N];
        source(&mut octets)?;
        let drawn = stag(octets);
        if allowed(drawn) {
            return Ok(drawn);
        }
    }
}

fn system(octets: &mut [u8]) -> Result<(), DriverError> {
    getrandom::fill(octets).map_err(|error| DriverError::Random {
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_abi::limits::REGIONS;
    use std::collections::{HashMap, HashSet};

    /// Draws of the measurement that `docs/security.md` quotes.
    const DRAWS: u32 = 1 << 22;

    #[test]
    fn each_region_gets_a_free_index_of_its_own() {
        let mut used = HashSet::new();
        for _ in 0..REGIONS {
            let stag = draw_new(|index| !used.contains(&index)).expect("random octets");
            assert_ne!(stag >> 8, 0);
            assert!(used.insert(stag >> 8));
        }
    }

    #[test]
    fn indices_in_use_are_drawn_again() {
        let mut drawn = [0x0000_00aa, 0x1234_5601, 0x1234_57fe].into_iter();
        let source = |octets: &mut [u8]| {
            let stag: u32 = drawn.next().expect("no draw after the one that is allowed");
            octets.copy_from_slice(&stag.to_be_bytes());
            Ok(())
        };
        let free = |stag: u32| ![0, 0x12_3456].contains(&(stag >> 8));
        assert_eq!(draw(source, u32::from_be_bytes, free), Ok(0x1234_57fe));
    }

    #[test]
    fn the_next_key_differs_and_the_index_stays() {
        let mut present = draw_new(|_| true).expect("random octets");
        for _ in 0..2_000 {
            let next = draw_next(present).expect("random octets");
            assert_eq!(next >> 8, present >> 8);
            assert_ne!(next, present);
            present = next;
        }
    }

    #[test]
    fn without_random_octets_there_is_no_stag() {
        let reason = "no entropy".to_owned();
        let source = |_: &mut [u8]| {
            Err(DriverError::Random {
                reason: reason.clone(),
            })
        };
        let drawn = draw(source, u32::from_be_bytes, |_| true);
        assert_eq!(drawn, Err(DriverError::Random { reason }));
    }

    /// Min-entropy of each octet by the estimate of the most common value (NIST SP 800-90B, 6.3.1:
    /// the upper end of the 99 % interval of its share), and the collision entropy of the index:
    /// log2 of the pairs drawn over the pairs alike. The bounds are six standard deviations off.
    #[test]
    fn measured_entropy_is_that_of_even_draws() {
        let mut octets = [[0u32; 256]; 4];
        let mut indices = HashMap::<u32, u64>::new();
        for _ in 0..DRAWS {
            let stag = draw_new(|_| true).expect("random octets");
            for (counts, octet) in octets.iter_mut().zip(stag.to_be_bytes()) {
                counts[usize::from(octet)] += 1;
            }
            *indices.entry(stag >> 8).or_default() += 1;
        }
        let draws = f64::from(DRAWS);
        let names = ["index 23:16", "index 15:8", "index 7:0", "key"];
        for (name, counts) in names.iter().zip(&octets) {
            let share = f64::from(*counts.iter().max().expect("256 of them")) / draws;
            let upper = share + 2.576 * (share * (1.0 - share) / (draws - 1.0)).sqrt();
            let bits = -upper.log2();
            println!("{name}: min-entropy at least {bits:.3} of 8 bits, {DRAWS} draws");
            assert!(bits > 7.9, "{name}: {bits}");
        }
        let alike: u64 = indices.values().map(|count| count * (count - 1) / 2).sum();
        let bits = (draws * (draws - 1.0) / 2.0 / alike as f64).log2();
        println!("index: collision entropy {bits:.3} of 24 bits, {alike} pairs alike");
        assert!(bits > 23.98, "{bits}");
    }
}
