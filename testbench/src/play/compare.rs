//! RTL against model: every difference is counted, the first ones are described.
//!
//! | what | when | left out |
//! |---|---|---|
//! | verdicts on segments, slots of the host ring | when idle, in one order | nothing |
//! | FPDUs, completion entries and their queues | when idle, in the order of each connection: the hardware serves connections independently of each other | whether an FPDU was placed out of order, which depends on the cycle |
//! | what an entry announces | in memory when the entry is written | Read Responses: but for their last octets, the entry names their end alone; of a message of more than a mebibyte all but its last one |
//! | every mapped octet that either has written | when idle, and when all connections are closed | octets where an FPDU beyond a gap that passes every check may have been placed: there the model's octet or the FPDU's |
//! | counters | at the end | nothing |
//!
//! [`cut_off`](super::cut_off) lists what is left out for a connection closed in mid-traffic.

use crate::play::cut_off::CutOff;
use crate::play::difference::{octets, Difference, What};
use crate::play::dut::{Dut, Entry};
use crate::play::tally::Tally;
use rangemap::RangeSet;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Debug;
use std::ops::{Range, RangeInclusive};

/// Differences described; the rest are only counted.
const DESCRIBED_MAX: usize = 20;
/// Octets of memory that are compared at a time.
const PART_OCTETS: u64 = 1 << 20;

/// Memory that the receivers may write, and what it is for.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Bus address of its first octet.
    pub address: u64,
    /// Octets.
    pub octets: usize,
    /// Flow whose region or buffer it is.
    pub flow: usize,
    /// Region or buffer.
    pub what: What,
    /// Its flow was closed in the middle of its traffic: octets that the model placed by then the
    /// hardware may have left as they were, zero.
    pub cut_short: bool,
}

/// Differences found so far.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// How many.
    pub mismatches: u64,
    /// The first ones.
    pub differences: Vec<Difference>,
    /// Frames, counted from 1, that were played since the receivers were last compared.
    frames: Option<RangeInclusive<usize>>,
    segments_seen: usize,
    flows_seen: Vec<(usize, usize)>,
    cut_off: CutOff,
    /// Pieces of memory known to differ.
    differing: BTreeSet<u64>,
}

impl Comparison {
    /// Differences found from now on are of these frames, counted from 1.
    pub fn at(&mut self, frames: Option<RangeInclusive<usize>>) {
        self.frames = frames;
    }

    /// Compare what both have shown since the last call.
    pub fn compare(&mut self, rtl: &mut Tally, model: &mut Tally) {
        let from = self.segments_seen;
        let (left, right) = (&rtl.segments[from..], &model.segments[from..]);
        self.sequence(None, What::Segment, from, left, right, PartialEq::eq);
        self.segments_seen = rtl.segments.len().min(model.segments.len());
        let (left, right) = (&rtl.host_slots, &model.host_slots);
        let from = (rtl.host_frame_count as usize).saturating_sub(left.len());
        self.sequence(None, What::HostSlot, from, left, right, PartialEq::eq);
        rtl.host_slots.clear();
        model.host_slots.clear();
        self.flows_seen.resize(rtl.flows.len(), (0, 0));
        for flow in 0..rtl.flows.len() {
            let (fpdus, entries) = self.flows_seen[flow];
            let (left, right) = (&rtl.flows[flow], &model.flows[flow]);
            let traces = (&left.fpdu_traces[fpdus..], &right.fpdu_traces[fpdus..]);
            let at = Some(flow);
            self.sequence(at, What::Fpdu, fpdus, traces.0, traces.1, PartialEq::eq);
            let (mine, other) = (&left.entries[entries..], &right.entries[entries..]);
            self.sequence(at, What::Completion, entries, mine, other, same_entry);
            self.flows_seen[flow] = (
                left.fpdu_traces.len().min(right.fpdu_traces.len()),
                left.entries.len().min(right.entries.len()),
            );
        }
    }

    /// Compare every octet of `pieces` that either receiver has written: the others are zero. A
    /// piece that differs is described once.
    pub fn compare_memory(&mut self, pieces: &[Piece], rtl: &dyn Dut, model: &dyn Dut) {
        for piece in pieces {
            let differs = |part: &Range<u64>| read(rtl, part) != read(model, part);
            let written = written_by_either(piece, rtl, model);
            if self.differing.contains(&piece.address) || !written.iter().any(differs) {
                continue;
            }
            let allowed = allowed(piece, &model.may_hold());
            let (mut first, mut count) = (None, 0);
            for part in written {
                let (found, expected) = (read(rtl, &part), read(model, &part));
                let from = (part.start - piece.address) as usize;
                let may_be = |at: usize| {
                    (piece.cut_short && found[at] == 0) || allowed.contains(&(from + at, found[at]))
                };
                let is_wrong = |&at: &usize| found[at] != expected[at] && !may_be(at);
                let wrong: Vec<usize> = (0..found.len()).filter(is_wrong).collect();
                count += wrong.len();
                if let (None, Some(&at)) = (&first, wrong.first()) {
                    let shown = octets(&expected[at..]);
                    first = Some((from + at, shown, octets(&found[at..])));
                }
            }
            let Some((place, expected, found)) = first else {
                continue;
            };
            self.differing.insert(piece.address);
            let what = piece.what.clone();
            self.report(Some(piece.flow), what, Some(place as u64), |difference| {
                difference.expected = expected;
                difference.found = format!("{found}, {count} octets differ");
            });
        }
    }

    /// Compare counters and messages at the end.
    pub fn compare_results(&mut self, rtl: &Tally, model: &Tally) {
        for (flow, (left, right)) in rtl.flows.iter().zip(&model.flows).enumerate() {
            let (left, right) = (&left.receives, &right.receives);
            self.sequence(Some(flow), What::Message, 0, left, right, PartialEq::eq);
        }
        if !self.cut_off.is_empty() {
            let cut_off = self.cut_off;
            for (name, found, expected) in cut_off.counters(&rtl.counters, &model.counters) {
                self.pair(None, What::Counter(name), &found, &expected);
            }
            return;
        }
        for ((counter, left), (_, right)) in rtl.counters.iter().zip(&model.counters) {
            if left != right {
                let what = What::Counter(counter.name());
                self.report(None, what, None, |difference| {
                    difference.expected = right.to_string();
                    difference.found = left.to_string();
                });
            }
        }
    }

    /// Compare what both say of the same.
    pub fn pair<T: PartialEq + Debug>(
        &mut self,
        flow: Option<usize>,
        what: What,
        rtl: &T,
        model: &T,
    ) {
        if rtl != model {
            self.report(flow, what, None, |difference| {
                difference.expected = short(Some(model));
                difference.found = short(Some(rtl));
            });
        }
    }

    /// A connection was closed at once.
    pub fn add_cut_off(&mut self, cut_off: CutOff) {
        self.cut_off += cut_off;
    }

    /// Add what another device of the run has shown.
    pub fn add(&mut self, other: Self) {
        self.mismatches += other.mismatches;
        self.differences.extend(other.differences);
        self.differences.truncate(DESCRIBED_MAX);
    }

    /// Faults of either receiver count as differences.
    pub fn add_violations<'a>(&mut self, violations: impl Iterator<Item = &'a String>) {
        for violation in violations {
            self.report(None, What::Fault, None, |difference| {
                difference.found.clone_from(violation);
            });
        }
    }

    fn sequence<T: Debug>(
        &mut self,
        flow: Option<usize>,
        what: What,
        from: usize,
        rtl: &[T],
        model: &[T],
        same: impl Fn(&T, &T) -> bool,
    ) {
        for position in 0..rtl.len().max(model.len()) {
            let (found, expected) = (rtl.get(position), model.get(position));
            if let (Some(found), Some(expected)) = (found, expected) {
                if same(found, expected) {
                    continue;
                }
            }
            let place = Some((from + position) as u64);
            self.report(flow, what.clone(), place, |difference| {
                difference.expected = short(expected);
                difference.found = short(found);
            });
        }
    }

    fn report(
        &mut self,
        flow: Option<usize>,
        what: What,
        place: Option<u64>,
        describe: impl FnOnce(&mut Difference),
    ) {
        self.mismatches += 1;
        if self.differences.len() == DESCRIBED_MAX {
            return;
        }
        let mut difference = Difference {
            frames: self
                .frames
                .clone()
                .map(|frames| [*frames.start(), *frames.end()]),
            flow,
            what,
            place,
            expected: String::new(),
            found: String::new(),
        };
        describe(&mut difference);
        self.differences.push(difference);
    }
}

/// Parts of a piece that either receiver has written, each of a length that is read at once.
fn written_by_either(piece: &Piece, rtl: &dyn Dut, model: &dyn Dut) -> Vec<Range<u64>> {
    let octets = piece.octets as u64;
    let mut written: RangeSet<u64> = RangeSet::new();
    for part in [rtl, model]
        .map(|dut| dut.written(piece.address, octets))
        .concat()
    {
        written.insert(part);
    }
    let parts = written.into_iter().flat_map(|part| {
        let starts = part.clone().step_by(PART_OCTETS as usize);
        starts.map(move |start| start..part.end.min(start + PART_OCTETS))
    });
    parts.collect()
}

fn read(dut: &dyn Dut, part: &Range<u64>) -> Vec<u8> {
    dut.read(part.start, (part.end - part.start) as usize)
}

/// Octets of `piece` that memory may hold instead of the model's: offset and octet.
fn allowed(piece: &Piece, may_hold: &[(u64, Vec<u8>)]) -> HashSet<(usize, u8)> {
    let end = piece.address + piece.octets as u64;
    let mut allowed = HashSet::new();
    for (address, data) in may_hold {
        let octets = data.iter().zip(*address..);
        let inside = octets.filter(|(_, at)| (piece.address..end).contains(at));
        allowed.extend(inside.map(|(&octet, at)| ((at - piece.address) as usize, octet)));
    }
    allowed
}

/// Do an entry of the hardware and one of the model say the same? The model knows how much of a
/// Read Response its last FPDU brought, the hardware's side looks at as much or more.
fn same_entry(found: &Entry, expected: &Entry) -> bool {
    let announced = match (&found.announced, &expected.announced) {
        (_, None) => true,
        (Some(found), Some(expected)) => found.ends_with(expected),
        (None, Some(_)) => false,
    };
    (found.queue, found.words) == (expected.queue, expected.words) && announced
}

fn short<T: Debug>(value: Option<&T>) -> String {
    let Some(value) = value else {
        return "none".into();
    };
    let mut text = format!("{value:x?}");
    if text.len() > 300 {
        text.truncate(300);
        text.push_str(" ...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_driver::QueueId;

    fn piece() -> Piece {
        Piece {
            address: 0x1000,
            octets: 4,
            flow: 0,
            what: What::Region { stag: 7 },
            cut_short: false,
        }
    }

    #[test]
    fn only_octets_of_an_fpdu_beyond_a_gap_may_differ() {
        let may_hold = [(0xfff, vec![1, 2, 3]), (0x1003, vec![4, 5])];
        let expected = HashSet::from([(0, 2), (1, 3), (3, 4)]);
        assert_eq!(allowed(&piece(), &may_hold), expected);
    }

    #[test]
    fn an_entry_differs_by_a_word_or_by_an_octet_that_is_not_there_yet() {
        let entry = |word, announced: Option<&[u8]>| Entry {
            queue: QueueId(word as u8),
            words: [word; 7],
            announced: announced.map(<[u8]>::to_vec),
        };
        assert!(same_entry(
            &entry(1, Some(&[1, 2])),
            &entry(1, Some(&[1, 2]))
        ));
        assert!(same_entry(
            &entry(1, Some(&[9, 1, 2])),
            &entry(1, Some(&[1, 2]))
        ));
        assert!(!same_entry(
            &entry(1, Some(&[1, 0])),
            &entry(1, Some(&[1, 2]))
        ));
        assert!(!same_entry(&entry(1, None), &entry(1, Some(&[1, 2]))));
        assert!(!same_entry(&entry(2, None), &entry(1, None)));
        let elsewhere = Entry {
            queue: QueueId(3),
            ..entry(1, None)
        };
        assert!(!same_entry(&elsewhere, &entry(1, None)));
    }
}
