//! A transcript without what does not belong in a script.
//!
//! Left out are reads of counters, with their answers: no reset clears a counter, so that a second
//! run of the script would find other values. And the reset that a driver begins with: in a script
//! the pin has just done the same, which takes as long.

use pcie_sim::{Bdf, Header, Kind};
use rnic_abi::counters;
use rnic_abi::registers::{CONTROL, CONTROL_RESET, COUNTERS};
use rnic_sim::transcript::{Entry, Item};
use rnic_sim::BAR0_ADDRESS;
use std::collections::HashSet;
use std::ops::Range;

/// Offsets of the counters in the BAR.
const COUNTER_OFFSETS: Range<u64> =
    COUNTERS as u64..COUNTERS as u64 + 4 * counters::COUNT as u64;

/// The entries that a script is made of.
pub fn relevant(entries: Vec<Entry>) -> Vec<Entry> {
    let mut filter = Filter::default();
    let kept = entries.into_iter().filter(|entry| filter.keeps(&entry.item));
    kept.collect()
}

#[derive(Default)]
struct Filter {
    /// Requester and tag of reads that were left out and are not answered.
    left_out: HashSet<(Bdf, u8)>,
    /// The driver waits for the end of its reset.
    in_reset: bool,
}

impl Filter {
    fn keeps(&mut self, item: &Item) -> bool {
        match item {
            Item::Request { header, payload } => self.keeps_request(header, payload),
            Item::Tlp { header, .. } => !answers(header).is_some_and(|id| self.left_out.remove(&id)),
            Item::Completion { .. } | Item::Frame { .. } | Item::Read { .. } => true,
        }
    }

    fn keeps_request(&mut self, header: &[u32], payload: &[u8]) -> bool {
        let Ok(header) = Header::parse(header) else {
            return true;
        };
        match header.kind {
            Kind::MRd(read) => {
                let offset = read.address - BAR0_ADDRESS;
                let polls = self.in_reset && offset == u64::from(CONTROL);
                let is_left_out = polls || COUNTER_OFFSETS.contains(&offset);
                self.in_reset = polls;
                if is_left_out {
                    self.left_out.insert((read.requester, read.tag));
                }
                !is_left_out
            }
            Kind::MWr(write) => {
                let first = payload.first_chunk().copied().map(u32::from_le_bytes);
                let is_control = write.address - BAR0_ADDRESS == u64::from(CONTROL);
                self.in_reset = is_control && first.is_some_and(|value| value & CONTROL_RESET != 0);
                !self.in_reset
            }
            _ => true,
        }
    }
}

/// Requester and tag of the read that a completion answers.
fn answers(header: &[u32]) -> Option<(Bdf, u8)> {
    match Header::parse(header).ok()?.kind {
        Kind::Cpl(answer) | Kind::CplD(answer) => Some((answer.requester, answer.tag)),
        _ => None,
    }
}
