//! The record fence of the room: when it answers, nothing from before is left in it.
use super::bench::Bench;
use super::world::*;
use crate::messages::*;
use rnic_abi::tables::DDP;
use rnic_hdl_tools::testkit::Pace;
use std::collections::VecDeque;

/// Most records that MPA has begun and not sent.
const BEGUN_MAX: usize = 3;

/// The cycle in which each record began: in MPA, or when it was replayed into the FIFO.
#[derive(Default)]
pub struct FenceWatch {
    /// Begun, and not sent.
    coming: VecDeque<u64>,
    inside: VecDeque<u64>,
    /// Of the record committed last.
    committed: Option<u64>,
    /// A fence is to begin with the next cycle.
    pub asked: bool,
    /// Cycle in which the fence at hand began.
    pub since: Option<u64>,
    pub done: usize,
}

impl FenceWatch {
    /// Records begin up to some cycles before they come; `waiting` are to come, and one now, if one
    /// `comes`. Returns whether one begins.
    pub fn begin(&mut self, cycle: u64, waiting: usize, comes: bool) -> bool {
        let others = waiting.min(BEGUN_MAX) > self.coming.len() && cycle % 3 == 0;
        let begins = others || (comes && self.coming.is_empty());
        if begins {
            self.coming.push_back(cycle);
        }
        begins
    }

    /// A record of MPA has come.
    pub fn comes(&mut self) {
        self.inside.extend(self.coming.pop_front());
    }

    /// A replayed record has entered.
    pub fn replays(&mut self, cycle: u64) {
        self.inside.push_back(cycle);
    }

    /// The oldest record is committed.
    pub fn commits(&mut self) {
        self.committed = self.inside.pop_front();
    }

    /// The fence's input in this cycle. A fence does not begin in a cycle in which a record comes
    /// as it begins, which MPA's do not do.
    pub fn drive(&mut self, cycle: u64, comes: bool) -> bool {
        let at_once = comes && self.coming.back() == Some(&cycle) && self.coming.len() == 1;
        if self.asked && !at_once && self.since.is_none() {
            self.asked = false;
            self.since = Some(cycle);
        }
        self.since.is_some()
    }

    /// The room has answered; messages that it has given are to be taken, or `all_taken`.
    pub fn answered(&mut self, all_taken: bool) {
        let since = self.since.take().expect("a fence has begun");
        let left = self.coming.iter().chain(&self.inside);
        assert_eq!(left.filter(|begun| **begun < since).count(), 0, "left");
        let younger = self.committed.is_none_or(|begun| begun >= since);
        assert!(all_taken || younger, "a message has not been taken");
        self.done += 1;
    }
}

/// A fence after `count` writes of STREAM; nothing is taken from the room yet.
fn blocked(count: usize) -> Bench {
    let mut bench = Bench::world();
    bench.take = Pace::Never;
    bench
        .records
        .extend(std::iter::repeat_with(sink_write).take(count));
    bench.steps(150);
    bench.fence.asked = true;
    bench.steps(100);
    bench
}

#[test]
fn a_fence_waits_for_records_that_a_full_queue_stops() {
    for count in [1, 2, 3, 12] {
        let mut bench = blocked(count);
        assert_eq!(bench.fence.done, 0, "{count} records");
        // Table operations do not wait for it.
        bench.write(DDP, STRANGER, &[7 | 1 << 16]);
        bench.steps(20);
        assert!(bench.operations.is_empty());
        bench.take = Pace::Always;
        bench.drain();
        assert_eq!(bench.fence.done, 1, "{count} records");
        assert!(bench.outcomes.iter().all(|outcome| outcome.error == 0));
    }
}

/// The records of the connection that is released are judged by its tables, though the next one
/// writes these as soon as the fence lets it.
#[test]
fn tables_written_after_a_fence_are_not_those_from_before() {
    let mut bench = blocked(12);
    bench.take = Pace::Always;
    while bench.fence.done == 0 {
        bench.step();
    }
    bench.write(DDP, STREAM, &[7 | 1 << 16]);
    bench.drain();
    assert_eq!(bench.outcomes.len(), 12);
    assert!(bench.outcomes.iter().all(|outcome| outcome.error == 0));
    assert_ne!(bench.send(&sink_write()).error, 0, "of the other domain");
}

/// A stream error is reported before the fence ends, so it cannot be taken for the next
/// connection's.
#[test]
fn a_fence_waits_for_a_stream_error() {
    let mut bench = Bench::world();
    bench.take = Pace::Never;
    let mut bad = sink_write();
    bad.crc_good = false;
    bench.records.push(bad);
    bench.steps(40);
    bench.fence.asked = true;
    bench.steps(40);
    assert_eq!(bench.fence.done, 0);
    bench.take = Pace::Always;
    bench.drain();
    assert_eq!(bench.fence.done, 1);
}

/// Of a record that was replayed, and of one without a verdict yet.
#[test]
fn a_fence_waits_for_replays_and_verdicts() {
    let mut bench = Bench::world();
    bench.sweep();
    bench.judge = Pace::Never;
    bench.records.push(sink_write());
    bench.request_replay(ReplayKind::Fault, STREAM, 0);
    bench.steps(60);
    bench.fence.asked = true;
    bench.steps(60);
    assert_eq!(bench.fence.done, 0);
    bench.judge = Pace::Always;
    bench.drain();
    assert_eq!(bench.fence.done, 1);
    let errors: Vec<bool> = bench.outcomes.iter().map(|o| o.error != 0).collect();
    assert_eq!(errors, [false, true]);
}
