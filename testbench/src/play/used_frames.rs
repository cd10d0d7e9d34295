//! Frames that a device in use sends, and goes on sending until it is reset.
//!
//! Both rings are full of them, with pieces at any alignment. Each octet follows from its place and
//! the frame's length, so that a frame can be distinguished from the rest of another one.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_abi::transmit_ring::ELEMENTS_MAX;
use rnic_driver::{
    Bar, Config, Device, Dma, DmaBuffer, DriverError, Piece, TransmitFrame, TransmitRing,
};

/// Lengths that frames have at most in one use.
const LENGTHS: usize = 8;
const UNITS_LOG2: u32 = 9;

/// `config` with both transmit rings.
pub fn with_rings(config: Config) -> Config {
    Config {
        control_units_log2: UNITS_LOG2,
        bulk_units_log2: UNITS_LOG2,
        ..config
    }
}

/// The octets of a frame of `length`.
fn octets_of(length: usize) -> Vec<u8> {
    (0..length)
        .map(|at| (at ^ at >> 8 ^ length) as u8)
        .collect()
}

/// Is this a frame of a use, from end to end?
pub fn is_whole(octets: &[u8]) -> bool {
    octets == octets_of(octets.len())
}

/// Fill both rings; the memory of their frames, which the device reads until it has sent them.
///
/// # Errors
/// A refusal of the driver.
pub fn fill_rings<B: Bar, D: Dma>(
    device: &mut Device<B, D>,
    random: &mut ChaCha8Rng,
) -> Result<Vec<DmaBuffer>, DriverError> {
    let mut buffers = Vec::new();
    let mut places = Vec::new();
    for number in 0..LENGTHS {
        let most = if number % 2 == 0 {
            200
        } else {
            MAX_FRAME_OCTETS
        };
        let length = random.random_range(60..=most);
        let memory = device.dma().allocate("used frames", length + 64, 64)?;
        let address = memory.address + random.random_range(0..64);
        device.dma().write(address, &octets_of(length));
        buffers.push(memory);
        places.push((address, length));
    }
    for ring in TransmitRing::ALL {
        loop {
            let (address, length) = places[random.random_range(0..LENGTHS)];
            let pieces = cut(random, address, length);
            let frame = TransmitFrame {
                pieces: &pieces,
                checksum: None,
                crc: None,
                cookie: 0,
            };
            match device.transmit(ring, &frame) {
                Ok(()) => {}
                Err(DriverError::TransmitFull { .. }) => break,
                Err(error) => return Err(error),
            }
        }
    }
    Ok(buffers)
}

/// Pieces of `length` octets from `address` on.
fn cut(random: &mut ChaCha8Rng, address: u64, length: usize) -> Vec<Piece<'static>> {
    let count = random.random_range(1..=ELEMENTS_MAX);
    let mut ends = rand::seq::index::sample(random, length - 1, count - 1).into_vec();
    ends.push(length - 1);
    ends.sort_unstable();
    let mut start = 0;
    let piece = |end: usize| {
        let octets = end + 1 - start;
        let address = address + start as u64;
        start = end + 1;
        Piece::Memory(DmaBuffer { address, octets })
    };
    ends.into_iter().map(piece).collect()
}
