//! What counters do over time.
//!
//! The device counts modulo 2^32. A difference of two readings is taken modulo 2^32 as well, so it
//! is right as long as a counter moves by less than 2^32 between them: at 100 Gb/s that is half a
//! minute of the shortest frames.

use crate::source::Values;
use std::collections::BTreeMap;
use std::time::Duration;

/// Totals of counters in 64 bits, in the order of the device; a reading is its total modulo 2^32.
#[derive(Debug)]
pub(crate) struct Totals(Vec<(String, u64)>);

impl Totals {
    /// Begins with what a first reading has.
    pub(crate) fn new(first: Values) -> Self {
        let totals = first.into_iter().map(|(name, value)| (name, value.into()));
        Self(totals.collect())
    }

    /// Another reading; what each counter has moved by since the one before.
    pub(crate) fn add(&mut self, now: Values) -> Vec<(String, u32)> {
        let before: BTreeMap<String, u64> = std::mem::take(&mut self.0).into_iter().collect();
        let mut moved = Vec::new();
        for (name, value) in now {
            let total = before.get(&name).copied().unwrap_or_default();
            let by = value.wrapping_sub(total as u32);
            self.0.push((name.clone(), total + u64::from(by)));
            moved.push((name, by));
        }
        moved
    }

    /// In the order of the device.
    pub(crate) fn totals(&self) -> &[(String, u64)] {
        &self.0
    }
}

/// Moves in `elapsed` as rates per second.
pub(crate) fn per_second(moved: &[(String, u32)], elapsed: Duration) -> Vec<(String, f64)> {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let rates = moved
        .iter()
        .map(|(name, by)| (name.clone(), f64::from(*by) / seconds));
    rates.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(values: [u32; 2]) -> Values {
        let names = ["frames", "fpdus"].map(str::to_owned);
        names.into_iter().zip(values).collect()
    }

    #[test]
    fn a_counter_that_wraps_has_moved_forward() {
        let mut totals = Totals::new(values([u32::MAX - 1, 5]));
        let moved = totals.add(values([3, 5]));
        assert_eq!(moved, values([5, 0]));
        totals.add(values([3, 6]));
        let sums: Vec<u64> = totals.totals().iter().map(|(_, total)| *total).collect();
        assert_eq!(sums, [(1 << 32) + 3, 6]);
    }

    #[test]
    fn rates_are_per_second() {
        let rates = per_second(&values([5, 0]), Duration::from_millis(500));
        assert_eq!(
            rates,
            [("frames".to_owned(), 10.0), ("fpdus".to_owned(), 0.0)]
        );
    }
}
