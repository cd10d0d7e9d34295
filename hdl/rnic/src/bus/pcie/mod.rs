//! PCI Express: one TLP stream out, BAR0 requests in.
//!
//! ```text
//! payload TLPs (placement) --5--+
//! messages (interrupts) -----4--+
//! status TLPs (transmit) ----3--+
//! event TLPs (events) -------2--+
//! CQE TLPs (placement) ------1--+--> TLP mux --> tlp
//! read completions ----------0--+
//!        ^
//! BAR endpoint <-- request          BAR endpoint <--> register bus (csr)
//! ```
//!
//! | latency    | 1 cycle through the mux; 14 to 94 from a read of one doubleword to its data |
//! | throughput | one beat per cycle; one BAR request at a time                               |
//! | units      | beats of `D` bits, doublewords                                              |
//! | source     | PCI Express Base Specification, sections 2.2.1 to 2.2.9                     |
//!
//! A TLP stream `<name>` is `<name>_data` with `_valid` and `_ready`; `_keep` has one bit per
//! doubleword, `_last` ends the TLP, and `_header` is valid with all its beats. A header is 128
//! bits, doubleword 0 in bits 31:0, each doubleword as its numeric value:
//!
//! ```text
//!            31 29 28  24 23                                10 9        0
//!   dword 0  Fmt   Type   TC, attributes, TD, EP, AT           Length
//!   dword 1  requester (31:16)   tag (15:8)   last BE (7:4)   first BE (3:0)
//!   dword 2  address, or its high half if Fmt says four doublewords
//!   dword 3  low half of the address, or nothing (zero)
//! ```
//!
//! Nothing is dropped but what the endpoint ignores: posted requests other than memory writes,
//! doublewords that are not written whole, poisoned writes, completions. [`endpoint`] answers
//! non-posted requests other than memory reads with Unsupported Request.

pub mod request;
pub mod completion;
pub mod endpoint;
pub mod mux;

use endpoint::BarEndpoint;
use mux::TlpMux;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// The room at D = 128.
pub type PcieRoom128 = PcieRoom<128, 4>;
/// The room at D = 512.
pub type PcieRoom512 = PcieRoom<512, 16>;

/// PCI Express room of width `D`, `L = D / 32`.
#[derive(LogicBlock, Default)]
pub struct PcieRoom<const D: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Completer id of BAR reads.
    pub device_id: Signal<In, Bits<16>>,
    /// Payload TLPs.
    pub payload_tlp_data: Signal<In, Bits<D>>,
    pub payload_tlp_keep: Signal<In, Bits<L>>,
    pub payload_tlp_last: Signal<In, Bit>,
    pub payload_tlp_valid: Signal<In, Bit>,
    pub payload_tlp_ready: Signal<Out, Bit>,
    pub payload_tlp_header: Signal<In, Bits<128>>,
    /// CQE TLPs: entries of the completion queue and slot headers.
    pub cqe_tlp_data: Signal<In, Bits<D>>,
    pub cqe_tlp_keep: Signal<In, Bits<L>>,
    pub cqe_tlp_last: Signal<In, Bit>,
    pub cqe_tlp_valid: Signal<In, Bit>,
    pub cqe_tlp_ready: Signal<Out, Bit>,
    pub cqe_tlp_header: Signal<In, Bits<128>>,
    /// Event TLPs.
    pub event_tlp_data: Signal<In, Bits<D>>,
    pub event_tlp_keep: Signal<In, Bits<L>>,
    pub event_tlp_last: Signal<In, Bit>,
    pub event_tlp_valid: Signal<In, Bit>,
    pub event_tlp_ready: Signal<Out, Bit>,
    pub event_tlp_header: Signal<In, Bits<128>>,
    /// Status TLPs: statuses and reports of transmit.
    pub status_tlp_data: Signal<In, Bits<D>>,
    pub status_tlp_keep: Signal<In, Bits<L>>,
    pub status_tlp_last: Signal<In, Bit>,
    pub status_tlp_valid: Signal<In, Bit>,
    pub status_tlp_ready: Signal<Out, Bit>,
    pub status_tlp_header: Signal<In, Bits<128>>,
    /// Messages of interrupts.
    pub message_tlp_data: Signal<In, Bits<D>>,
    pub message_tlp_keep: Signal<In, Bits<L>>,
    pub message_tlp_last: Signal<In, Bit>,
    pub message_tlp_valid: Signal<In, Bit>,
    pub message_tlp_ready: Signal<Out, Bit>,
    pub message_tlp_header: Signal<In, Bits<128>>,
    /// All TLPs of the device but its read requests; `tlp_keep` is 0 for a TLP without payload.
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    /// Requests that hit BAR0, a stream like those above; how many doublewords count is in the
    /// header.
    pub request_data: Signal<In, Bits<D>>,
    pub request_last: Signal<In, Bit>,
    pub request_valid: Signal<In, Bit>,
    pub request_ready: Signal<Out, Bit>,
    pub request_header: Signal<In, Bits<128>>,
    /// Register bus: doubleword of BAR0; reads and writes last one cycle.
    pub register_address: Signal<Out, Bits<10>>,
    pub register_read: Signal<Out, Bit>,
    pub register_write: Signal<Out, Bit>,
    pub register_write_data: Signal<Out, Bits<32>>,
    pub register_read_data: Signal<In, Bits<32>>,
    pub register_read_valid: Signal<In, Bit>,
    /// No access may begin.
    pub register_hold: Signal<In, Bit>,
    /// No TLP but read completions may begin; see [`TlpMux`].
    pub hold: Signal<In, Bit>,
    /// The last TLP before `hold` has left.
    pub held: Signal<Out, Bit>,
    mux: TlpMux<D, L>,
    endpoint: BarEndpoint<D, L>,
}

impl<const D: usize, const L: usize> Logic for PcieRoom<D, L> {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.mux; clock, reset);
        wire!(self => self.endpoint; clock, reset, device_id);

        wire!(self => self.endpoint; request_header, request_data, request_last, request_valid);
        wire!(self.endpoint => self;
            request_ready, register_address, register_read, register_write, register_write_data);
        wire!(self => self.endpoint; register_read_data, register_read_valid, register_hold);

        self.mux.s_data[0].next = self.endpoint.completion_data.val();
        self.mux.s_keep[0].next = self.endpoint.completion_keep.val();
        self.mux.s_last[0].next = self.endpoint.completion_last.val();
        self.mux.s_valid[0].next = self.endpoint.completion_valid.val();
        self.mux.s_header[0].next = self.endpoint.completion_header.val();
        self.endpoint.completion_ready.next = self.mux.s_ready[0].val();
        self.mux.s_data[1].next = self.cqe_tlp_data.val();
        self.mux.s_keep[1].next = self.cqe_tlp_keep.val();
        self.mux.s_last[1].next = self.cqe_tlp_last.val();
        self.mux.s_valid[1].next = self.cqe_tlp_valid.val();
        self.mux.s_header[1].next = self.cqe_tlp_header.val();
        self.cqe_tlp_ready.next = self.mux.s_ready[1].val();
        self.mux.s_data[2].next = self.event_tlp_data.val();
        self.mux.s_keep[2].next = self.event_tlp_keep.val();
        self.mux.s_last[2].next = self.event_tlp_last.val();
        self.mux.s_valid[2].next = self.event_tlp_valid.val();
        self.mux.s_header[2].next = self.event_tlp_header.val();
        self.event_tlp_ready.next = self.mux.s_ready[2].val();
        self.mux.s_data[3].next = self.status_tlp_data.val();
        self.mux.s_keep[3].next = self.status_tlp_keep.val();
        self.mux.s_last[3].next = self.status_tlp_last.val();
        self.mux.s_valid[3].next = self.status_tlp_valid.val();
        self.mux.s_header[3].next = self.status_tlp_header.val();
        self.status_tlp_ready.next = self.mux.s_ready[3].val();
        self.mux.s_data[4].next = self.message_tlp_data.val();
        self.mux.s_keep[4].next = self.message_tlp_keep.val();
        self.mux.s_last[4].next = self.message_tlp_last.val();
        self.mux.s_valid[4].next = self.message_tlp_valid.val();
        self.mux.s_header[4].next = self.message_tlp_header.val();
        self.message_tlp_ready.next = self.mux.s_ready[4].val();
        self.mux.s_data[5].next = self.payload_tlp_data.val();
        self.mux.s_keep[5].next = self.payload_tlp_keep.val();
        self.mux.s_last[5].next = self.payload_tlp_last.val();
        self.mux.s_valid[5].next = self.payload_tlp_valid.val();
        self.mux.s_header[5].next = self.payload_tlp_header.val();
        self.payload_tlp_ready.next = self.mux.s_ready[5].val();

        tlps!(self.mux => self; tlp);
        self.mux.hold.next = self.hold.val();
        self.held.next = self.mux.held.val();
    }
}

/// Fmt and Type of a memory write with three header doublewords (address below 4 GiB).
pub const MEMORY_WRITE_3: u64 = 0x40;
/// Fmt and Type of a memory write with four header doublewords.
pub const MEMORY_WRITE_4: u64 = 0x60;

/// Header of a memory write, first field in the low bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct MemoryHeader {
    /// Payload doublewords.
    pub length: Bits<10>,
    /// Bits 23:10 of doubleword 0: all zero.
    pub attributes: Bits<14>,
    /// Fmt and Type.
    pub format: Bits<8>,
    /// Octets of the first doubleword to write.
    pub first_be: Bits<4>,
    /// Octets of the last doubleword to write; 0 if there is only one (section 2.2.5).
    pub last_be: Bits<4>,
    /// Zero: posted requests need no tag.
    pub tag: Bits<8>,
    /// Requester id.
    pub requester: Bits<16>,
    /// Doubleword 2.
    pub dword_2: Bits<32>,
    /// Doubleword 3.
    pub dword_3: Bits<32>,
}

/// Builds the header of a memory write. Combinational.
///
/// Three doublewords below 4 GiB, four above: a request that fits 32 bits must not use the long
/// form (section 2.2.4.1).
#[derive(LogicBlock, Init)]
pub struct WriteHeader {
    /// Bus address of the first doubleword; bits 1:0 are ignored.
    pub address: Signal<In, Bits<64>>,
    /// Payload doublewords.
    pub length: Signal<In, Bits<10>>,
    pub first_be: Signal<In, Bits<4>>,
    pub last_be: Signal<In, Bits<4>>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    pub header: Signal<Out, Bits<128>>,
    fields: Signal<Local, MemoryHeader>,
    high: Signal<Local, Bits<32>>,
    low: Signal<Local, Bits<32>>,
    #[constant(MEMORY_WRITE_3)]
    short_form: Constant<Bits<8>>,
    #[constant(MEMORY_WRITE_4)]
    long_form: Constant<Bits<8>>,
}

impl Logic for WriteHeader {
    #[kernel]
    fn update(&mut self) {
        self.high.next = self.address.val().get_bits::<32>(32);
        self.low.next = self
            .address
            .val()
            .get_bits::<32>(0)
            .replace_bit(0, false)
            .replace_bit(1, false);
        self.fields.next.length = self.length.val();
        self.fields.next.attributes = 0.into();
        self.fields.next.first_be = self.first_be.val();
        self.fields.next.last_be = self.last_be.val();
        self.fields.next.tag = 0.into();
        self.fields.next.requester = self.device_id.val();
        self.fields.next.format = self.short_form.val();
        self.fields.next.dword_2 = self.low.val();
        self.fields.next.dword_3 = 0.into();
        if self.high.val().any() {
            self.fields.next.format = self.long_form.val();
            self.fields.next.dword_2 = self.high.val();
            self.fields.next.dword_3 = self.low.val();
        }
        self.header.next = self.fields.val().into();
    }
}

#[cfg(test)]
mod tests;
