//! STags that a peer cannot guess: index and key come from the operating system's random source.
//!
//! A region's owner may also name its STag itself ([`Device::register_region`] takes any); these
//! are for all who need not.

use crate::bar::Bar;
use crate::device::Device;
use crate::dma::Dma;
use crate::error::DriverError;

impl<B: Bar, D: Dma> Device<B, D> {
    /// An STag for a new region: an index that no region has, and a key. Each of the free indices
    /// but 0 is as likely as another, each of the 256 keys too. Nothing is reserved by it.
    ///
    /// # Errors
    /// [`DriverError::Random`] if the operating system gives no random octets.
    pub fn draw_stag(&self) -> Result<u32, DriverError> {
        let free = |stag: u32| stag >> 8 != 0 && !self.has_region(stag >> 8);
        draw(system, u32::from_be_bytes, free)
    }

    /// The STag for the next use of a region ([`Device::renew_region`]): its index, and a key that
    /// is not the present one, so that no peer writes by an STag it was told before.
    ///
    /// # Errors
    /// [`DriverError::Unknown`] without a region of that index; [`DriverError::Random`] if the
    /// operating system gives no random octets.
    pub fn draw_next_key(&self, stag: u32) -> Result<u32, DriverError> {
        let present = self.region(stag)?.stag;
        let with_key = |[key]: [u8; 1]| present & !0xff | u32::from(key);
        draw(system, with_key, |next| next != present)
    }
}

/// The first STag made of random octets that is allowed. Most must be.
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
    use crate::region::RegionConfig;
    use crate::testing::device;
    use rnic_abi::limits::REGIONS;
    use std::collections::HashMap;

    /// Draws of the measurement; the table of `docs/security.md` is of as many.
    const DRAWS: u32 = 1 << 22;

    fn region(stag: u32) -> RegionConfig {
        RegionConfig {
            stag,
            rights: 0,
            protection_domain: 1,
            connection: None,
            tagged_offset: 0,
            octets: 4096,
            address: 0x1000,
        }
    }

    #[test]
    fn as_many_regions_as_the_device_has_get_an_index_each() {
        let mut device = device();
        for _ in 0..REGIONS {
            let stag = device.draw_stag().expect("random octets");
            assert_ne!(stag >> 8, 0);
            device.register_region(&region(stag)).expect("a free index");
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
    fn the_next_key_is_another_key_of_the_same_index() {
        let mut device = device();
        let stag = device.draw_stag().expect("random octets");
        let unknown = device.draw_next_key(stag ^ 1 << 8);
        assert!(matches!(unknown, Err(DriverError::Unknown { .. })));
        device.register_region(&region(stag)).expect("a free index");
        let mut present = stag;
        for _ in 0..2_000 {
            let next = device.draw_next_key(stag).expect("random octets");
            assert_eq!(next >> 8, stag >> 8);
            assert_ne!(next, present);
            device.renew_region(&region(next)).expect("registered");
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
        let device = device();
        let mut octets = [[0u32; 256]; 4];
        let mut indices = HashMap::<u32, u64>::new();
        for _ in 0..DRAWS {
            let stag = device.draw_stag().expect("random octets");
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
