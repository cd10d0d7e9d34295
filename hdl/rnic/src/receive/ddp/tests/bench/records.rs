//! Records and replays on their way into the room.
use super::super::model::Record;
use super::{message, Bench};
use crate::messages::{FpduKind, Replay, ReplayKind};
use rnic_hdl_tools::testkit::Pace;

/// `replay` is about the records of `span`.
fn names(replay: &Replay, span: u64) -> bool {
    replay.kind != ReplayKind::Fault && replay.span == span
}

impl Bench {
    /// Up to two records come once the room for two is gone.
    pub(super) fn offer_record(&mut self) -> bool {
        if self.uut.record_room.val() {
            self.beyond_room = 0;
        }
        let may = self.beyond_room < 2 && !self.is_held_back();
        self.records.pace = self.offer;
        let record = self
            .records
            .offer(&mut self.random)
            .filter(|_| may)
            .map(message);
        self.uut.record_valid.next = record.is_some();
        if let Some(record) = record {
            self.uut.record.next = record;
            self.beyond_room += 1;
        }
        record.is_some()
    }

    /// MPA sends no FPDU out of order of a span while the span is replayed.
    fn is_held_back(&self) -> bool {
        let replaying = self.replaying.iter().map(|(replay, _)| replay);
        let mut replays = self.replays.waiting().iter().take(1).chain(replaying);
        let record = self.records.waiting().front();
        record.is_some_and(|record| {
            record.kind == FpduKind::OutOfOrder && replays.any(|replay| names(replay, record.span))
        })
    }

    /// Offers the next replay, if no record of its span waits; returns it if it is taken.
    pub(super) fn offer_replay(&mut self) -> Option<Replay> {
        let next = self.replays.waiting().front();
        let mut ooo = self
            .inside
            .iter()
            .filter(|record| record.kind == FpduKind::OutOfOrder);
        let waits = next.is_some_and(|replay| ooo.any(|record| names(replay, record.span)));
        self.replays.pace = if waits { Pace::Never } else { self.offer };
        let uut = &mut *self.uut;
        let (data, valid) = (&mut uut.replay, &mut uut.replay_valid);
        self.replays
            .drive(data, valid, &uut.replay_ready, &mut self.random)
    }

    /// The room says itself in which cycle a replayed record goes in between those of MPA.
    pub(super) fn advance_replay(&mut self, taken: Option<Replay>) {
        if self.uut.record_queue.offered_taken.val() {
            let record = self.delivered.pop_front().expect("a record to deliver");
            self.inside.push_back(record);
            self.fence.replays(self.uut.cycle());
            let (_, left) = self.replaying.front_mut().expect("a replay at hand");
            *left -= 1;
        }
        let Some(replay) = taken else {
            return;
        };
        let mut records = self.released(&replay);
        if replay.kind == ReplayKind::Forget {
            records.clear();
        }
        self.replaying.push_back((replay, records.len()));
        self.delivered.extend(records);
    }

    /// The stored records of the span of `replay` or, for a fault, its record.
    fn released(&mut self, replay: &Replay) -> Vec<Record> {
        if replay.kind != ReplayKind::Fault {
            return self.model.release(replay.span.to_u64());
        }
        vec![Record {
            kind: FpduKind::Fault,
            connection: replay.connection.to_u64(),
            sequence: replay.sequence.to_u32(),
            sequence_end: replay.sequence.to_u32(),
            crc_good: true,
            ..Record::default()
        }]
    }
}
