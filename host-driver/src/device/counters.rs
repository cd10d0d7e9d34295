//! The device's counters, and how much of its shared pools is in use.

use crate::device::access::table;
use crate::device::access::Registers;
use crate::device::error::DriverError;
use rnic_abi::counters::{Counter, ALL};
use rnic_abi::limits::OUT_OF_ORDER_RECORDS;
use rnic_abi::{registers, tables};

/// The device's counters since a point in time: a reset does not clear them.
#[derive(Debug)]
pub(crate) struct Counters {
    /// Values at that time, in the order of [`ALL`].
    baseline: Vec<u32>,
}

impl Counters {
    /// Counts from now on.
    pub(crate) fn from_now(bar: &mut impl Registers) -> Result<Self, DriverError> {
        Ok(Self {
            baseline: read_all(bar)?,
        })
    }

    /// Every counter, modulo 2^32, in the order of the BAR.
    pub(crate) fn all(&self, bar: &mut impl Registers) -> Result<Vec<(Counter, u32)>, DriverError> {
        let now = read_all(bar)?;
        let counts = now.iter().zip(&self.baseline);
        let since = counts.map(|(now, before)| now.wrapping_sub(*before));
        Ok(ALL.iter().copied().zip(since).collect())
    }

    /// One counter, modulo 2^32.
    pub(crate) fn one(
        &self,
        bar: &mut impl Registers,
        counter: Counter,
    ) -> Result<u32, DriverError> {
        Ok(read(bar, counter)?.wrapping_sub(self.baseline[counter.index()]))
    }
}

fn read_all(bar: &mut impl Registers) -> Result<Vec<u32>, DriverError> {
    ALL.iter().map(|&counter| read(bar, counter)).collect()
}

fn read(bar: &mut impl Registers, counter: Counter) -> Result<u32, DriverError> {
    bar.read(registers::COUNTERS + 4 * counter.index() as u32)
}

/// What all connections together hold of the device's shared pools. Without an open connection, and
/// with nothing in flight, all are 0.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct InUse {
    /// Out-of-order ranges, of `RANGES`.
    pub ranges: u16,
    /// Runs of new octets with a further run in the same frame, of `FRAGMENTS`.
    pub fragments: u16,
    /// Spans, of `SPANS`.
    pub spans: u16,
    /// Records of FPDUs placed out of order, of `OUT_OF_ORDER_RECORDS`.
    pub records: u16,
}

impl InUse {
    /// Read from the device.
    pub(crate) fn read(bar: &mut impl Registers) -> Result<Self, DriverError> {
        let [ranges_runs, spans, ..] = table::read(bar, tables::IN_USE, 0)?;
        let [free_records, ..] = table::read(bar, tables::RECORDS, 0)?;
        Ok(Self {
            ranges: (ranges_runs & 0x1ff) as u16,
            fragments: (ranges_runs >> 16 & 0x7f) as u16,
            spans: (spans & 0x3ff) as u16,
            records: OUT_OF_ORDER_RECORDS.saturating_sub((free_records & 0x3ff) as usize) as u16,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tables;

    #[test]
    fn counts_begin_at_the_baseline_and_wrap() {
        let mut bar = Tables::default();
        let counter = ALL[1];
        bar.counters.insert(counter.index(), u32::MAX - 1);
        let counters = Counters::from_now(&mut bar).expect("it answers");
        assert_eq!(counters.one(&mut bar, counter), Ok(0));
        bar.counters.insert(counter.index(), 3);
        assert_eq!(counters.one(&mut bar, counter), Ok(5));
        let all = counters.all(&mut bar).expect("it answers");
        assert_eq!(all.len(), ALL.len());
        assert_eq!((all[0].1, all[1]), (0, (counter, 5)));
    }

    #[test]
    fn pools_are_decoded_field_by_field() {
        let mut bar = Tables::default();
        let words = [0x101 | 0x55 << 16 | 0xfe00, 0x201 | 0xfc00, 0, 0];
        bar.entries.insert((tables::IN_USE, 0), words);
        let free = OUT_OF_ORDER_RECORDS as u32 - 7;
        bar.entries.insert((tables::RECORDS, 0), [free, 0, 0, 0]);
        let expected = InUse {
            ranges: 0x101,
            fragments: 0x55,
            spans: 0x201,
            records: 7,
        };
        assert_eq!(InUse::read(&mut bar), Ok(expected));
    }
}
