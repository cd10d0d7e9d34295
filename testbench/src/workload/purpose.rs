//! Random numbers by purpose: a change in one use leaves the others as they were.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What a generator is for; each has a stream of random numbers of its own.
#[derive(Copy, Clone, Debug)]
pub enum Purpose {
    /// Messages and start-up frames.
    Content = 0,
    /// Borders of segments.
    Cuts = 1,
    /// Faults of streams and segments.
    Faults = 2,
    /// Wrong bits of frames.
    Bits = 3,
    /// Turns of the connections.
    Turns = 4,
    /// Oddities of segments.
    Oddities = 5,
    /// Oddities of messages, and keys of STags.
    OddMessages = 6,
}

/// A generator for one purpose in direction number `direction` of a capture.
pub fn generator(seed: u64, purpose: Purpose, direction: usize) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream((purpose as u64) << 32 | direction as u64);
    generator
}
