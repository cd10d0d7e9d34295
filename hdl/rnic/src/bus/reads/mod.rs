//! Read engine: octets of host memory, in the order in which they were asked for.
//!
//! ```text
//! command --> Requester --------------------------------------------> request_header
//!               |   ^  issue, span
//!          part |   +-----------------> TagTable <-- report --+
//!               |                        |    ^               |
//!               |     head_open, failed  |    | retire       |
//!               v                        v    |               |
//!             [FIFO] ----------------> PartWalker       CompletionBeats
//!                                        |                    | write_*      completion_header
//!                         read_address   v                    v                     |
//!                       read_* <-- Joiner <-- ReadStore <-----+-- CompletionCheck <-+
//! ```
//!
//! | latency    | 4 cycles, command to request; 16 from the last beat of a tag's last         |
//! |            | completion to `read_valid`                                                  |
//! | throughput | a beat a cycle, and one idle cycle after each read; 16 tags of 512 octets   |
//! |            | at D = 128 cover a latency of 400 cycles, 64 at D = 512 one of 400          |
//! | units      | octets, beats of `D` bits, ticks                                            |
//! | source     | PCI Express Base Specification, sections 2.2.5 to 2.2.9, 2.3.1, 2.3.2, 2.8  |
//!
//! A command is cut into requests that each lie in one line of the maximum read request size, at
//! most 512 octets, so no request crosses 4 KiB ([`requester`]). Each takes a tag, and each tag has
//! its own place in the store, where its completions land in any order ([`completions`], [`beats`],
//! [`store`]): the store is the reorder buffer, and there is always room for a completion. Reads
//! are answered in order, octet 0 in lane 0 of the first beat ([`walker`], [`Joiner`]).
//!
//! | what goes wrong                              | the read       | its tag                     |
//! |----------------------------------------------|----------------|-----------------------------|
//! | no answer within `timeout_ticks`             | ends in error  | in quarantine               |
//! | status UR, CA, or one that a read never has  | ends in error  | free                        |
//! | poisoned completion                          | ends in error  | free when all octets came   |
//! | completion that is not what is due           | ends in error  | in quarantine               |
//! | completion for no open tag                   | goes on        | -                           |
//! | no octets, past the end of the address space | ends in error  | -                           |
//! | every tag in quarantine for a time-out       | ends in error  | -                           |
//!
//! A read that ends in error has one last beat with `read_error`; beats before it are good octets
//! of it, and it may have fewer octets than were asked for. Octets of a request that failed never
//! leave. Each row has a bit in `counts` ([`types::cause`]).
//!
//! **Tags** ([`tags`]). A tag is used again when every octet of it has come in completions that
//! fit, or the completer has refused it. Until then it is in quarantine, also across `reset`, so
//! late completions are distinguished from those of later reads without generations and without a
//! wait. Only `link_reset` frees such tags: a link that goes down drops what is on its way.

pub mod types;
pub mod requester;
pub mod tags;
pub mod completions;
pub mod beats;
pub mod store;
pub mod walker;

use crate::common::fifo::Fifo;
use crate::receive::packet::joiner::Joiner;
use beats::CompletionBeats;
use completions::CompletionCheck;
use requester::Requester;
use rnic_hdl_tools::emit::{verilog_named, EmitError};
use rnic_macros::kernel;
use rust_hdl::prelude::*;
use store::ReadStore;
use tags::TagTable;
use types::*;
use walker::PartWalker;

/// The engine at D = 128: 16 tags.
pub type ReadEngine128 = ReadEngine<128, 4, 4, 5, 16, 2, 1, 4, 2>;
/// The engine at D = 512: 64 tags.
pub type ReadEngine512 = ReadEngine<512, 16, 6, 7, 64, 4, 2, 6, 3>;

/// The Verilog of the engine for beats of `width` bits; its top module is `reads`.
///
/// # Errors
/// The checks or the emission lint refuse the engine.
///
/// # Panics
/// If `width` is not 128 or 512.
pub fn verilog(width: usize) -> Result<String, EmitError> {
    match width {
        128 => verilog_named("reads", &ReadEngine128::standalone()),
        512 => verilog_named("reads", &ReadEngine512::standalone()),
        other => panic!("there is no read engine of width {other}: use 128 or 512"),
    }
}

/// Read engine of width `D`: `L = D / 32 = 2^G` lanes, `T = 2^A` tags, `F = A + 1`, beats of `2^O`
/// octets; `H` and `P` are half of `G` and `O`.
#[derive(LogicBlock, Default)]
pub struct ReadEngine<
    const D: usize,
    const L: usize,
    const A: usize,
    const F: usize,
    const T: usize,
    const G: usize,
    const H: usize,
    const O: usize,
    const P: usize,
> {
    pub clock: Signal<In, Clock>,
    /// Drops every read; tags that are open go into quarantine.
    pub reset: Signal<In, Bit>,
    /// The link is down: drops every read, frees every tag.
    pub link_reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    /// Max_Read_Request_Size: 128 octets shifted left by this. 6 and 7 (reserved) mean 128.
    pub max_read_request: Signal<In, Bits<3>>,
    /// Extended Tag Field Enable: without it only 32 tags are used.
    pub extended_tags: Signal<In, Bit>,
    /// One cycle for each tick.
    pub tick: Signal<In, Bit>,
    /// A request is given up after more than this many ticks.
    pub timeout_ticks: Signal<In, Bits<16>>,
    /// No request may begin; one that is on offer stays.
    pub hold: Signal<In, Bit>,
    pub command: Signal<In, ReadCommand>,
    pub command_valid: Signal<In, Bit>,
    pub command_ready: Signal<Out, Bit>,
    /// Non-posted requests, without payload: see [`crate::bus::pcie`].
    pub request_header: Signal<Out, Bits<128>>,
    pub request_valid: Signal<Out, Bit>,
    pub request_ready: Signal<In, Bit>,
    /// TLPs for this function, of which only completions count; always taken.
    pub completion_data: Signal<In, Bits<D>>,
    pub completion_keep: Signal<In, Bits<L>>,
    pub completion_last: Signal<In, Bit>,
    pub completion_valid: Signal<In, Bit>,
    pub completion_header: Signal<In, Bits<128>>,
    /// Octets of the reads; only a read's last beat may have fewer than `D / 8`, or none.
    pub read_data: Signal<Out, Bits<D>>,
    pub read_octets: Signal<Out, Bits<7>>,
    /// Last beat of the read.
    pub read_last: Signal<Out, Bit>,
    /// With `read_last`: octets are missing.
    pub read_error: Signal<Out, Bit>,
    /// With `read_last`: as in [`ReadCommand`].
    pub read_cookie: Signal<Out, Bits<8>>,
    pub read_valid: Signal<Out, Bit>,
    pub read_ready: Signal<In, Bit>,
    /// No completion is due, and no request is on offer.
    pub idle: Signal<Out, Bit>,
    /// One cycle for each event: see [`cause`].
    pub counts: Signal<Out, Bits<{ cause::COUNT }>>,
    requester: Requester,
    tags: TagTable<A, T>,
    check: CompletionCheck<L, A, T>,
    beats: CompletionBeats<L>,
    store: ReadStore<D, L, A, G, H>,
    walker: PartWalker<A, F, O>,
    joiner: Joiner<D, O, P>,
    ends: Fifo<ReadEnd, 5, 6>,
    drop: Signal<Local, Bit>,
    gathered: Signal<Local, Bits<{ cause::COUNT }>>,
}

impl<
        const D: usize,
        const L: usize,
        const A: usize,
        const F: usize,
        const T: usize,
        const G: usize,
        const H: usize,
        const O: usize,
        const P: usize,
    > ReadEngine<D, L, A, F, T, G, H, O, P>
{
    /// The engine with every input connected, ready to be emitted.
    pub fn standalone() -> Self {
        let mut engine = Self::default();
        engine.clock.connect();
        engine.reset.connect();
        engine.link_reset.connect();
        engine.device_id.connect();
        engine.max_read_request.connect();
        engine.extended_tags.connect();
        engine.tick.connect();
        engine.timeout_ticks.connect();
        engine.hold.connect();
        engine.command.connect();
        engine.command_valid.connect();
        engine.request_ready.connect();
        engine.completion_data.connect();
        engine.completion_keep.connect();
        engine.completion_last.connect();
        engine.completion_valid.connect();
        engine.completion_header.connect();
        engine.read_ready.connect();
        engine.connect_all();
        engine
    }
}

impl<
        const D: usize,
        const L: usize,
        const A: usize,
        const F: usize,
        const T: usize,
        const G: usize,
        const H: usize,
        const O: usize,
        const P: usize,
    > Logic for ReadEngine<D, L, A, F, T, G, H, O, P>
{
    #[kernel]
    fn update(&mut self) {
        self.drop.next = self.reset.val() | self.link_reset.val();
        wire!(self => self.{requester, tags, check, beats, store, walker, joiner, ends}; clock);
        wire!(self => self.{requester, walker, joiner, ends}; drop as reset);
        wire!(self => self.tags; reset);
        wire!(self => self.{tags, check, beats}; link_reset);
        wire!(self => self.{requester, check}; device_id);
        wire!(self => self.{tags, walker}; timeout_ticks);

        // Commands to requests.
        stream!(self => self.requester; command);
        wire!(self => self.requester; max_read_request, hold);
        wire!(self.requester => self; request_header, request_valid);
        self.requester.request_ready.next = self.request_ready.val();
        wire!(self => self.tags; extended_tags, tick);
        wire!(self.tags => self.requester; free_tag, free_valid, starved);
        wire!(self.tags => self.{requester, walker}; now);
        wire!(self.requester => self.{tags, check}; issue);
        self.check.issue_tag.next = self.tags.free_tag.val();
        self.check.span.next = self.requester.span.val();
        self.idle.next = self.tags.idle.val() & !self.requester.request_valid.val();

        // Completions to the store.
        wire!(self => self.check;
            completion_header, completion_keep, completion_last, completion_valid);
        self.store.completion_data.next = self.completion_data.val();
        wire!(self.check => self.beats;
            checked, checked_first, checked_keep, checked_last, checked_valid);
        wire!(self.beats => self.store; write_valid, write_tag, write_dword, write_lanes);
        wire!(self.beats => self.tags; report, report_valid);

        // Parts to reads.
        wire!(self.requester => self.walker; part, part_valid);
        self.requester.part_room.next = self.walker.part_room.val();
        self.tags.head_tag.next = self.walker.head_tag.val();
        wire!(self.tags => self.walker; head_open, head_failed);
        wire!(self.walker => self.tags; retire, retire_tag);
        self.store.read_address.next = self.walker.read_address.val();
        wire!(self.walker => self.joiner; beat_valid, beat_first, beat_octets, beat_last);
        self.joiner.beat_data.next = self.store.read_data.val();
        self.walker.hold.next = self.joiner.almost_full.val();
        wire!(self.walker => self.ends; finish as data_in, finish_valid as write);

        // An end is stored five cycles before its beat.
        wire!(self.joiner => self;
            joined_data as read_data, joined_octets as read_octets, joined_last as read_last,
            joined_valid as read_valid);
        self.joiner.joined_ready.next = self.read_ready.val();
        self.read_error.next = self.joiner.joined_last.val() & self.ends.data_out.val().error;
        self.read_cookie.next = self.ends.data_out.val().cookie;
        self.ends.read.next = self.joiner.joined_valid.val()
            & (self.joiner.joined_last.val() & self.read_ready.val());

        self.gathered.next = 0.into();
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(0, self.walker.timed_out.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(1, self.beats.unsupported.val());
        self.gathered.next = self.gathered.val().replace_bit(2, self.beats.aborted.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(3, self.beats.poisoned.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(4, self.beats.malformed.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(5, self.check.unexpected.val());
        self.gathered.next = self.gathered.val().replace_bit(6, self.tags.late.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(7, self.walker.refused.val());
        self.counts.next = self.gathered.val();
    }
}

#[cfg(test)]
pub mod tests;
