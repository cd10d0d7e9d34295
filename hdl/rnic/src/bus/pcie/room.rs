//! The PCI Express room's top: TLP mux and BAR0 endpoint, joined.
//!
//! | latency, throughput, units | see the room's door ([`super`]) |
use super::endpoint::BarEndpoint;
use super::mux::TlpMux;
use rnic_macros::kernel;
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
    /// Lanes that count.
    pub payload_tlp_keep: Signal<In, Bits<L>>,
    /// The TLP ends.
    pub payload_tlp_last: Signal<In, Bit>,
    pub payload_tlp_valid: Signal<In, Bit>,
    pub payload_tlp_ready: Signal<Out, Bit>,
    /// The TLP's header.
    pub payload_tlp_header: Signal<In, Bits<128>>,
    /// Completion entries and slot headers.
    pub completion_tlp_data: Signal<In, Bits<D>>,
    /// Lanes that count.
    pub completion_tlp_keep: Signal<In, Bits<L>>,
    /// The TLP ends.
    pub completion_tlp_last: Signal<In, Bit>,
    pub completion_tlp_valid: Signal<In, Bit>,
    pub completion_tlp_ready: Signal<Out, Bit>,
    /// The TLP's header.
    pub completion_tlp_header: Signal<In, Bits<128>>,
    /// All TLPs of the device.
    pub tlp_data: Signal<Out, Bits<D>>,
    /// Lanes that count; none for a TLP without payload.
    pub tlp_keep: Signal<Out, Bits<L>>,
    /// The TLP ends.
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    /// The TLP's header.
    pub tlp_header: Signal<Out, Bits<128>>,
    /// Header of a request that hit BAR0.
    pub request_header: Signal<In, Bits<128>>,
    /// First doubleword of its payload.
    pub request_data: Signal<In, Bits<32>>,
    pub request_valid: Signal<In, Bit>,
    pub request_ready: Signal<Out, Bit>,
    /// Register bus: doubleword of BAR0.
    pub register_address: Signal<Out, Bits<10>>,
    /// Register bus: read, one cycle.
    pub register_read: Signal<Out, Bit>,
    /// Register bus: write, one cycle.
    pub register_write: Signal<Out, Bit>,
    /// Register bus: value to write.
    pub register_write_data: Signal<Out, Bits<32>>,
    /// Register bus: the value read.
    pub register_read_data: Signal<In, Bits<32>>,
    /// Register bus: `register_read_data` counts, one cycle.
    pub register_read_valid: Signal<In, Bit>,
    mux: TlpMux<D, L>,
    endpoint: BarEndpoint,
    answer_keep: Signal<Local, Bits<L>>,
}

impl<const D: usize, const L: usize> Logic for PcieRoom<D, L> {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.mux; clock, reset);
        wire!(self => self.endpoint; clock, reset, device_id);

        wire!(self => self.endpoint; request_header, request_data, request_valid);
        wire!(self.endpoint => self;
            request_ready, register_address, register_read, register_write, register_write_data);
        wire!(self => self.endpoint; register_read_data, register_read_valid);

        self.answer_keep.next = 0.into();
        if self.endpoint.completion_has_data.val() {
            self.answer_keep.next = 1.into();
        }
        self.mux.s_data[0].next = bit_cast::<D, 32>(self.endpoint.completion_data.val());
        self.mux.s_keep[0].next = self.answer_keep.val();
        self.mux.s_last[0].next = true;
        self.mux.s_valid[0].next = self.endpoint.completion_valid.val();
        self.mux.s_header[0].next = self.endpoint.completion_header.val();
        self.endpoint.completion_ready.next = self.mux.s_ready[0].val();
        self.mux.s_data[1].next = self.completion_tlp_data.val();
        self.mux.s_keep[1].next = self.completion_tlp_keep.val();
        self.mux.s_last[1].next = self.completion_tlp_last.val();
        self.mux.s_valid[1].next = self.completion_tlp_valid.val();
        self.mux.s_header[1].next = self.completion_tlp_header.val();
        self.completion_tlp_ready.next = self.mux.s_ready[1].val();
        self.mux.s_data[2].next = self.payload_tlp_data.val();
        self.mux.s_keep[2].next = self.payload_tlp_keep.val();
        self.mux.s_last[2].next = self.payload_tlp_last.val();
        self.mux.s_valid[2].next = self.payload_tlp_valid.val();
        self.mux.s_header[2].next = self.payload_tlp_header.val();
        self.payload_tlp_ready.next = self.mux.s_ready[2].val();

        wire!(self.mux => self; tlp_data, tlp_keep, tlp_last, tlp_valid, tlp_header);
        self.mux.tlp_ready.next = self.tlp_ready.val();
    }
}
