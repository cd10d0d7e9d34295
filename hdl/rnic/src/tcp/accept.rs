//! Acceptance of segments: which payload octets of a frame are next in order, and where all other
//! frames go.
//!
//! ```text
//! frame, found --> Idle -> Fetch -> Load -> Judge -> Decide --> accepted | host_frame | release
//!                   |      class      |  [ judge ]     |
//!                   +-- address -> [ contexts ] <------+ rcv_nxt, SEG.ACK, SEG.WND, FIN
//!                                      ^
//! table bus --> TableWrite, TableRead -+
//! ```
//!
//! | latency    | 5 cycles, `frame_valid` to `accepted_valid`                              |
//! | throughput | one frame per 5 cycles; `Judge` waits until all three outputs have room  |
//! | units      | octets; sequence numbers modulo 2^32                                     |
//! | tables     | `TCP`, read and write, between two frames                                |
//!
//! Serial on purpose: a context is written back before the next segment reads it. The arithmetic of
//! the window is in [`super::judge`], the order of the tests in the room's door ([`super`]).
use super::judge::SegmentJudge;
use super::records::{LookupResult, TcpContext, WaitingFrame};
use crate::common::ram::SdpRam;
use crate::common::skid::Skid;
use crate::messages::{Accepted, HostFrame, PageChain, SegmentEvent, TableRequest, VERDICT_TCP};
use rnic_abi::events::SegmentVerdict;
use rnic_abi::tables;
use rust_hdl::prelude::*;

/// Pulses of `counts`, one bit each.
pub const COUNTS: usize = 8;
/// Bit of `counts`: `Counter::DropTcpChecksum`.
pub const COUNT_CHECKSUM: usize = 0;
/// Bit of `counts`: `Counter::TcpPureAck`.
pub const COUNT_PURE_ACK: usize = 1;
/// Bit of `counts`: `Counter::TcpControl`.
pub const COUNT_CONTROL: usize = 2;
/// Bit of `counts`: `Counter::TcpInOrder`.
pub const COUNT_IN_ORDER: usize = 3;
/// Bit of `counts`: `Counter::TcpTrimmed`.
pub const COUNT_TRIMMED: usize = 4;
/// Bit of `counts`: `Counter::DropTcpDuplicate`.
pub const COUNT_DUPLICATE: usize = 5;
/// Bit of `counts`: `Counter::DropTcpOutOfOrder`.
pub const COUNT_OUT_OF_ORDER: usize = 6;
/// Bit of `counts`: `Counter::DropTcpOutsideWindow`.
pub const COUNT_OUTSIDE_WINDOW: usize = 7;

/// What the machine does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum AcceptState {
    /// Waits for a table request or a frame, and gives the context RAM the frame's address.
    Idle,
    /// The RAM reads; the frame's class is found out.
    Fetch,
    /// The context is there and goes to the judge.
    Load,
    /// The judge compares.
    Judge,
    /// Waits for room in all outputs, then the verdict.
    Decide,
    /// Stores the table bus' context.
    TableWrite,
    /// The context RAM has the table bus' address.
    TableAddress,
    /// The RAM reads for the table bus.
    TableFetch,
    /// The context goes to the table bus.
    TableRead,
}

/// What a frame is before its context counts, in the order of the tests.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum FrameClass {
    /// Not TCP, or of no connection.
    Foreign,
    /// TCP checksum wrong.
    BadChecksum,
    /// SYN, RST, URG, or FIN without payload.
    Control,
    /// No payload.
    PureAck,
    /// Payload.
    Data,
}

/// Decides on one frame after the other.
#[derive(LogicBlock)]
pub struct SegmentAcceptance {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; clears control, not the contexts.
    pub reset: Signal<In, Bit>,
    /// The frame to decide on.
    pub frame: Signal<In, WaitingFrame>,
    /// What its lookup found; counts in the first cycle only.
    pub found: Signal<In, LookupResult>,
    /// Both are there; `frame` holds until `frame_ready`.
    pub frame_valid: Signal<In, Bit>,
    /// The frame is decided.
    pub frame_ready: Signal<Out, Bit>,
    /// Octets accepted in order.
    pub accepted: Signal<Out, Accepted>,
    /// `accepted` holds a message.
    pub accepted_valid: Signal<Out, Bit>,
    /// It is taken.
    pub accepted_ready: Signal<In, Bit>,
    /// A frame for the host.
    pub host_frame: Signal<Out, HostFrame>,
    /// `host_frame` holds a message.
    pub host_frame_valid: Signal<Out, Bit>,
    /// It is taken.
    pub host_frame_ready: Signal<In, Bit>,
    /// Pages of a frame nobody wants.
    pub page_release: Signal<Out, PageChain>,
    /// `page_release` holds a message.
    pub page_release_valid: Signal<Out, Bit>,
    /// It is taken.
    pub page_release_ready: Signal<In, Bit>,
    /// Trace: verdict on a segment with payload.
    pub segment_event: Signal<Out, SegmentEvent>,
    /// For one cycle.
    pub segment_event_valid: Signal<Out, Bit>,
    /// One-cycle pulses, see `COUNT_CHECKSUM` and the following.
    pub counts: Signal<Out, Bits<COUNTS>>,
    /// Table bus; table `TCP` is answered here.
    pub table_request: Signal<In, TableRequest>,
    /// The request stands.
    pub table_valid: Signal<In, Bit>,
    /// It is done, for one cycle.
    pub table_done: Signal<Out, Bit>,
    /// What was read, with `table_done`; zero otherwise.
    pub table_data: Signal<Out, Bits<128>>,
    contexts: SdpRam<TcpContext, 10>,
    judge: SegmentJudge,
    accepted_out: Skid<Accepted>,
    host_out: Skid<HostFrame>,
    release_out: Skid<PageChain>,
    state: DFF<AcceptState>,
    frame_class: DFF<FrameClass>,
    // `frame_class` is Data.
    is_data: DFF<Bit>,
    connection: DFF<Bits<10>>,
    connected: DFF<Bit>,
    current: DFF<TcpContext>,
    trace: DFF<SegmentEvent>,
    trace_valid: DFF<Bit>,
    pulses: DFF<Bits<COUNTS>>,
    done: DFF<Bit>,
    data: DFF<Bits<128>>,
    flags: Signal<Local, Bits<6>>,
    empty: Signal<Local, Bit>,
    decide: Signal<Local, Bit>,
    message: Signal<Local, Accepted>,
    host_message: Signal<Local, HostFrame>,
    chain: Signal<Local, PageChain>,
    accepts: Signal<Local, Bit>,
    to_host: Signal<Local, Bit>,
    updated: Signal<Local, TcpContext>,
    request_data: Signal<Local, Bits<320>>,
    request_index: Signal<Local, Bits<16>>,
    request_here: Signal<Local, Bit>,
    read_back: Signal<Local, Bits<113>>,
    counted: Signal<Local, Bits<COUNTS>>,
    verdict_tcp: Constant<Bits<2>>,
    table_tcp: Constant<Bits<4>>,
    operation_write: Constant<Bits<2>>,
    operation_read: Constant<Bits<2>>,
    verdict_trimmed: Constant<Bits<3>>,
    verdict_duplicate: Constant<Bits<3>>,
    verdict_out_of_order: Constant<Bits<3>>,
    count_checksum: Constant<Bits<COUNTS>>,
    count_pure_ack: Constant<Bits<COUNTS>>,
    count_control: Constant<Bits<COUNTS>>,
    count_in_order: Constant<Bits<COUNTS>>,
    count_trimmed: Constant<Bits<COUNTS>>,
    count_duplicate: Constant<Bits<COUNTS>>,
    count_out_of_order: Constant<Bits<COUNTS>>,
    count_outside_window: Constant<Bits<COUNTS>>,
}

impl Default for SegmentAcceptance {
    fn default() -> Self {
        let pulse = |bit: usize| Constant::new((1 as LiteralType).wrapping_shl(bit as u32).into());
        let verdict = |verdict: SegmentVerdict| Constant::new((verdict as LiteralType).into());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            frame: Default::default(),
            found: Default::default(),
            frame_valid: Default::default(),
            frame_ready: Default::default(),
            accepted: Default::default(),
            accepted_valid: Default::default(),
            accepted_ready: Default::default(),
            host_frame: Default::default(),
            host_frame_valid: Default::default(),
            host_frame_ready: Default::default(),
            page_release: Default::default(),
            page_release_valid: Default::default(),
            page_release_ready: Default::default(),
            segment_event: Default::default(),
            segment_event_valid: Default::default(),
            counts: Default::default(),
            table_request: Default::default(),
            table_valid: Default::default(),
            table_done: Default::default(),
            table_data: Default::default(),
            contexts: Default::default(),
            judge: Default::default(),
            accepted_out: Default::default(),
            host_out: Default::default(),
            release_out: Default::default(),
            state: Default::default(),
            frame_class: Default::default(),
            is_data: Default::default(),
            connection: Default::default(),
            connected: Default::default(),
            current: Default::default(),
            trace: Default::default(),
            trace_valid: Default::default(),
            pulses: Default::default(),
            done: Default::default(),
            data: Default::default(),
            flags: Default::default(),
            empty: Default::default(),
            decide: Default::default(),
            message: Default::default(),
            host_message: Default::default(),
            chain: Default::default(),
            accepts: Default::default(),
            to_host: Default::default(),
            updated: Default::default(),
            request_data: Default::default(),
            request_index: Default::default(),
            request_here: Default::default(),
            read_back: Default::default(),
            counted: Default::default(),
            verdict_tcp: Constant::new(VERDICT_TCP.into()),
            table_tcp: Constant::new(LiteralType::from(tables::TCP).into()),
            operation_write: Constant::new(LiteralType::from(tables::WRITE).into()),
            operation_read: Constant::new(LiteralType::from(tables::READ).into()),
            verdict_trimmed: verdict(SegmentVerdict::Trimmed),
            verdict_duplicate: verdict(SegmentVerdict::Duplicate),
            verdict_out_of_order: verdict(SegmentVerdict::OutOfOrder),
            count_checksum: pulse(COUNT_CHECKSUM),
            count_pure_ack: pulse(COUNT_PURE_ACK),
            count_control: pulse(COUNT_CONTROL),
            count_in_order: pulse(COUNT_IN_ORDER),
            count_trimmed: Constant::new(
                ((1 << COUNT_IN_ORDER) | (1 << COUNT_TRIMMED) as LiteralType).into(),
            ),
            count_duplicate: pulse(COUNT_DUPLICATE),
            count_out_of_order: pulse(COUNT_OUT_OF_ORDER),
            count_outside_window: pulse(COUNT_OUTSIDE_WINDOW),
        }
    }
}

impl Logic for SegmentAcceptance {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            frame_class,
            is_data,
            connection,
            connected,
            current
        );
        dff_setup!(self, clock, trace, trace_valid, pulses, done, data);
        self.contexts.clock.next = self.clock.val();
        self.judge.clock.next = self.clock.val();
        self.accepted_out.clock.next = self.clock.val();
        self.accepted_out.reset.next = self.reset.val();
        self.host_out.clock.next = self.clock.val();
        self.host_out.reset.next = self.reset.val();
        self.release_out.clock.next = self.clock.val();
        self.release_out.reset.next = self.reset.val();
        self.accepted.next = self.accepted_out.m_data.val();
        self.accepted_valid.next = self.accepted_out.m_valid.val();
        self.accepted_out.m_ready.next = self.accepted_ready.val();
        self.host_frame.next = self.host_out.m_data.val();
        self.host_frame_valid.next = self.host_out.m_valid.val();
        self.host_out.m_ready.next = self.host_frame_ready.val();
        self.page_release.next = self.release_out.m_data.val();
        self.page_release_valid.next = self.release_out.m_valid.val();
        self.release_out.m_ready.next = self.page_release_ready.val();
        self.segment_event.next = self.trace.q.val();
        self.segment_event_valid.next = self.trace_valid.q.val();
        self.counts.next = self.pulses.q.val();
        self.table_done.next = self.done.q.val();
        self.table_data.next = self.data.q.val();

        // The judge follows the context RAM; its answer counts in state Decide.
        self.judge.seg_seq.next = self.frame.val().seg_seq;
        self.judge.seg_len.next = self.frame.val().payload_octets;
        self.judge.payload_offset.next = self.frame.val().payload_offset;
        self.judge.rcv_nxt.next = self.contexts.read_data.val().rcv_nxt;
        self.judge.window.next = self.contexts.read_data.val().window;
        self.flags.next = self.frame.val().flags;
        self.empty.next = self.frame.val().payload_octets == 0;

        // The three messages; the class and the verdict say which one is sent.
        self.message.next.connection = self.connection.q.val();
        self.message.next.head_page = self.frame.val().head_page;
        self.message.next.tail_page = self.frame.val().tail_page;
        self.message.next.offset = self.judge.offset.val();
        self.message.next.octets = self.judge.octets.val();
        self.message.next.early = false;
        self.message.next.has_left = false;
        self.message.next.left = 0.into();
        self.message.next.has_right = false;
        self.message.next.right = 0.into();
        self.message.next.shared = false;
        self.message.next.first = true;
        self.message.next.last = true;
        self.message.next.purges = false;
        self.accepted_out.s_data.next = self.message.val();
        self.host_message.next.head_page = self.frame.val().head_page;
        self.host_message.next.tail_page = self.frame.val().tail_page;
        self.host_message.next.frame_octets = self.frame.val().frame_octets;
        self.host_out.s_data.next = self.host_message.val();
        self.chain.next.head_page = self.frame.val().head_page;
        self.chain.next.tail_page = self.frame.val().tail_page;
        self.release_out.s_data.next = self.chain.val();
        self.to_host.next = (self.frame_class.q.val() == FrameClass::Foreign)
            | (self.frame_class.q.val() == FrameClass::Control);
        self.accepts.next = self.is_data.q.val() & self.judge.accept.val();
        self.decide.next = self.state.q.val() == AcceptState::Decide;
        self.frame_ready.next = self.decide.val();
        self.accepted_out.s_valid.next = self.decide.val() & self.accepts.val();
        self.host_out.s_valid.next = self.decide.val() & self.to_host.val();
        self.release_out.s_valid.next =
            self.decide.val() & !self.to_host.val() & !self.accepts.val();
        self.trace.d.next.connection = self.connection.q.val();
        self.trace.d.next.verdict = self.judge.verdict.val();
        self.trace.d.next.seg_seq = self.frame.val().seg_seq;
        self.trace.d.next.seg_len = self.frame.val().payload_octets;
        self.trace_valid.d.next =
            self.decide.val() & (self.frame_class.q.val() == FrameClass::Data);
        self.counted.next = 0.into();

        // The context after a segment that counts, or the table bus' words.
        self.updated.next = self.current.q.val();
        self.updated.next.seg_ack = self.frame.val().seg_ack;
        self.updated.next.seg_wnd = self.frame.val().seg_wnd;
        if self.accepts.val() {
            self.updated.next.rcv_nxt = self.judge.rcv_nxt_after.val();
            self.updated.next.fin = self.current.q.val().fin
                | (self.flags.val().get_bit(0) & self.judge.to_the_end.val());
        }
        self.request_data.next = self.table_request.val().data;
        self.request_index.next = self.table_request.val().index;
        if self.state.q.val() == AcceptState::TableWrite {
            self.updated.next.rcv_nxt = self.request_data.val().get_bits::<32>(0);
            self.updated.next.window = self.request_data.val().get_bits::<32>(32);
            self.updated.next.seg_ack = self.request_data.val().get_bits::<32>(64);
            self.updated.next.seg_wnd = self.request_data.val().get_bits::<16>(96);
            self.updated.next.fin = self.request_data.val().get_bit(112);
        }
        self.contexts.write_data.next = self.updated.val();
        self.contexts.write_address.next = self.connection.q.val();
        self.contexts.write_enable.next = false;
        self.contexts.read_address.next = self.connection.q.val();
        self.request_here.next = self.table_valid.val()
            & !self.done.q.val()
            & (self.table_request.val().table == self.table_tcp.val());
        self.read_back.next = self.contexts.read_data.val().into();
        self.done.d.next = false;
        self.data.d.next = 0.into();

        match self.state.q.val() {
            AcceptState::Idle => {
                self.contexts.read_address.next = self.found.val().connection;
                if self.request_here.val() {
                    self.connection.d.next = self.request_index.val().get_bits::<10>(0);
                    if self.table_request.val().operation == self.operation_write.val() {
                        self.state.d.next = AcceptState::TableWrite;
                    } else if self.table_request.val().operation == self.operation_read.val() {
                        self.state.d.next = AcceptState::TableAddress;
                    } else {
                        self.done.d.next = true;
                    }
                } else if self.frame_valid.val() {
                    self.connection.d.next = self.found.val().connection;
                    self.connected.d.next = self.found.val().hit;
                    self.state.d.next = AcceptState::Fetch;
                }
            }
            AcceptState::Fetch => {
                self.is_data.d.next = false;
                if (self.frame.val().verdict != self.verdict_tcp.val()) | !self.connected.q.val() {
                    self.frame_class.d.next = FrameClass::Foreign;
                } else if !self.frame.val().checksum_good {
                    self.frame_class.d.next = FrameClass::BadChecksum;
                } else if self.flags.val().get_bit(1)
                    | self.flags.val().get_bit(2)
                    | self.flags.val().get_bit(5)
                    | (self.flags.val().get_bit(0) & self.empty.val())
                {
                    self.frame_class.d.next = FrameClass::Control;
                } else if self.empty.val() {
                    self.frame_class.d.next = FrameClass::PureAck;
                } else {
                    self.frame_class.d.next = FrameClass::Data;
                    self.is_data.d.next = true;
                }
                self.state.d.next = AcceptState::Load;
            }
            AcceptState::Load => {
                self.current.d.next = self.contexts.read_data.val();
                self.state.d.next = AcceptState::Judge;
            }
            // Waits for room for every message; none but Decide takes it away.
            AcceptState::Judge => {
                if self.accepted_out.s_ready.val()
                    & self.host_out.s_ready.val()
                    & self.release_out.s_ready.val()
                {
                    self.state.d.next = AcceptState::Decide;
                }
            }
            AcceptState::Decide => {
                match self.frame_class.q.val() {
                    FrameClass::Foreign => {}
                    FrameClass::BadChecksum => self.counted.next = self.count_checksum.val(),
                    FrameClass::Control => self.counted.next = self.count_control.val(),
                    FrameClass::PureAck => {
                        self.counted.next = self.count_pure_ack.val();
                        self.contexts.write_enable.next = true;
                    }
                    FrameClass::Data => {
                        self.contexts.write_enable.next = true;
                        if self.judge.verdict.val() == self.verdict_trimmed.val() {
                            self.counted.next = self.count_trimmed.val();
                        } else if self.judge.accept.val() {
                            self.counted.next = self.count_in_order.val();
                        } else if self.judge.verdict.val() == self.verdict_duplicate.val() {
                            self.counted.next = self.count_duplicate.val();
                        } else if self.judge.verdict.val() == self.verdict_out_of_order.val() {
                            self.counted.next = self.count_out_of_order.val();
                        } else {
                            self.counted.next = self.count_outside_window.val();
                        }
                    }
                    _ => {}
                }
                self.state.d.next = AcceptState::Idle;
            }
            AcceptState::TableWrite => {
                self.contexts.write_enable.next = true;
                self.done.d.next = true;
                self.state.d.next = AcceptState::Idle;
            }
            AcceptState::TableAddress => self.state.d.next = AcceptState::TableFetch,
            AcceptState::TableFetch => self.state.d.next = AcceptState::TableRead,
            AcceptState::TableRead => {
                self.data.d.next = bit_cast::<128, 113>(self.read_back.val());
                self.done.d.next = true;
                self.state.d.next = AcceptState::Idle;
            }
            _ => {}
        }
        self.pulses.d.next = 0.into();
        if self.decide.val() {
            self.pulses.d.next = self.counted.val();
        }
        if self.reset.val() {
            self.state.d.next = AcceptState::Idle;
            self.trace_valid.d.next = false;
            self.pulses.d.next = 0.into();
            self.done.d.next = false;
            self.data.d.next = 0.into();
        }
    }
}
