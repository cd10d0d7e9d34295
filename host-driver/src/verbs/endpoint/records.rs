//! Octets of what TCP has been given and may have to send again.
//!
//! ```text
//!  push --> [ record | record | ... ] --> pop: acknowledged
//!              |
//!              +-- a part of it that leaves: in place, or copied
//! ```
//!
//! Records have consecutive ids and go in their order, so that one is found by its id.

use rnic_iwarp::framer::Fpdu;
use std::collections::VecDeque;

/// The octets of a record.
#[derive(Debug)]
pub(super) enum Body {
    /// Octets of this process.
    Copied(Vec<u8>),
    /// An FPDU whose payload stays where it is.
    InPlace(Fpdu),
}

impl Body {
    /// Its octets.
    pub(super) fn octets(&self) -> usize {
        match self {
            Self::Copied(octets) => octets.len(),
            Self::InPlace(fpdu) => fpdu.octets(),
        }
    }
}

/// A record.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) body: Body,
    /// Where it ends in the stream of FPDUs, in octets from SeqStart, if it has some.
    pub(super) end: Option<u64>,
}

/// Records that are not acknowledged.
#[derive(Debug, Default)]
pub(super) struct Records {
    records: VecDeque<Record>,
    /// Id of the first one.
    first: u64,
    octets: usize,
}

impl Records {
    /// The id that the next record will have.
    pub(super) fn next_id(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    /// Octets of all of them.
    pub(super) fn octets(&self) -> usize {
        self.octets
    }

    /// Keep a record.
    pub(super) fn push(&mut self, record: Record) {
        self.octets += record.body.octets();
        self.records.push_back(record);
    }

    /// The oldest record is acknowledged: where it ends in the stream of FPDUs, if it is of it.
    pub(super) fn pop(&mut self) -> Option<u64> {
        let record = self.records.front()?;
        let end = record.end;
        self.octets -= record.body.octets();
        self.records.pop_front();
        self.first += 1;
        end
    }

    /// A record that is not acknowledged.
    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut Record> {
        let index = id.checked_sub(self.first)?;
        self.records.get_mut(usize::try_from(index).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(octets: usize) -> Record {
        Record {
            body: Body::Copied(vec![0; octets]),
            end: Some(10 * octets as u64),
        }
    }

    #[test]
    fn a_record_is_found_by_its_id_until_it_is_acknowledged() {
        let mut records = Records::default();
        for octets in 1..=3 {
            assert_eq!(records.next_id(), octets as u64 - 1);
            records.push(record(octets));
        }
        assert_eq!(records.octets(), 6);
        let octets =
            |records: &mut Records, id| records.get_mut(id).map(|record| record.body.octets());
        assert_eq!(octets(&mut records, 0), Some(1));
        assert_eq!(records.pop(), Some(10));
        assert_eq!(
            (octets(&mut records, 0), octets(&mut records, 2)),
            (None, Some(3))
        );
        assert_eq!(octets(&mut records, 3), None);
        assert_eq!((records.octets(), records.next_id()), (5, 3));
    }
}
