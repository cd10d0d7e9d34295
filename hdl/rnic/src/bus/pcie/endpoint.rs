//! BAR0 endpoint: requests of one doubleword become accesses on the register bus.
//!
//! ```text
//! request --> slice --> Idle --> Decode --> Act --> (Wait) --> Respond --> read completion
//!                                            | register bus ^
//! ```
//!
//! | request                                             | answer                                 |
//! |-----------------------------------------------------|----------------------------------------|
//! | memory read, one doubleword                         | completion with data, successful       |
//! | memory write, one doubleword, all four octets       | none; the register is written          |
//! | other posted requests, poisoned writes, completions | none; ignored                          |
//! | every other request                                 | completion, Unsupported Request        |
//!
//! | latency    | request to completion: 6 cycles and the register bus                |
//! | throughput | one request at a time                                               |
//! | units      | `register_address` counts doublewords of BAR0                       |
//! | source     | PCI Express Base Specification, sections 2.2.4, 2.2.9, 2.3.1        |
//!
//! A write with some octets disabled has no effect, because every register is one number. An answer
//! without data is a beat without lanes (`tlp_keep` 0).
use crate::common::skid::Skid;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Fmt and Type of a completion with data (`CplD`).
pub const COMPLETION_DATA: u64 = 0x4a;
/// Fmt and Type of a completion without data (`Cpl`).
pub const COMPLETION: u64 = 0x0a;
/// Fmt and Type of the completion without data of a locked read (`CplLk`).
pub const COMPLETION_LOCKED: u64 = 0x0b;
/// Completion status: successful.
pub const STATUS_SUCCESS: u64 = 0;
/// Completion status: unsupported request (UR).
pub const STATUS_UNSUPPORTED: u64 = 1;

/// Header of a completion, first field in the low bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CompletionHeader {
    /// Payload doublewords; 0 (reserved) without payload.
    pub length: Bits<10>,
    /// Bits 23:10 of doubleword 0, of which traffic class and attributes come from the request.
    pub attributes: Bits<14>,
    /// Fmt and Type.
    pub format: Bits<8>,
    /// Octets remaining, this completion included; 0 means 4096.
    pub byte_count: Bits<12>,
    /// Byte count modified: never.
    pub byte_count_modified: Bit,
    /// Completion status.
    pub status: Bits<3>,
    /// Completer id.
    pub completer: Bits<16>,
    /// Low bits of the address of the first octet returned.
    pub lower_address: Bits<7>,
    /// Always zero.
    pub reserved: Bit,
    /// Tag of the request.
    pub tag: Bits<8>,
    /// Requester id of the request.
    pub requester: Bits<16>,
    /// Doubleword 3: none.
    pub dword_3: Bits<32>,
}

/// State of the request at hand.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum EndpointState {
    Idle,
    Decode,
    Act,
    Wait,
    Respond,
}

/// BAR0 endpoint.
#[derive(LogicBlock, Init)]
pub struct BarEndpoint {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Completer id.
    pub device_id: Signal<In, Bits<16>>,
    /// Header of a request that hit BAR0; doubleword 0 in bits 31:0.
    pub request_header: Signal<In, Bits<128>>,
    /// First doubleword of its payload, the lowest address in bits 7:0.
    pub request_data: Signal<In, Bits<32>>,
    pub request_valid: Signal<In, Bit>,
    pub request_ready: Signal<Out, Bit>,
    /// Register bus: doubleword of BAR0; reads and writes last one cycle.
    pub register_address: Signal<Out, Bits<10>>,
    pub register_read: Signal<Out, Bit>,
    pub register_write: Signal<Out, Bit>,
    pub register_write_data: Signal<Out, Bits<32>>,
    pub register_read_data: Signal<In, Bits<32>>,
    pub register_read_valid: Signal<In, Bit>,
    /// Read completion.
    pub completion_data: Signal<Out, Bits<32>>,
    pub completion_has_data: Signal<Out, Bit>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion_ready: Signal<In, Bit>,
    pub completion_header: Signal<Out, Bits<128>>,
    headers: Skid<Bits<128>>,
    payloads: Skid<Bits<32>>,
    state: DFF<EndpointState>,
    request: DFF<Bits<128>>,
    payload: DFF<Bits<32>>,
    address: DFF<Bits<12>>,
    reads: DFF<Bit>,
    writes: DFF<Bit>,
    refuses: DFF<Bit>,
    locked: DFF<Bit>,
    memory_read: DFF<Bit>,
    leading: DFF<Bits<2>>,
    trailing: DFF<Bits<2>>,
    one_dword: DFF<Bit>,
    header: DFF<Bits<128>>,
    data: DFF<Bits<32>>,
    has_data: DFF<Bit>,
    format: Signal<Local, Bits<8>>,
    kind: Signal<Local, Bits<5>>,
    kind_group: Signal<Local, Bits<2>>,
    completion_group: Signal<Local, Bits<4>>,
    length: Signal<Local, Bits<10>>,
    incoming: Signal<Local, Bits<128>>,
    incoming_length: Signal<Local, Bits<10>>,
    disabled: Signal<Local, Bits<12>>,
    due: Signal<Local, Bits<12>>,
    first_be: Signal<Local, Bits<4>>,
    outer_be: Signal<Local, Bits<4>>,
    lead: Signal<Local, Bits<2>>,
    trail: Signal<Local, Bits<2>>,
    is_memory: Signal<Local, Bit>,
    is_locked: Signal<Local, Bit>,
    with_data: Signal<Local, Bit>,
    unanswered: Signal<Local, Bit>,
    fields: Signal<Local, CompletionHeader>,
    attributes: Signal<Local, Bits<14>>,
    low: Signal<Local, Bits<7>>,
    #[constant(1)]
    one: Constant<Bits<10>>,
    #[constant(COPIED_ATTRIBUTES)]
    attribute_mask: Constant<Bits<14>>,
    #[constant(4)]
    four: Constant<Bits<12>>,
    #[constant(COMPLETION_DATA)]
    format_data: Constant<Bits<8>>,
    #[constant(COMPLETION)]
    format_plain: Constant<Bits<8>>,
    #[constant(COMPLETION_LOCKED)]
    format_locked: Constant<Bits<8>>,
    #[constant(STATUS_SUCCESS)]
    success: Constant<Bits<3>>,
    #[constant(STATUS_UNSUPPORTED)]
    unsupported: Constant<Bits<3>>,
}

/// Bits 23:10 of doubleword 0 that a completion takes over: tag bits 9 and 8, traffic class,
/// attributes. Digest, poisoning, hints and address type are not.
const COPIED_ATTRIBUTES: LiteralType = 0x3f0c;

impl Logic for BarEndpoint {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, request, payload, address, reads, writes, refuses, locked);
        registers!(clock; memory_read, leading, trailing, one_dword, header, data, has_data);
        wire!(self => self.headers;
            clock, reset, request_header as s_data, request_valid as s_valid);
        self.headers.m_ready.next = self.state.q.val() == EndpointState::Idle;
        wire!(self => self.payloads;
            clock, reset, request_data as s_data, request_valid as s_valid);
        self.payloads.m_ready.next = self.state.q.val() == EndpointState::Idle;
        self.request_ready.next = self.headers.s_ready.val();

        // Kind of request. Type 0 is memory, 1 the locked read, 10xxx a message, 0101x a
        // completion; Fmt bit 2 a prefix, bit 1 data, bit 0 the long address.
        self.format.next = self.request.q.val().get_bits::<8>(24);
        self.kind.next = self.request.q.val().get_bits::<5>(24);
        self.kind_group.next = self.request.q.val().get_bits::<2>(27);
        self.completion_group.next = self.request.q.val().get_bits::<4>(25);
        self.length.next = self.request.q.val().get_bits::<10>(0);
        self.incoming.next = self.headers.m_data.val();
        self.incoming_length.next = self.incoming.val().get_bits::<10>(0);
        self.with_data.next = self.format.val().get_bit(6);
        self.is_memory.next = self.kind.val() == 0;
        self.is_locked.next = (self.kind.val() == 1) & !self.with_data.val();
        self.unanswered.next = self.format.val().get_bit(7)
            | (self.is_memory.val() & self.with_data.val())
            | (self.kind_group.val() == 2)
            | (self.completion_group.val() == 5);

        // Octets that are disabled before the first and after the last one asked for.
        self.first_be.next = self.request.q.val().get_bits::<4>(32);
        self.outer_be.next = self.request.q.val().get_bits::<4>(36);
        if self.one_dword.q.val() {
            self.outer_be.next = self.request.q.val().get_bits::<4>(32);
        }
        self.lead.next = 0.into();
        if !self.first_be.val().get_bit(0) & self.first_be.val().any() {
            self.lead.next = 3.into();
            if self.first_be.val().get_bit(1) {
                self.lead.next = 1.into();
            } else if self.first_be.val().get_bit(2) {
                self.lead.next = 2.into();
            }
        }
        // No octet enabled counts as one (a zero-length read).
        self.trail.next = 3.into();
        if self.outer_be.val().get_bit(3) {
            self.trail.next = 0.into();
        } else if self.outer_be.val().get_bit(2) {
            self.trail.next = 1.into();
        } else if self.outer_be.val().get_bit(1) {
            self.trail.next = 2.into();
        }

        self.fields.next.length = 0.into();
        self.attributes.next = self.request.q.val().get_bits::<14>(10);
        self.fields.next.attributes = self.attributes.val() & self.attribute_mask.val();
        self.fields.next.format = self.format_plain.val();
        self.fields.next.byte_count = self.four.val();
        self.fields.next.byte_count_modified = false;
        self.fields.next.status = self.unsupported.val();
        self.fields.next.completer = self.device_id.val();
        self.fields.next.lower_address = 0.into();
        self.fields.next.reserved = false;
        self.fields.next.tag = self.request.q.val().get_bits::<8>(40);
        self.fields.next.requester = self.request.q.val().get_bits::<16>(48);
        self.fields.next.dword_3 = 0.into();
        self.disabled.next =
            bit_cast::<12, 2>(self.leading.q.val()) + bit_cast::<12, 2>(self.trailing.q.val());
        self.due.next = (bit_cast::<12, 10>(self.length.val()) << 2) - self.disabled.val();
        self.low.next = self.address.q.val().get_bits::<7>(0);
        if self.memory_read.q.val() {
            // Section 2.2.9: only memory reads have these; all others 4 and 0.
            self.fields.next.byte_count = self.due.val();
            self.fields.next.lower_address =
                self.low.val() | bit_cast::<7, 2>(self.leading.q.val());
        }
        if self.locked.q.val() {
            self.fields.next.format = self.format_locked.val();
        }
        if self.reads.q.val() {
            self.fields.next.format = self.format_data.val();
            self.fields.next.status = self.success.val();
            self.fields.next.length = self.one.val();
        }

        self.register_address.next = self.address.q.val().get_bits::<10>(2);
        self.register_write_data.next = self.payload.q.val();
        self.register_read.next = false;
        self.register_write.next = false;
        self.completion_valid.next = false;
        self.completion_data.next = self.data.q.val();
        self.completion_has_data.next = self.has_data.q.val();
        self.completion_header.next = self.header.q.val();
        match self.state.q.val() {
            // Waits for a request.
            EndpointState::Idle => {
                self.request.d.next = self.incoming.val();
                self.one_dword.d.next = self.incoming_length.val() == self.one.val();
                self.payload.d.next = self.payloads.m_data.val();
                if self.headers.m_valid.val() {
                    self.state.d.next = EndpointState::Decode;
                }
            }
            // One cycle: classifies the request.
            EndpointState::Decode => {
                self.address.d.next =
                    bit_cast::<12, 10>(self.request.q.val().get_bits::<10>(66)) << 2;
                if self.format.val().get_bit(5) {
                    self.address.d.next =
                        bit_cast::<12, 10>(self.request.q.val().get_bits::<10>(98)) << 2;
                }
                self.memory_read.d.next =
                    (self.is_memory.val() | self.is_locked.val()) & !self.with_data.val();
                self.locked.d.next = self.is_locked.val();
                self.reads.d.next = self.is_memory.val()
                    & !self.with_data.val()
                    & self.one_dword.q.val()
                    & !self.format.val().get_bit(7);
                self.writes.d.next = self.is_memory.val()
                    & self.with_data.val()
                    & self.one_dword.q.val()
                    & self.first_be.val().all()
                    & !self.format.val().get_bit(7)
                    & !self.request.q.val().get_bit(14);
                self.refuses.d.next = !self.unanswered.val();
                self.leading.d.next = self.lead.val();
                self.trailing.d.next = self.trail.val();
                self.state.d.next = EndpointState::Act;
            }
            // One cycle: accesses the register bus, forms the header of an answer.
            EndpointState::Act => {
                self.header.d.next = self.fields.val().into();
                self.has_data.d.next = self.reads.q.val();
                self.register_read.next = self.reads.q.val();
                self.register_write.next = self.writes.q.val();
                self.state.d.next = EndpointState::Idle;
                if self.reads.q.val() {
                    self.state.d.next = EndpointState::Wait;
                } else if self.refuses.q.val() {
                    self.state.d.next = EndpointState::Respond;
                }
            }
            // Waits for the register.
            EndpointState::Wait => {
                self.data.d.next = self.register_read_data.val();
                if self.register_read_valid.val() {
                    self.state.d.next = EndpointState::Respond;
                }
            }
            // Waits for the mux to take the answer.
            EndpointState::Respond => {
                self.completion_valid.next = true;
                if self.completion_ready.val() {
                    self.state.d.next = EndpointState::Idle;
                }
            }
            _ => {}
        }
        if self.reset.val() {
            self.state.d.next = EndpointState::Idle;
        }
    }
}
