//! When a child has run far too long: by the time of the processors that it used, since other work
//! on the machine lengthens the clock's. A child that only waits uses none, so the clock bounds it
//! too, but by far more.

use crate::processor;
use std::time::{Duration, Instant};

/// The clock's time for each second of the processor's.
const WALL_FACTOR: u32 = 4;
/// How often a child that prints nothing is checked.
pub const STEP: Duration = Duration::from_millis(250);

/// A child's time, from its start.
#[derive(Debug)]
pub struct Bound {
    process: u32,
    begun: Instant,
    limit: Duration,
}

impl Bound {
    /// From now on, for `process`: `limit` of the processor's time.
    pub fn new(process: u32, limit: Duration) -> Self {
        Self {
            process,
            begun: Instant::now(),
            limit,
        }
    }

    /// Has it had more than its time?
    pub fn is_exceeded(&self) -> bool {
        let wall = self.begun.elapsed();
        // Without a reading the clock alone decides: it has ended, or there is no `/proc`.
        let used = processor::time(self.process).unwrap_or(Duration::ZERO);
        used > self.limit || wall > self.limit * WALL_FACTOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spinning counts, and so does waiting, but less.
    #[test]
    fn work_uses_the_time_and_waiting_does_not() {
        let limit = Duration::from_millis(400);
        let bound = Bound::new(std::process::id(), Duration::from_secs(3600));
        let before = processor::time(bound.process).expect("it runs");
        while processor::time(bound.process).expect("it runs") < before + limit {}
        assert!(!bound.is_exceeded());
        let spent = Bound::new(bound.process, limit);
        assert!(spent.is_exceeded(), "this process has used more than that");
        let mut asleep = std::process::Command::new("sleep");
        let mut asleep = asleep
            .arg("600")
            .spawn()
            .expect("a program of every system");
        let waits = Bound::new(asleep.id(), Duration::from_millis(50));
        assert!(!waits.is_exceeded());
        std::thread::sleep(Duration::from_millis(50) * WALL_FACTOR);
        assert!(waits.is_exceeded());
        asleep.kill().and_then(|()| asleep.wait()).expect("it ran");
    }
}
