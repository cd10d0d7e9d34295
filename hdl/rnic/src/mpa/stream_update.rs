//! Stream update: what an event makes of a connection's context.
//!
//! ```text
//! loaded, arrived, done --> [ sums ] --> was_empty, complete, enough, some_left
//!    |                         |
//!    +--> [ current ] ---------+--> updated
//! front, request_data -------------^
//! ```
//!
//! | enters     | the context as it is kept, and the message that changes it                  |
//! | leaves     | the context as it will be kept, and what the event finds out on the way     |
//! | latency    | `load` to `current`, `was_empty`, `complete`, `some_left`: 1 cycle; to      |
//! |            | `enough`: 2; `updated` follows its inputs in the same cycle                 |
//! | throughput | one event at a time                                                         |
//! | units      | octets; `phase` in words                                                    |
use super::context::{EventKind, QueuedFrame, StreamContext};
use crate::messages::JobDone;
use rust_hdl::prelude::*;

/// Octets that show an FPDU's length: its first word.
const NEED_LENGTH: u64 = 4;
/// The same behind a marker.
const NEED_MARKER_AND_LENGTH: u64 = 8;

/// Sums of one event, and the context after it.
#[derive(LogicBlock)]
pub struct StreamUpdate {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// `loaded` is the context of the event's connection.
    pub load: Signal<In, Bit>,
    /// A context as it was kept.
    pub loaded: Signal<In, StreamContext>,
    /// The event at hand.
    pub at_hand: Signal<In, EventKind>,
    /// The frame of accepted octets.
    pub arrived: Signal<In, QueuedFrame>,
    /// Octets accepted, and those of the early run that follows them.
    pub arrived_octets: Signal<In, Bits<18>>,
    /// Slot of the last frame that holds them.
    pub arrived_last: Signal<In, Bits<10>>,
    /// A stream job has ended.
    pub job_done: Signal<In, JobDone>,
    /// Table bus: how a stream starts.
    pub request_data: Signal<In, Bits<320>>,
    /// First queued frame now.
    pub front: Signal<In, QueuedFrame>,
    /// All that is queued goes, whatever it is.
    pub purge: Signal<In, Bit>,
    /// The context as it was kept.
    pub current: Signal<Out, StreamContext>,
    /// Nothing was queued.
    pub was_empty: Signal<Out, Bit>,
    /// Accepted octets make a job worth while.
    pub complete: Signal<Out, Bit>,
    /// Octets are left behind those consumed.
    pub some_left: Signal<Out, Bit>,
    /// They make another job worth while.
    pub enough: Signal<Out, Bit>,
    /// The context as it will be kept.
    pub updated: Signal<Out, StreamContext>,
    held: DFF<StreamContext>,
    empty: DFF<Bit>,
    completes: DFF<Bit>,
    more: DFF<Bits<18>>,
    less_missing: DFF<Bits<18>>,
    fewer: DFF<Bits<18>>,
    sequence_after: DFF<Bits<32>>,
    phase_after: DFF<Bits<7>>,
    // `need` against what is left.
    another: DFF<Bit>,
    missing: DFF<Bits<18>>,
    consumed: Signal<Local, Bits<18>>,
    fresh: Signal<Local, StreamContext>,
    need_length: Constant<Bits<18>>,
    need_marker_and_length: Constant<Bits<18>>,
    nothing: Constant<StreamContext>,
}

impl Default for StreamUpdate {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            load: Default::default(),
            loaded: Default::default(),
            at_hand: Default::default(),
            arrived: Default::default(),
            arrived_octets: Default::default(),
            arrived_last: Default::default(),
            job_done: Default::default(),
            request_data: Default::default(),
            front: Default::default(),
            purge: Default::default(),
            current: Default::default(),
            was_empty: Default::default(),
            complete: Default::default(),
            some_left: Default::default(),
            enough: Default::default(),
            updated: Default::default(),
            held: Default::default(),
            empty: Default::default(),
            completes: Default::default(),
            more: Default::default(),
            less_missing: Default::default(),
            fewer: Default::default(),
            sequence_after: Default::default(),
            phase_after: Default::default(),
            another: Default::default(),
            missing: Default::default(),
            consumed: Default::default(),
            fresh: Default::default(),
            need_length: Constant::new(NEED_LENGTH.into()),
            need_marker_and_length: Constant::new(NEED_MARKER_AND_LENGTH.into()),
            nothing: Constant::new(StreamContext::default()),
        }
    }
}

impl Logic for StreamUpdate {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, empty, completes, more, less_missing);
        dff_setup!(
            self,
            clock,
            fewer,
            sequence_after,
            phase_after,
            another,
            missing
        );
        self.current.next = self.held.q.val();
        self.was_empty.next = self.empty.q.val();
        self.complete.next = self.completes.q.val();
        self.some_left.next = self.fewer.q.val().any();
        self.enough.next = self.another.q.val();

        // Sums.
        self.consumed.next = self.job_done.val().consumed;
        if self.load.val() {
            self.held.d.next = self.loaded.val();
            self.empty.d.next = !self.loaded.val().avail.any();
            self.completes.d.next =
                !self.loaded.val().busy & (self.arrived_octets.val() >= self.loaded.val().missing);
            self.more.d.next = self.loaded.val().avail + self.arrived_octets.val();
            self.less_missing.d.next = self.loaded.val().missing - self.arrived_octets.val();
            self.fewer.d.next = self.loaded.val().avail - self.consumed.val();
            self.sequence_after.d.next =
                self.loaded.val().sequence + bit_cast::<32, 18>(self.consumed.val());
            self.phase_after.d.next =
                self.loaded.val().phase + self.consumed.val().get_bits::<7>(2);
        }
        if self.purge.val() {
            self.fewer.d.next = 0.into();
        }
        // Nothing is left of a stopped connection's queue, so no job follows.
        self.another.d.next =
            (self.fewer.q.val() >= self.job_done.val().need) & !self.held.q.val().stopped;
        self.missing.d.next = self.job_done.val().need - self.fewer.q.val();

        // An empty stream.
        self.fresh.next = self.nothing.val();
        self.fresh.next.sequence = self.request_data.val().get_bits::<32>(0);
        self.fresh.next.markers = self.request_data.val().get_bit(32);
        self.fresh.next.crc = self.request_data.val().get_bit(33);
        self.fresh.next.active = true;
        self.fresh.next.missing = self.need_length.val();
        if self.request_data.val().get_bit(32) {
            self.fresh.next.missing = self.need_marker_and_length.val();
        }

        // What the context becomes. Each event writes it once, so the event alone decides.
        self.updated.next = self.held.q.val();
        self.updated.next.head_page = self.front.val().head_page;
        self.updated.next.head_tail = self.front.val().tail_page;
        self.updated.next.head_offset = self.front.val().offset;
        self.updated.next.head_octets = self.front.val().octets;
        self.updated.next.head_slot = self.front.val().slot;
        self.updated.next.head_shared = self.front.val().shared;
        if self.at_hand.val().accepting {
            self.updated.next.avail = self.more.q.val();
            self.updated.next.missing = self.less_missing.q.val();
            self.updated.next.last_slot = self.arrived_last.val();
            self.updated.next.busy = self.held.q.val().busy | self.completes.q.val();
            if self.empty.q.val() {
                self.updated.next.head_page = self.arrived.val().head_page;
                self.updated.next.head_tail = self.arrived.val().tail_page;
                self.updated.next.head_offset = self.arrived.val().offset;
                self.updated.next.head_octets = self.arrived.val().octets;
                self.updated.next.head_slot = self.arrived.val().slot;
                self.updated.next.head_shared = self.arrived.val().shared;
            }
        } else if self.at_hand.val().finishing {
            self.updated.next.avail = self.fewer.q.val();
            self.updated.next.missing = self.missing.q.val();
            self.updated.next.sequence = self.sequence_after.q.val();
            self.updated.next.phase = self.phase_after.q.val();
            self.updated.next.place_next = self.job_done.val().place_next;
            self.updated.next.busy = self.another.q.val();
        } else if self.at_hand.val().starting {
            self.updated.next = self.fresh.val();
        } else if self.at_hand.val().clearing {
            self.updated.next = self.nothing.val();
        } else {
            // Stop, or a release that must wait for the job that is out.
            self.updated.next.stopped = true;
            if self.at_hand.val().purging {
                self.updated.next.avail = 0.into();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{lockstep, Random};

    fn random_context(random: &mut Random) -> StreamContext {
        StreamContext {
            sequence: random.wide(),
            phase: random.wide(),
            markers: random.chance(1, 2),
            crc: random.chance(1, 2),
            active: random.chance(1, 2),
            stopped: random.chance(1, 4),
            busy: random.chance(1, 2),
            place_next: random.chance(1, 2),
            avail: random.below(1 << 17).into(),
            missing: random.below(1 << 10).into(),
            head_page: random.wide(),
            head_tail: random.wide(),
            head_offset: random.wide(),
            head_octets: random.wide(),
            head_slot: random.wide(),
            head_shared: random.chance(1, 2),
            last_slot: random.wide(),
        }
    }

    fn random_frame(random: &mut Random) -> QueuedFrame {
        QueuedFrame {
            head_page: random.wide(),
            tail_page: random.wide(),
            offset: random.wide(),
            octets: random.wide(),
            slot: random.wide(),
            shared: random.chance(1, 2),
        }
    }

    /// The context with these octets as its first frame.
    fn headed(stream: StreamContext, front: QueuedFrame) -> StreamContext {
        StreamContext {
            head_page: front.head_page,
            head_tail: front.tail_page,
            head_offset: front.offset,
            head_octets: front.octets,
            head_slot: front.slot,
            head_shared: front.shared,
            ..stream
        }
    }

    fn after_accepted(uut: &StreamUpdate) -> StreamContext {
        let (before, front, arrived) = (uut.loaded.next, uut.front.next, uut.arrived.next);
        let (avail, octets) = (before.avail.to_u64(), uut.arrived_octets.next.to_u64());
        let missing = before.missing.to_u64();
        let left = missing.wrapping_sub(octets) & 0x3_ffff;
        StreamContext {
            avail: (avail + octets).into(),
            missing: left.into(),
            busy: before.busy || octets >= missing,
            last_slot: uut.arrived_last.next,
            ..headed(before, if avail == 0 { arrived } else { front })
        }
    }

    fn after_done(before: StreamContext, front: QueuedFrame, done: JobDone) -> StreamContext {
        let (consumed, need) = (done.consumed.to_u64(), done.need.to_u64());
        let left = before.avail.to_u64() - consumed;
        let missing = need.wrapping_sub(left) & 0x3_ffff;
        StreamContext {
            avail: left.into(),
            missing: missing.into(),
            sequence: ((before.sequence.to_u64() + consumed) & 0xffff_ffff).into(),
            phase: ((before.phase.to_u64() + consumed / 4) & 0x7f).into(),
            place_next: done.place_next,
            busy: left >= need && !before.stopped,
            ..headed(before, front)
        }
    }

    fn fresh(data: Bits<320>) -> StreamContext {
        StreamContext {
            sequence: data.get_bits::<32>(0),
            markers: data.get_bit(32),
            crc: data.get_bit(33),
            active: true,
            missing: [4u64, 8][usize::from(data.get_bit(32))].into(),
            ..Default::default()
        }
    }

    fn drive_inputs(uut: &mut StreamUpdate, random: &mut Random) {
        let kept = random_context(random);
        uut.loaded.next = kept;
        uut.loaded.next.avail = [0u64.into(), kept.avail][random.below(2) as usize];
        uut.arrived_octets.next = (1 + random.below(1 << 11)).into();
        uut.arrived_last.next = random.wide();
        uut.arrived.next = random_frame(random);
        uut.job_done.next.consumed = random.below(uut.loaded.next.avail.to_u64() + 1).into();
        uut.job_done.next.need = (1 + random.below(1 << 17)).into();
        uut.job_done.next.place_next = random.chance(1, 2);
        uut.request_data.next = random.wide();
        uut.front.next = random_frame(random);
        uut.at_hand.next = EventKind::default();
        match random.below(6) {
            0 => uut.at_hand.next.accepting = true,
            1 => uut.at_hand.next.finishing = true,
            2 => uut.at_hand.next.starting = true,
            3 => uut.at_hand.next.clearing = true,
            4 => uut.at_hand.next.purging = true,
            _ => {}
        }
    }

    fn expected(uut: &StreamUpdate) -> StreamContext {
        let (before, front) = (uut.loaded.next, uut.front.next);
        let kind = uut.at_hand.next;
        if kind.accepting {
            return after_accepted(uut);
        } else if kind.finishing {
            return after_done(before, front, uut.job_done.next);
        } else if kind.starting {
            return fresh(uut.request_data.next);
        } else if kind.clearing {
            return StreamContext::default();
        }
        let mut stopped = headed(before, front);
        stopped.stopped = true;
        if kind.purging {
            stopped.avail = 0u64.into();
        }
        stopped
    }

    /// An event takes four cycles here: load, sums, comparison, result.
    #[test]
    fn lockstep_with_verilog_and_with_plain_integers() {
        let mut cycle = 0;
        lockstep(
            "stream_update",
            StreamUpdate::default(),
            8000,
            |uut| &mut uut.clock,
            |uut, random| {
                uut.load.next = cycle % 4 == 0;
                if uut.load.next {
                    drive_inputs(uut, random);
                }
                let before = uut.loaded.next;
                if cycle % 4 == 2 {
                    assert_eq!(uut.current.val(), before, "{random}");
                    assert_eq!(uut.was_empty.val(), !before.avail.any(), "{random}");
                    let left = before.avail.to_u64() - uut.job_done.next.consumed.to_u64();
                    assert_eq!(uut.some_left.val(), left > 0, "{random}");
                } else if cycle % 4 == 3 {
                    assert_eq!(uut.updated.val(), expected(uut), "{random}");
                }
                cycle += 1;
            },
        );
    }
}
