//! A transcript of a simulation: all that crossed the core's ports, with its octets, so that the
//! same can be given to a core elsewhere.
//!
//! A [`Record`](crate::Record) is for pictures and keeps no payload; this one is for repetition.

use crate::core::FrameBeat;
use pcie_sim::{Kind, Tlp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What crossed the ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A BAR request to the core.
    Request {
        /// Doublewords of its header.
        header: Vec<u32>,
        /// Octets.
        payload: Vec<u8>,
    },
    /// A completion to the core, for a read request of its own.
    Completion {
        /// Doublewords of its header.
        header: Vec<u32>,
        /// Octets.
        payload: Vec<u8>,
    },
    /// A frame from the wire.
    Frame {
        /// Octets, without FCS.
        octets: Vec<u8>,
        /// The MAC found the FCS wrong.
        error: bool,
    },
    /// A posted request or completion from the core.
    Tlp {
        /// Doublewords of its header.
        header: Vec<u32>,
        /// Octets, in whole doublewords.
        payload: Vec<u8>,
    },
    /// A read request from the core.
    Read {
        /// Doublewords of its header.
        header: Vec<u32>,
    },
}

impl Item {
    /// A packet of the root complex.
    ///
    /// # Panics
    /// If its header cannot be packed: packets of the root complex are well formed.
    pub(crate) fn to_core(tlp: &Tlp) -> Self {
        let header = tlp.header.pack().expect("well formed").to_vec();
        let payload = tlp.payload.clone();
        match tlp.header.kind {
            Kind::Cpl(_) | Kind::CplD(_) => Self::Completion { header, payload },
            _ => Self::Request { header, payload },
        }
    }
}

/// An item with its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Cycle of a frame's first beat; in which a TLP is first offered to the core, or its last beat
    /// was taken from it.
    pub start: u64,
    /// Cycle of a frame's last beat, else as `start`.
    pub end: u64,
    /// What it was.
    pub item: Item,
}

#[derive(Debug, Default)]
struct Entries {
    entries: Vec<Entry>,
    /// Place of the frame whose last beat is still to come.
    frame: Option<usize>,
}

/// A transcript in the order of the entries' starts, shared by the simulation and whoever wants it.
/// It may cross threads, as the options of a simulation do.
#[derive(Clone, Debug, Default)]
pub struct Transcript(Arc<Mutex<Entries>>);

impl Transcript {
    /// The entries so far, which leave it.
    pub fn take(&self) -> Vec<Entry> {
        std::mem::take(&mut *self.lock()).entries
    }

    pub(crate) fn push(&self, cycle: u64, item: Item) {
        self.lock().entries.push(Entry {
            start: cycle,
            end: cycle,
            item,
        });
    }

    pub(crate) fn frame_beat(&self, cycle: u64, beat: FrameBeat) {
        let mut held = self.lock();
        let place = held.frame.unwrap_or(held.entries.len());
        if place == held.entries.len() {
            let item = Item::Frame {
                octets: Vec::new(),
                error: false,
            };
            held.entries.push(Entry {
                start: cycle,
                end: cycle,
                item,
            });
        }
        held.frame = (!beat.last).then_some(place);
        let entry = &mut held.entries[place];
        entry.end = cycle;
        if let Item::Frame { octets, error } = &mut entry.item {
            octets.extend_from_slice(beat.octets);
            *error |= beat.error;
        }
    }

    /// A thread that panicked has not left it half changed: each change is one push.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_keeps_its_place_while_its_beats_come() {
        let transcript = Transcript::default();
        let beat = |octets: &'static [u8], last| FrameBeat {
            octets,
            last,
            error: last,
        };
        let read = Item::Read {
            header: vec![1, 2, 3],
        };
        transcript.frame_beat(5, beat(b"abcdefgh", false));
        transcript.push(6, read.clone());
        transcript.frame_beat(7, beat(b"i", true));
        transcript.frame_beat(9, beat(b"j", true));
        let frame = |octets: &[u8]| Item::Frame {
            octets: octets.to_vec(),
            error: true,
        };
        let entries = transcript.take();
        let seen = entries.iter().map(|entry| (entry.start, entry.end));
        assert_eq!(seen.collect::<Vec<_>>(), [(5, 7), (6, 6), (9, 9)]);
        let items: Vec<Item> = entries.into_iter().map(|entry| entry.item).collect();
        assert_eq!(items, [frame(b"abcdefghi"), read, frame(b"j")]);
        assert!(transcript.take().is_empty());
    }
}
