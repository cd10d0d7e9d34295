//! Adapter to the PCI Express block of AMD's UltraScale+ parts: the device's streams of TLPs are
//! its four streams of descriptors.
//!
//! ```text
//!  device                                                          block of AMD
//! tlp --------- writes -------> [requester_request] ------------> s_axis_rq
//!         |                        ^     |  ^
//! read_request --------------------+     |  +-------------------- pcie_tfc_nph_av
//!         |                            sent
//!         +--- completions ----> [completer_completion] <-------- pcie_rq_seq_num
//!                                        \----------------------> s_axis_cc
//! request <--------------------- [completer_request] <----------- m_axis_cq
//! completion <------------------ [requester_completion] <-------- m_axis_rc
//! ```
//!
//! | latency    | 1 to 2 cycles                                                              |
//! | throughput | one beat per cycle; a packet may take one beat more than its payload       |
//! | units      | beats of `D` bits, lanes of 32 bits                                        |
//! | source     | AMD PG213 (UltraScale+ integrated block), 128 and 512 bits                 |
//!
//! Ports on the right have the names of the block's, and are inputs where those are outputs. The
//! block is set to: alignment by doublewords, no straddling, tags of the client, BAR0 alone, MSI-X
//! outside of the block (the device sends its own messages). `reset` is the block's `user_reset`.
//!
//! Not here: parity, hints (TPH), and tags beyond 8 bits; their fields are 0.
//!
//! `failed` is the block's *discontinue*: its memory gave back wrong data in mid-packet. It stays
//! until reset, and whoever sees it resets the device.

mod attach;
mod completer_completion;
mod completer_request;
mod detach;
mod requester_completion;
mod requester_request;

use completer_completion::CompleterCompletion;
use completer_request::CompleterRequest;
use requester_completion::RequesterCompletion;
use requester_request::{RequesterRequest, WRITE_NUMBER};
use rnic_hdl_tools::emit::{verilog_named, EmitError};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// The adapter for the device with W = 64 or 128.
pub type AmdAdapter128 = AmdAdapter<128, 4, 256, 8, 62, 33, 88, 75>;
/// The adapter for the device with W = 512.
pub type AmdAdapter512 = AmdAdapter<512, 16, 640, 20, 137, 81, 183, 161>;

/// The Verilog of the adapter for a frame path of `width` bits; its top module is `amd_adapter`.
///
/// # Errors
/// The checks or the emission lint refuse it.
///
/// # Panics
/// If `width` is not 64, 128 or 512.
pub fn verilog(width: usize) -> Result<String, EmitError> {
    match width {
        64 | 128 => verilog_named("amd_adapter", &AmdAdapter128::standalone()),
        512 => verilog_named("amd_adapter", &AmdAdapter512::standalone()),
        other => panic!("there is no adapter for a width of {other}: use 64, 128 or 512"),
    }
}

/// Adapter of width `D`: `L = D / 32`, `E = D + 128`, `M = L + 4`; the others are the widths of
/// `tuser` of RQ, CC, CQ and RC.
#[derive(LogicBlock, Init)]
pub struct AmdAdapter<
    const D: usize,
    const L: usize,
    const E: usize,
    const M: usize,
    const RQ: usize,
    const CC: usize,
    const CQ: usize,
    const RC: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Writes and completions of the device: see [`crate::bus::pcie`].
    pub tlp_data: Signal<In, Bits<D>>,
    pub tlp_keep: Signal<In, Bits<L>>,
    pub tlp_last: Signal<In, Bit>,
    pub tlp_valid: Signal<In, Bit>,
    pub tlp_ready: Signal<Out, Bit>,
    pub tlp_header: Signal<In, Bits<128>>,
    /// Its memory reads.
    pub read_request_header: Signal<In, Bits<128>>,
    pub read_request_valid: Signal<In, Bit>,
    pub read_request_ready: Signal<Out, Bit>,
    /// Their completions.
    pub completion_data: Signal<Out, Bits<D>>,
    pub completion_keep: Signal<Out, Bits<L>>,
    pub completion_last: Signal<Out, Bit>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion_header: Signal<Out, Bits<128>>,
    /// Requests to BAR0.
    pub request_data: Signal<Out, Bits<D>>,
    pub request_last: Signal<Out, Bit>,
    pub request_valid: Signal<Out, Bit>,
    pub request_ready: Signal<In, Bit>,
    pub request_header: Signal<Out, Bits<128>>,
    /// The block gave up in mid-packet since the last reset.
    pub failed: Signal<Out, Bit>,
    /// RQ: requests of the device.
    pub s_axis_rq_tdata: Signal<Out, Bits<D>>,
    pub s_axis_rq_tkeep: Signal<Out, Bits<L>>,
    pub s_axis_rq_tlast: Signal<Out, Bit>,
    pub s_axis_rq_tuser: Signal<Out, Bits<RQ>>,
    pub s_axis_rq_tvalid: Signal<Out, Bit>,
    /// Any one of the four bits, which are the same.
    pub s_axis_rq_tready: Signal<In, Bit>,
    /// Sequence numbers of requests that no later completion passes; two a cycle.
    pub pcie_rq_seq_num0: Signal<In, Bits<6>>,
    pub pcie_rq_seq_num_vld0: Signal<In, Bit>,
    pub pcie_rq_seq_num1: Signal<In, Bits<6>>,
    pub pcie_rq_seq_num_vld1: Signal<In, Bit>,
    /// Header credits for reads.
    pub pcie_tfc_nph_av: Signal<In, Bits<4>>,
    /// CC: completions of the device.
    pub s_axis_cc_tdata: Signal<Out, Bits<D>>,
    pub s_axis_cc_tkeep: Signal<Out, Bits<L>>,
    pub s_axis_cc_tlast: Signal<Out, Bit>,
    pub s_axis_cc_tuser: Signal<Out, Bits<CC>>,
    pub s_axis_cc_tvalid: Signal<Out, Bit>,
    /// Any one of the four bits, which are the same.
    pub s_axis_cc_tready: Signal<In, Bit>,
    /// CQ: requests of the host.
    pub m_axis_cq_tdata: Signal<In, Bits<D>>,
    pub m_axis_cq_tkeep: Signal<In, Bits<L>>,
    pub m_axis_cq_tlast: Signal<In, Bit>,
    pub m_axis_cq_tuser: Signal<In, Bits<CQ>>,
    pub m_axis_cq_tvalid: Signal<In, Bit>,
    pub m_axis_cq_tready: Signal<Out, Bit>,
    /// RC: completions of the host.
    pub m_axis_rc_tdata: Signal<In, Bits<D>>,
    pub m_axis_rc_tkeep: Signal<In, Bits<L>>,
    pub m_axis_rc_tlast: Signal<In, Bit>,
    pub m_axis_rc_tuser: Signal<In, Bits<RC>>,
    pub m_axis_rc_tvalid: Signal<In, Bit>,
    pub m_axis_rc_tready: Signal<Out, Bit>,
    rq: RequesterRequest<D, L, E, M, RQ>,
    cc: CompleterCompletion<D, L, E, M, CC>,
    cq: CompleterRequest<D, L, E, M, CQ>,
    rc: RequesterCompletion<D, L, E, M, RC>,
    // Writes that were taken whole, and those that no completion passes any more.
    sent: DFF<Bits<16>>,
    passed: DFF<Bits<16>>,
    has_failed: DFF<Bit>,
    kind: Signal<Local, Bits<4>>,
    is_completion: Signal<Local, Bit>,
    is_write: Signal<Local, Bit>,
    passes_0: Signal<Local, Bit>,
    passes_1: Signal<Local, Bit>,
    #[constant(5)]
    completion_kind: Constant<Bits<4>>,
    #[constant(1)]
    one: Constant<Bits<16>>,
    #[constant(2)]
    two: Constant<Bits<16>>,
    #[constant(WRITE_NUMBER)]
    write_number: Constant<Bits<6>>,
}

impl<
        const D: usize,
        const L: usize,
        const E: usize,
        const M: usize,
        const RQ: usize,
        const CC: usize,
        const CQ: usize,
        const RC: usize,
    > AmdAdapter<D, L, E, M, RQ, CC, CQ, RC>
{
    /// The adapter with every input connected, ready to be emitted.
    pub fn standalone() -> Self {
        let mut adapter = Self::default();
        adapter.clock.connect();
        adapter.reset.connect();
        adapter.tlp_data.connect();
        adapter.tlp_keep.connect();
        adapter.tlp_last.connect();
        adapter.tlp_valid.connect();
        adapter.tlp_header.connect();
        adapter.read_request_header.connect();
        adapter.read_request_valid.connect();
        adapter.request_ready.connect();
        adapter.s_axis_rq_tready.connect();
        adapter.pcie_rq_seq_num0.connect();
        adapter.pcie_rq_seq_num_vld0.connect();
        adapter.pcie_rq_seq_num1.connect();
        adapter.pcie_rq_seq_num_vld1.connect();
        adapter.pcie_tfc_nph_av.connect();
        adapter.s_axis_cc_tready.connect();
        adapter.m_axis_cq_tdata.connect();
        adapter.m_axis_cq_tkeep.connect();
        adapter.m_axis_cq_tlast.connect();
        adapter.m_axis_cq_tuser.connect();
        adapter.m_axis_cq_tvalid.connect();
        adapter.m_axis_rc_tdata.connect();
        adapter.m_axis_rc_tkeep.connect();
        adapter.m_axis_rc_tlast.connect();
        adapter.m_axis_rc_tuser.connect();
        adapter.m_axis_rc_tvalid.connect();
        adapter.connect_all();
        adapter
    }
}

impl<
        const D: usize,
        const L: usize,
        const E: usize,
        const M: usize,
        const RQ: usize,
        const CC: usize,
        const CQ: usize,
        const RC: usize,
    > Logic for AmdAdapter<D, L, E, M, RQ, CC, CQ, RC>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; sent, passed, has_failed);
        wire!(self => self.rq; clock, reset);
        wire!(self => self.cc; clock, reset);
        wire!(self => self.cq; clock, reset);
        wire!(self => self.rc; clock, reset);

        // Writes and completions part. Types 0101x are completions.
        self.kind.next = self.tlp_header.val().get_bits::<4>(25);
        self.is_completion.next =
            self.tlp_valid.val() & (self.kind.val() == self.completion_kind.val());
        self.is_write.next = self.tlp_valid.val() & (self.kind.val() != self.completion_kind.val());
        wire!(self => self.rq;
            tlp_data as write_data, tlp_keep as write_keep, tlp_last as write_last,
            tlp_header as write_header, is_write as write_valid);
        wire!(self => self.cc;
            tlp_data as completion_data, tlp_keep as completion_keep,
            tlp_last as completion_last, tlp_header as completion_header,
            is_completion as completion_valid);
        self.tlp_ready.next = (self.is_write.val() & self.rq.write_ready.val())
            | (self.is_completion.val() & self.cc.completion_ready.val());
        wire!(self => self.rq;
            read_request_header as read_header, read_request_valid as read_valid);
        self.read_request_ready.next = self.rq.read_ready.val();

        // How far the writes have come.
        if self.is_write.val() & self.rq.write_ready.val() & self.tlp_last.val() {
            self.sent.d.next = self.sent.q.val() + self.one.val();
        }
        self.passes_0.next = self.pcie_rq_seq_num_vld0.val()
            & (self.pcie_rq_seq_num0.val() == self.write_number.val());
        self.passes_1.next = self.pcie_rq_seq_num_vld1.val()
            & (self.pcie_rq_seq_num1.val() == self.write_number.val());
        if self.passes_0.val() & self.passes_1.val() {
            self.passed.d.next = self.passed.q.val() + self.two.val();
        } else if self.passes_0.val() | self.passes_1.val() {
            self.passed.d.next = self.passed.q.val() + self.one.val();
        }
        self.cc.sent.next = self.sent.q.val();
        self.cc.passed.next = self.passed.q.val();

        self.rq.credits.next = self.pcie_tfc_nph_av.val();
        wire!(self.rq => self;
            tdata as s_axis_rq_tdata, tkeep as s_axis_rq_tkeep, tlast as s_axis_rq_tlast,
            tuser as s_axis_rq_tuser, tvalid as s_axis_rq_tvalid);
        wire!(self => self.rq; s_axis_rq_tready as tready);
        wire!(self.cc => self;
            tdata as s_axis_cc_tdata, tkeep as s_axis_cc_tkeep, tlast as s_axis_cc_tlast,
            tuser as s_axis_cc_tuser, tvalid as s_axis_cc_tvalid);
        wire!(self => self.cc; s_axis_cc_tready as tready);

        wire!(self => self.cq;
            m_axis_cq_tdata as tdata, m_axis_cq_tkeep as tkeep, m_axis_cq_tlast as tlast,
            m_axis_cq_tuser as tuser, m_axis_cq_tvalid as tvalid);
        wire!(self.cq => self; tready as m_axis_cq_tready);
        wire!(self.cq => self; request_data, request_last, request_valid, request_header);
        self.cq.request_ready.next = self.request_ready.val();
        wire!(self => self.rc;
            m_axis_rc_tdata as tdata, m_axis_rc_tkeep as tkeep, m_axis_rc_tlast as tlast,
            m_axis_rc_tuser as tuser, m_axis_rc_tvalid as tvalid);
        wire!(self.rc => self; tready as m_axis_rc_tready);
        wire!(self.rc => self;
            completion_data, completion_keep, completion_last, completion_valid,
            completion_header);

        self.failed.next = self.has_failed.q.val();
        if self.cq.failed.val() | self.rc.failed.val() {
            self.has_failed.d.next = true;
        }
        if self.reset.val() {
            self.sent.d.next = 0.into();
            self.passed.d.next = 0.into();
            self.has_failed.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
