//! Context update: the context of a stream, or of a span, after an event.
//!
//! ```text
//! loaded, span_loaded -> [ incoming ] --> [ sums ] --> was_empty, complete, enough, some_left
//! arrived, done ------------------|----------^ |
//!                                 +--> [ current ] --+--> updated
//! front, request_data, right_range ----------------- ^ ^
//! span_loaded --> [ popped ] --------------------------+
//! ```
//!
//! | enters     | the stored context, and the message that changes it                         |
//! | leaves     | the context to store, and the conditions that the control tests             |
//! | latency    | `load` to `current`, `was_empty`, `complete`, `some_left`: 1 cycle; to      |
//! |            | `enough`: 2; `updated` follows its inputs in the same cycle                 |
//! | throughput | one event at a time                                                         |
//! | units      | octets; `phase` in words                                                    |
//!
//! The distance of a span's first octet from the stream's next FPDU gives its phase. With markers,
//! FPDUs begin at whole words from there (MPA-006). A span that does not, or whose stream has no
//! markers, is refused at once: its octets wait until they are in order.
use super::types::{EventKind, QueuedFrame, RangeSpans, StreamContext};
use crate::messages::JobDone;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Octets that hold ULPDU_Length: an FPDU's first word.
const NEED_LENGTH: u64 = 4;
/// The same after a marker.
const NEED_MARKER_AND_LENGTH: u64 = 8;

/// Sums of one event, and the context after it.
#[derive(LogicBlock, Init)]
pub struct ContextUpdate {
    pub clock: Signal<In, Clock>,
    /// `loaded` is the context of the event's connection.
    pub load: Signal<In, Bit>,
    /// A stream's stored context.
    pub loaded: Signal<In, StreamContext>,
    /// A span's.
    pub span_loaded: Signal<In, StreamContext>,
    /// `span_loaded` is the span that the stream has reached.
    pub keep_popped: Signal<In, Bit>,
    pub at_hand: Signal<In, EventKind>,
    /// The frame of accepted octets.
    pub arrived: Signal<In, QueuedFrame>,
    /// Octets accepted, or those of `popped`.
    pub arrived_octets: Signal<In, Bits<18>>,
    /// Sequence number of the first of them.
    pub arrived_sequence: Signal<In, Bits<32>>,
    /// The range that follows them.
    pub right_range: Signal<In, RangeSpans>,
    /// Slot of the last frame that holds them.
    pub arrived_last: Signal<In, Bits<10>>,
    pub job_done: Signal<In, JobDone>,
    /// Table bus: how a stream starts.
    pub request_data: Signal<In, Bits<320>>,
    /// First queued frame now.
    pub front: Signal<In, QueuedFrame>,
    /// All queued octets are released.
    pub purge: Signal<In, Bit>,
    /// With `load`: the context that is loaded.
    pub incoming: Signal<Out, StreamContext>,
    /// The stored context.
    pub current: Signal<Out, StreamContext>,
    /// The span that the stream has reached.
    pub popped: Signal<Out, StreamContext>,
    /// It has octets; a cycle later than `popped`.
    pub popped_any: Signal<Out, Bit>,
    /// Nothing was queued.
    pub was_empty: Signal<Out, Bit>,
    /// With the accepted octets, enough are queued for a job.
    pub complete: Signal<Out, Bit>,
    /// Octets are left after those consumed.
    pub some_left: Signal<Out, Bit>,
    /// They are enough for another job.
    pub enough: Signal<Out, Bit>,
    /// The context to store.
    pub updated: Signal<Out, StreamContext>,
    held: DFF<StreamContext>,
    held_popped: DFF<StreamContext>,
    popped_octets: DFF<Bit>,
    // From the stream's next FPDU to the octets accepted.
    distance: DFF<Bits<32>>,
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
    from: Signal<Local, StreamContext>,
    opened: Signal<Local, StreamContext>,
    apart: Signal<Local, Bits<32>>,
    apart_words: Signal<Local, Bits<7>>,
    apart_octets: Signal<Local, Bits<2>>,
    fresh: Signal<Local, StreamContext>,
    #[constant(NEED_LENGTH)]
    need_length: Constant<Bits<18>>,
    #[constant(NEED_MARKER_AND_LENGTH)]
    need_marker_and_length: Constant<Bits<18>>,
    #[init(Constant::new(StreamContext::default()))]
    nothing: Constant<StreamContext>,
}

impl Logic for ContextUpdate {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held, held_popped, popped_octets, distance, empty, completes, more);
        registers!(clock; less_missing, fewer, sequence_after, phase_after, another, missing);
        self.current.next = self.held.q.val();
        self.popped.next = self.held_popped.q.val();
        self.popped_octets.d.next = self.held_popped.q.val().avail.any();
        self.popped_any.next = self.popped_octets.q.val();
        self.was_empty.next = self.empty.q.val();
        self.complete.next = self.completes.q.val();
        self.some_left.next = self.fewer.q.val().any();
        self.enough.next = self.another.q.val();

        // A span that is opened, while its stream is the current one.
        self.distance.d.next = self.arrived_sequence.val() - self.held.q.val().sequence;
        self.apart.next = self.distance.q.val();
        self.apart_words.next = self.apart.val().get_bits::<7>(2);
        self.apart_octets.next = self.apart.val().get_bits::<2>(0);
        self.opened.next = self.nothing.val();
        self.opened.next.sequence = self.arrived_sequence.val();
        self.opened.next.phase = self.held.q.val().phase + self.apart_words.val();
        self.opened.next.markers = self.held.q.val().markers;
        self.opened.next.crc = self.held.q.val().crc;
        self.opened.next.active = true;
        self.opened.next.missing = self.need_marker_and_length.val();
        self.opened.next.refused = !self.held.q.val().markers
            | !self.held.q.val().active
            | self.held.q.val().stopped
            | self.apart_octets.val().any();
        self.from.next = self.loaded.val();
        if self.at_hand.val().of_span {
            self.from.next = self.span_loaded.val();
            if self.at_hand.val().opening {
                self.from.next = self.opened.val();
            }
        }
        self.incoming.next = self.from.val();
        if self.keep_popped.val() {
            self.held_popped.d.next = self.span_loaded.val();
        }

        // Sums.
        self.consumed.next = self.job_done.val().consumed;
        if self.load.val() {
            self.held.d.next = self.from.val();
            self.empty.d.next = !self.from.val().avail.any();
            self.completes.d.next = !self.from.val().busy
                & !self.from.val().refused
                & (self.arrived_octets.val() >= self.from.val().missing);
            self.more.d.next = self.from.val().avail + self.arrived_octets.val();
            self.less_missing.d.next = self.from.val().missing - self.arrived_octets.val();
            self.fewer.d.next = self.from.val().avail - self.consumed.val();
            self.sequence_after.d.next =
                self.from.val().sequence + bit_cast::<32, 18>(self.consumed.val());
            self.phase_after.d.next = self.from.val().phase + self.consumed.val().get_bits::<7>(2);
        }
        if self.purge.val() {
            self.fewer.d.next = 0.into();
        }
        // No job follows a stop: the queue is released.
        self.another.d.next = (self.fewer.q.val() >= self.job_done.val().need)
            & !self.held.q.val().stopped
            & !self.held.q.val().refused
            & !self.job_done.val().refused;
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

        // The new context. Each event writes it once, so the event alone selects it.
        self.updated.next = self.held.q.val();
        self.updated.next.head_page = self.front.val().head_page;
        self.updated.next.head_tail = self.front.val().tail_page;
        self.updated.next.head_offset = self.front.val().offset;
        self.updated.next.head_octets = self.front.val().octets;
        self.updated.next.head_slot = self.front.val().slot;
        self.updated.next.head_shared = self.front.val().shared;
        if self.at_hand.val().accepting | self.at_hand.val().advancing {
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
            if self.at_hand.val().advancing {
                self.updated.next.has_next = self.held_popped.q.val().has_next;
                self.updated.next.next_span = self.held_popped.q.val().next_span;
                if self.held_popped.q.val().placed {
                    // Its records are replayed first.
                    self.updated.next.sequence = self.held_popped.q.val().sequence;
                    self.updated.next.phase = self.held_popped.q.val().phase;
                    self.updated.next.busy = true;
                }
            } else if self.at_hand.val().joining {
                self.updated.next.has_next = true;
                self.updated.next.next_span = self.right_range.val().first;
                self.updated.next.last_span = self.right_range.val().last;
            }
        } else if self.at_hand.val().finishing {
            self.updated.next.avail = self.fewer.q.val();
            self.updated.next.missing = self.missing.q.val();
            self.updated.next.sequence = self.sequence_after.q.val();
            self.updated.next.phase = self.phase_after.q.val();
            self.updated.next.place_next = self.job_done.val().place_next;
            self.updated.next.busy = self.another.q.val();
            self.updated.next.placed =
                self.held.q.val().placed | (self.job_done.val().ooo & self.consumed.val().any());
            self.updated.next.refused = self.held.q.val().refused | self.job_done.val().refused;
        } else if self.at_hand.val().starting {
            self.updated.next = self.fresh.val();
        } else if self.at_hand.val().clearing {
            self.updated.next = self.nothing.val();
        } else if self.at_hand.val().relinking {
            self.updated.next.last_span = self.right_range.val().last;
        } else {
            // Stop, a fault, or a release that must wait for the job in flight; the spans after
            // the stream do not wait for it.
            self.updated.next.stopped = true;
            if self.at_hand.val().faulting {
                self.updated.next.busy = true;
            }
            if self.at_hand.val().releasing {
                self.updated.next.has_next = false;
            }
            if self.at_hand.val().purging {
                self.updated.next.avail = 0.into();
            }
        }
    }
}

#[cfg(test)]
mod tests;
