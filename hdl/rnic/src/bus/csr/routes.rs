//! Routes the count pulses of each room to their counters.
//!
//! ```text
//! pulses of front end, packet, tcp, ddp, placement --> [ table ] --> [ register ] --> counts
//! ```
//!
//! | latency    | 1 cycle                                                      |
//! | throughput | one pulse per counter and cycle                              |
//! | units      | bit `i` of `counts` is counter `i` of `rnic_abi::counters`   |
//!
//! Each room numbers its pulses by its own constants. The tables below map them to counters;
//! the build fails if a pulse has none, or two. The rooms are placed far away, so the register
//! separates their paths.
use crate::bus::reads::types::cause;
use crate::receive::front_end::verdict;
use crate::receive::tcp::decision;
use crate::transmit::types::count;
use rnic_abi::counters::{Counter, COUNT, FIRST_REFUSAL};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(COUNT == 61, "the port `counts` has one bit per counter");

/// Pulses of the front end.
const FRONT_END: [Counter; 8] = by_bit([
    (verdict::COUNT_FRAMES, Counter::Frames),
    (verdict::COUNT_DISABLED, Counter::DropDisabled),
    (verdict::COUNT_MAC_ERROR, Counter::DropMacError),
    (verdict::COUNT_RUNT, Counter::DropRunt),
    (verdict::COUNT_TOO_LONG, Counter::DropFrameTooLong),
    (verdict::COUNT_IP_CHECKSUM, Counter::DropIpChecksum),
    (verdict::COUNT_IP_MALFORMED, Counter::DropIpMalformed),
    (verdict::COUNT_TCP_MALFORMED, Counter::DropTcpMalformed),
]);

/// Pulses of TCP.
const TCP: [Counter; 10] = by_bit([
    (decision::COUNT_CHECKSUM, Counter::DropTcpChecksum),
    (decision::COUNT_PURE_ACK, Counter::TcpPureAck),
    (decision::COUNT_CONTROL, Counter::TcpControl),
    (decision::COUNT_IN_ORDER, Counter::TcpInOrder),
    (decision::COUNT_TRIMMED, Counter::TcpTrimmed),
    (decision::COUNT_DUPLICATE, Counter::DropTcpDuplicate),
    (decision::COUNT_OUT_OF_ORDER, Counter::TcpOutOfOrder),
    (
        decision::COUNT_OUTSIDE_WINDOW,
        Counter::DropTcpOutsideWindow,
    ),
    (decision::COUNT_NO_ROOM, Counter::DropTcpNoRoom),
    (decision::COUNT_NO_RANGE, Counter::DropTcpNoRange),
]);

/// Pulses of placement, as its head lists them.
const PLACEMENT: [Counter; 4] = by_bit([
    (0, Counter::HostFrames),
    (1, Counter::DropHostRingFull),
    (2, Counter::DropHostFrameTooLong),
    (3, Counter::Completions),
]);

/// Pulses of transmit.
const TRANSMIT: [Counter; 5] = by_bit([
    (count::SENT, Counter::TxFrames),
    (count::REFUSED, Counter::TxRefused),
    (count::FAILED, Counter::TxFailed),
    (count::STOPPED, Counter::TxRingStopped),
    (count::TAIL_IGNORED, Counter::TxTailIgnored),
]);

/// Pulses of the read engine.
const READS: [Counter; 8] = by_bit([
    (cause::TIMED_OUT, Counter::ReadTimedOut),
    (cause::UNSUPPORTED, Counter::ReadUnsupported),
    (cause::ABORTED, Counter::ReadAborted),
    (cause::POISONED, Counter::ReadPoisoned),
    (cause::MALFORMED, Counter::ReadMalformed),
    (cause::UNEXPECTED, Counter::ReadUnexpected),
    (cause::LATE, Counter::ReadLate),
    (cause::REFUSED, Counter::ReadRefused),
]);

/// The counters in the order of their pulses' bits, each of which is named once.
const fn by_bit<const N: usize>(routes: [(usize, Counter); N]) -> [Counter; N] {
    let mut counters = [routes[0].1; N];
    let (mut named, mut i) = (0u64, 0);
    while i < N {
        let (bit, counter) = routes[i];
        assert!(named & (1 << bit) == 0, "a pulse has two counters");
        named |= 1 << bit;
        counters[bit] = counter;
        i += 1;
    }
    assert!(named == (1 << N) - 1, "a pulse has no counter");
    counters
}

/// Puts each pulse in its counter's bit.
#[derive(LogicBlock, Init)]
pub struct CounterRoutes {
    pub clock: Signal<In, Clock>,
    /// Bits as in [`verdict`].
    pub front_end: Signal<In, Bits<8>>,
    /// A frame found no page.
    pub no_page: Signal<In, Bit>,
    /// Bits as in [`decision`].
    pub tcp: Signal<In, Bits<10>>,
    /// An FPDU passed CRC and markers.
    pub fpdu: Signal<In, Bit>,
    /// `rnic_abi::errors::StreamError` of a refused FPDU.
    pub error_number: Signal<In, Bits<5>>,
    pub error_valid: Signal<In, Bit>,
    /// Bits as in [`crate::receive::placement`].
    pub placement: Signal<In, Bits<4>>,
    /// Bits as in [`count`].
    pub transmit: Signal<In, Bits<5>>,
    /// Bits as in [`cause`].
    pub reads: Signal<In, Bits<8>>,
    /// A frame of the wire is dropped for loopback.
    pub looped: Signal<In, Bit>,
    /// A post is refused: its queue is closed, or full.
    pub post_closed: Signal<In, Bit>,
    pub post_full: Signal<In, Bit>,
    pub counts: Signal<Out, Bits<COUNT>>,
    held: DFF<Bits<COUNT>>,
    gathered: Signal<Local, Bits<COUNT>>,
    #[constants(|bit| FRONT_END[bit].index() as LiteralType)]
    front_end_route: [Constant<Bits<6>>; 8],
    #[constants(|bit| TCP[bit].index() as LiteralType)]
    tcp_route: [Constant<Bits<6>>; 10],
    #[constants(|bit| PLACEMENT[bit].index() as LiteralType)]
    placement_route: [Constant<Bits<6>>; 4],
    #[constants(|bit| TRANSMIT[bit].index() as LiteralType)]
    transmit_route: [Constant<Bits<6>>; 5],
    #[constants(|bit| READS[bit].index() as LiteralType)]
    reads_route: [Constant<Bits<6>>; 8],
    #[constant(Counter::DropLoopback.index() as LiteralType)]
    looped_route: Constant<Bits<6>>,
    #[constant(Counter::RefusePostClosed.index() as LiteralType)]
    post_closed_route: Constant<Bits<6>>,
    #[constant(Counter::RefusePostFull.index() as LiteralType)]
    post_full_route: Constant<Bits<6>>,
    #[constant(Counter::DropNoPage.index() as LiteralType)]
    no_page_route: Constant<Bits<6>>,
    #[constant(Counter::Fpdus.index() as LiteralType)]
    fpdu_route: Constant<Bits<6>>,
    /// Of error number `n + 1`.
    #[constants(|n| (FIRST_REFUSAL + n) as LiteralType)]
    refusal_route: [Constant<Bits<6>>; 21],
}

impl Logic for CounterRoutes {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held);
        self.gathered.next = 0.into();
        for bit in 0..8 {
            self.gathered.next = self.gathered.val().replace_bit(
                self.front_end_route[bit].val().index(),
                self.front_end.val().get_bit(bit),
            );
        }
        for bit in 0..10 {
            self.gathered.next = self.gathered.val().replace_bit(
                self.tcp_route[bit].val().index(),
                self.tcp.val().get_bit(bit),
            );
        }
        for bit in 0..4 {
            self.gathered.next = self.gathered.val().replace_bit(
                self.placement_route[bit].val().index(),
                self.placement.val().get_bit(bit),
            );
        }
        for bit in 0..5 {
            self.gathered.next = self.gathered.val().replace_bit(
                self.transmit_route[bit].val().index(),
                self.transmit.val().get_bit(bit),
            );
        }
        for bit in 0..8 {
            self.gathered.next = self.gathered.val().replace_bit(
                self.reads_route[bit].val().index(),
                self.reads.val().get_bit(bit),
            );
        }
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(self.looped_route.val().index(), self.looped.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(self.post_closed_route.val().index(), self.post_closed.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(self.post_full_route.val().index(), self.post_full.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(self.no_page_route.val().index(), self.no_page.val());
        self.gathered.next = self
            .gathered
            .val()
            .replace_bit(self.fpdu_route.val().index(), self.fpdu.val());
        if self.error_valid.val() {
            for n in 0..21 {
                if self.error_number.val().index() == (n + 1) {
                    self.gathered.next = self
                        .gathered
                        .val()
                        .replace_bit(self.refusal_route[n].val().index(), true);
                }
            }
        }
        self.held.d.next = self.gathered.val();
        self.counts.next = self.held.q.val();
    }
}

#[cfg(test)]
mod tests;
