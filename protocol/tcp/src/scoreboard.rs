//! What is in flight, record by record (RFC 6675), so that what is sent again has the bounds it
//! had.
//!
//! ```text
//!  entries   | acknowledged | flying | sacked | lost | sacked | flying |
//!            ^ SND.UNA                 `--------ranges--------'        ^ SND.NXT
//! ```
//!
//! An entry is one segment. It is *flying* until it is acknowledged, sacked or judged lost, and
//! again once it has been sent again; the octets that fly are the RFC's pipe. SACK blocks count for
//! entries that they cover whole: a receiver that reports runs of octets, as RFC 2018 section 4 has
//! it, leaves none of them out, and blocks of single octets cost no memory. Memory: an entry for
//! each segment in flight, at most half as many ranges, and twice as many notes of what was sent
//! again.
mod entry;
mod judging;

pub use entry::{Entry, Progress};

use crate::segment::Piece;
use crate::seq::SeqNumber;
use entry::State;
use std::collections::VecDeque;

/// Sacked runs or segments above an octet that make it lost (DupThresh of RFC 6675 section 2).
const THRESHOLD: u32 = 3;

/// The segments in flight.
#[derive(Clone, Debug, Hash)]
pub struct Scoreboard {
    entries: VecDeque<Entry>,
    /// Sacked runs, in order, apart from each other.
    ranges: Vec<(SeqNumber, SeqNumber)>,
    flying_octets: u64,
    flying: u32,
    lost: u32,
    /// No entry before this one is lost.
    lost_from: SeqNumber,
    /// Entries before this one have been judged by what was sacked above them.
    judged: SeqNumber,
    /// Sacked runs, or segments, beyond an entry that make it lost.
    threshold: u32,
    /// The report that is being taken: what was sacked furthest before it, and since when nothing
    /// that was sent can have been answered.
    furthest: SeqNumber,
    unanswered_us: u64,
    /// What was sent again and flies, in the order of time, and others that have arrived since.
    again: VecDeque<(u64, SeqNumber)>,
    /// When the latest segment that has arrived was sent.
    arrived_us: u64,
}

impl Scoreboard {
    /// Empty; the first entry will be at `seq`.
    pub fn new(seq: SeqNumber) -> Self {
        Self {
            entries: VecDeque::new(),
            ranges: Vec::new(),
            flying_octets: 0,
            flying: 0,
            lost: 0,
            lost_from: seq,
            judged: seq,
            threshold: THRESHOLD,
            furthest: seq,
            unanswered_us: 0,
            again: VecDeque::new(),
            arrived_us: 0,
        }
    }

    /// Octets on the heap at most, for so many entries: vectors take up to twice what is in them.
    pub const fn heap_octets_max(entries: usize) -> usize {
        let (entry, pair) = (size_of::<Entry>(), size_of::<(u64, SeqNumber)>());
        let ranges = (entries / 2 + 1) * size_of::<(SeqNumber, SeqNumber)>();
        2 * (entries * entry + (2 * entries + 1) * pair + ranges) + 1_024
    }

    /// Segments in flight.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Octets that are believed to be in the network (RFC 6675, SetPipe).
    pub fn flying_octets(&self) -> u64 {
        self.flying_octets
    }

    /// No segment is believed to be in the network.
    pub fn is_grounded(&self) -> bool {
        self.flying == 0
    }

    /// Some segment is judged lost and has not been sent again.
    pub fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// A segment is sent for the first time.
    pub fn push(&mut self, seq: SeqNumber, piece: Option<Piece>, is_last: bool, now_us: u64) {
        let entry = Entry {
            seq,
            piece,
            is_last,
            transmissions: 1,
            sent_us: now_us,
            state: State::Flying,
        };
        self.flying += 1;
        self.flying_octets += u64::from(entry.octets());
        self.entries.push_back(entry);
    }

    fn ground(&mut self, octets: u32) {
        self.flying -= 1;
        self.flying_octets -= u64::from(octets);
    }

    /// Remove what `ack` acknowledges. `done` gets each entry that has gone. An entry that is only
    /// acknowledged in part stays whole: it keeps its bounds.
    pub fn acknowledge(&mut self, ack: SeqNumber, mut done: impl FnMut(&Entry)) -> Progress {
        let mut progress = Progress::default();
        let mut again = false;
        while let Some(entry) = self.entries.front().copied() {
            if entry.end().is_after(ack) {
                break;
            }
            match entry.state {
                State::Flying => self.ground(entry.octets()),
                State::Lost => self.lost -= 1,
                State::Sacked => {}
            }
            if entry.state != State::Sacked {
                self.note(&entry, &mut progress);
            }
            again |= entry.transmissions > 1;
            done(&entry);
            self.entries.pop_front();
        }
        if again {
            progress.sent_us = None;
        }
        let first = self.entries.front().map_or(ack, |entry| entry.seq);
        let gone = self
            .ranges
            .partition_point(|range| !range.1.is_after(first));
        self.ranges.drain(..gone);
        if let Some(range) = self.ranges.first_mut() {
            range.0 = range.0.later(first);
        }
        self.lost_from = self.lost_from.later(first);
        self.judged = self.judged.later(first);
        progress
    }

    /// Take a SACK block (RFC 6675, Update). Blocks of what is not in flight change nothing: those
    /// below SND.UNA report duplicates (RFC 2883), others were never sent.
    pub fn sack(&mut self, left: SeqNumber, right: SeqNumber) -> Progress {
        let mut progress = Progress::default();
        let (Some(first), Some(last)) = (self.entries.front(), self.entries.back()) else {
            return progress;
        };
        if left.is_before(first.seq) || right.is_after(last.end()) || !left.is_before(right) {
            return progress;
        }
        // The entries that lie in the block whole.
        let begin = self
            .entries
            .partition_point(|entry| entry.seq.is_before(left));
        let end = self
            .entries
            .partition_point(|entry| !entry.end().is_after(right));
        if begin >= end {
            return progress;
        }
        let (left, right) = (self.entries[begin].seq, self.entries[end - 1].end());
        let first = self.ranges.partition_point(|range| range.1.is_before(left));
        let (mut after, mut from, mut merged) = (first, left, (left, right));
        while let Some(&range) = self.ranges.get(after) {
            if range.0.is_after(right) {
                break;
            }
            self.mark_sacked(from, range.0, &mut progress);
            from = from.later(range.1);
            merged = (merged.0.earlier(range.0), merged.1.later(range.1));
            after += 1;
        }
        self.mark_sacked(from, right, &mut progress);
        self.ranges.splice(first..after, [merged]);
        progress
    }

    fn mark_sacked(&mut self, from: SeqNumber, to: SeqNumber, progress: &mut Progress) {
        let begin = self
            .entries
            .partition_point(|entry| entry.seq.is_before(from));
        for index in begin..self.entries.len() {
            let entry = &mut self.entries[index];
            if entry.end().is_after(to) {
                break;
            }
            let (before, octets) = (entry.state, entry.octets());
            entry.state = State::Sacked;
            match before {
                State::Flying => self.ground(octets),
                State::Lost => self.lost -= 1,
                State::Sacked => continue,
            }
            let entry = self.entries[index];
            self.note(&entry, progress);
        }
    }

    /// The timer expired: everything is lost, also what was sacked, since the receiver may have
    /// given that up (RFC 2018 section 8).
    pub fn lose_all(&mut self) {
        for entry in &mut self.entries {
            entry.state = State::Lost;
        }
        self.ranges.clear();
        self.again.clear();
        self.threshold = THRESHOLD;
        (self.flying, self.flying_octets) = (0, 0);
        self.lost = self.entries.len() as u32;
        if let (Some(head), Some(last)) = (self.entries.front(), self.entries.back()) {
            self.lost_from = head.seq;
            self.judged = last.end();
        }
    }

    /// Where the first lost entry is.
    pub fn first_lost(&mut self) -> Option<usize> {
        if self.lost == 0 {
            return None;
        }
        let begin = self
            .entries
            .partition_point(|entry| entry.seq.is_before(self.lost_from));
        let mut from = begin..self.entries.len();
        let found = from.find(|&index| self.entries[index].state == State::Lost)?;
        self.lost_from = self.entries[found].seq;
        Some(found)
    }

    /// An entry; `None` beyond the last.
    pub fn entry(&self, index: usize) -> Option<&Entry> {
        self.entries.get(index)
    }

    /// Cut the piece of an entry in two for good, `octets` in the first; both keep their state.
    pub fn split(&mut self, index: usize, octets: u32) {
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        let Some(piece) = entry
            .piece
            .filter(|piece| (1..piece.octets).contains(&octets))
        else {
            return;
        };
        let mut rest = *entry;
        entry.piece = Some(Piece { octets, ..piece });
        entry.is_last = false;
        rest.seq += octets;
        rest.piece = Some(Piece {
            offset_octets: piece.offset_octets + octets,
            octets: piece.octets - octets,
            ..piece
        });
        match rest.state {
            State::Flying => self.flying += 1,
            State::Lost => self.lost += 1,
            State::Sacked => {}
        }
        self.entries.insert(index + 1, rest);
    }

    /// A lost entry is sent again.
    pub fn resend(&mut self, index: usize, now_us: u64) {
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        if entry.state != State::Lost {
            return;
        }
        entry.state = State::Flying;
        entry.transmissions = entry.transmissions.saturating_add(1);
        entry.sent_us = now_us;
        let (seq, octets) = (entry.seq, entry.octets());
        if self.again.len() > 2 * self.entries.len() {
            self.forget_settled();
        }
        self.again.push_back((now_us, seq));
        self.lost -= 1;
        self.flying += 1;
        self.flying_octets += u64::from(octets);
    }
}

#[cfg(test)]
mod tests;
