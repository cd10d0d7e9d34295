//! Verdict: drop the frame, hand it to the host, or to TCP? With all that was read of it.
//!
//! ```text
//! beats, payload_start --> TcpHeader --\
//! control, fields ----------------------+--> Verdict --> frame_info, counts
//! checksums, overrun ------------------/
//! ```
//!
//! | source | the front end's table in ARCHITECTURE.md; RFC 791, RFC 8200, RFC 9293 |
use crate::messages::{ConnectionKey, FrameInfo, FrameVerdict, SegmentInfo};
use crate::receive::front_end::headers::{IpFields, OctetPair};
use crate::receive::front_end::intake::FrameControl;
use rnic_abi::limits::MIN_FRAME_OCTETS;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Bit of `counts`: the frame ended.
pub const COUNT_FRAMES: usize = 0;
/// Bit of `counts`: dropped, the device was off.
pub const COUNT_DISABLED: usize = 1;
/// Bit of `counts`: dropped, the MAC reported an error or started the frame too early.
pub const COUNT_MAC_ERROR: usize = 2;
/// Bit of `counts`: dropped, Ethernet header incomplete.
pub const COUNT_RUNT: usize = 3;
/// Bit of `counts`: dropped, more than 9216 octets.
pub const COUNT_TOO_LONG: usize = 4;
/// Bit of `counts`: dropped, IPv4 header checksum wrong.
pub const COUNT_IP_CHECKSUM: usize = 5;
/// Bit of `counts`: dropped, IP header malformed.
pub const COUNT_IP_MALFORMED: usize = 6;
/// Bit of `counts`: dropped, TCP header malformed.
pub const COUNT_TCP_MALFORMED: usize = 7;

/// NOP, NOP, kind 8, length 10: the timestamps option as it is sent nearly always (RFC 7323,
/// appendix A); octet 0 in bits 7:0.
const TIMESTAMPS: u64 = 0x0a08_0101;

/// Four octets of the wire, swapped into a number: octet 3 is the least significant.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OctetQuad {
    /// Octet 3.
    pub octet3: Bits<8>,
    /// Octet 2.
    pub octet2: Bits<8>,
    /// Octet 1.
    pub octet1: Bits<8>,
    /// Octet 0.
    pub octet0: Bits<8>,
}

/// Captures words of the TCP header from beats of `W` bits, `L` words.
///
/// ```text
/// beat, payload_start --> [ lane selected, is it this beat? ] --> [ captured words ] --> words
///
/// word 0  source port, destination port        word 2  acknowledgment number
/// word 1  sequence number                      word 3  data offset, flags, window
/// word 5  first options, if the data offset says so
/// ```
///
/// | latency    | 2 cycles; one beat per cycle                                           |
/// | units      | words as octet strings, octet 0 in bits 7:0                            |
/// | ensures    | two cycles after a frame's last beat the words are that frame's        |
/// | source     | RFC 9293, 3.1                                                          |
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        W == 32 * L && L.is_power_of_two(),
        "TcpHeader: W = {W} must be 32 L of L = {L}, a power of two"
    );
)]
pub struct TcpHeader<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub control: Signal<In, FrameControl>,
    pub data: Signal<In, Bits<W>>,
    /// Word of the stored frame at which the TCP header begins.
    pub payload_start: Signal<In, Bits<5>>,
    pub word0: Signal<Out, Bits<32>>,
    pub word1: Signal<Out, Bits<32>>,
    pub word2: Signal<Out, Bits<32>>,
    pub word3: Signal<Out, Bits<32>>,
    pub word5: Signal<Out, Bits<32>>,
    // First cycle: what a word would be in this beat, and whether this beat has it.
    candidate: [DFF<Bits<32>>; 5],
    is_here: [DFF<Bit>; 5],
    // Second cycle: the words.
    kept: [DFF<Bits<32>>; 5],
    position: [Signal<Local, Bits<8>>; 5],
    row: [Signal<Local, Bits<8>>; 5],
    bit_offset: [Signal<Local, Bits<9>>; 5],
    lane: Signal<Local, Bits<8>>,
    // Words 0 to 3, and 5.
    #[constants(|place| (place + place / 4) as LiteralType)]
    word_number: [Constant<Bits<8>>; 5],
    #[constant(LiteralType::from(L.trailing_zeros()))]
    row_shift: Constant<Bits<3>>,
    #[constant(L as LiteralType - 1)]
    lane_mask: Constant<Bits<8>>,
}

impl<const W: usize, const L: usize> Logic for TcpHeader<W, L> {
    #[kernel]
    fn update(&mut self) {
        for j in 0..5 {
            self.candidate[j].clock.next = self.clock.val();
            self.is_here[j].clock.next = self.clock.val();
            self.kept[j].clock.next = self.clock.val();
            self.position[j].next =
                bit_cast::<8, 5>(self.payload_start.val()) + self.word_number[j].val();
            self.row[j].next = self.position[j].val() >> self.row_shift.val();
            self.lane.next = self.position[j].val() & self.lane_mask.val();
            self.bit_offset[j].next = bit_cast::<9, 8>(self.lane.val()) << 5;
            self.candidate[j].d.next = self
                .data
                .val()
                .get_bits::<32>(self.bit_offset[j].val().index());
            self.is_here[j].d.next = self.control.val().valid
                & (bit_cast::<8, 4>(self.control.val().row) == self.row[j].val());
            self.kept[j].d.next = self.kept[j].q.val();
            if self.is_here[j].q.val() {
                self.kept[j].d.next = self.candidate[j].q.val();
            }
        }
        self.word0.next = self.kept[0].q.val();
        self.word1.next = self.kept[1].q.val();
        self.word2.next = self.kept[2].q.val();
        self.word3.next = self.kept[3].q.val();
        self.word5.next = self.kept[4].q.val();
    }
}

/// Decides in the order of the table in [`front_end`](super), and assembles the [`FrameInfo`].
///
/// ```text
/// control, fields, words --> [ all tests but the checksums ] --+--> frame_info
/// header_good, tcp_good ---------------------------------------/
/// ```
///
/// | latency    | 1 cycle from `control.end` to `frame_info`, which the checksums join on  |
/// |            | the way out: the receiver registers it; `counts` 1 cycle later           |
/// | throughput | one frame per cycle                                                      |
/// | units      | see [`FrameInfo`]; `counts`: one-cycle pulses, bits `COUNT_*`            |
#[derive(LogicBlock, Init)]
pub struct Verdict {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// `end` starts a decision.
    pub control: Signal<In, FrameControl>,
    // Sampled with `control.end`; the words are those of `TcpHeader`.
    pub fields: Signal<In, IpFields>,
    pub word0: Signal<In, Bits<32>>,
    pub word1: Signal<In, Bits<32>>,
    pub word2: Signal<In, Bits<32>>,
    pub word3: Signal<In, Bits<32>>,
    pub word5: Signal<In, Bits<32>>,
    // Sampled one cycle later.
    pub header_good: Signal<In, Bit>,
    pub tcp_good: Signal<In, Bit>,
    /// `Intake` refused a frame that is still to be counted.
    pub overrun: Signal<In, Bit>,
    /// It is counted in this cycle.
    pub overrun_counted: Signal<Out, Bit>,
    pub frame_info: Signal<Out, FrameInfo>,
    pub frame_info_valid: Signal<Out, Bit>,
    pub counts: Signal<Out, Bits<8>>,
    // First cycle: all but the checksums.
    draft: DFF<FrameInfo>,
    draft_end: DFF<Bit>,
    draft_counts: DFF<Bits<8>>,
    asks_header: DFF<Bit>,
    // Second cycle.
    held_counts: DFF<Bits<8>>,
    info: Signal<Local, FrameInfo>,
    key: Signal<Local, ConnectionKey>,
    segment: Signal<Local, SegmentInfo>,
    checked: Signal<Local, SegmentInfo>,
    control_word: Signal<Local, Bits<32>>,
    sequence_word: Signal<Local, Bits<32>>,
    acknowledgment_word: Signal<Local, Bits<32>>,
    number1: Signal<Local, OctetQuad>,
    number2: Signal<Local, OctetQuad>,
    window: Signal<Local, OctetPair>,
    data_offset: Signal<Local, Bits<4>>,
    header_octets: Signal<Local, Bits<16>>,
    payload_octets: Signal<Local, Bits<16>>,
    payload_word: Signal<Local, Bits<14>>,
    runt: Signal<Local, Bit>,
    ip_malformed: Signal<Local, Bit>,
    tcp_malformed: Signal<Local, Bit>,
    bad_header: Signal<Local, Bit>,
    #[constant(MIN_FRAME_OCTETS as LiteralType)]
    min_frame: Constant<Bits<14>>,
    #[constant(20)]
    min_segment: Constant<Bits<16>>,
    #[constant(5)]
    min_offset: Constant<Bits<4>>,
    #[constant(8)]
    timestamps_offset: Constant<Bits<4>>,
    #[constant(TIMESTAMPS)]
    timestamps: Constant<Bits<32>>,
    #[constant(1 << COUNT_FRAMES)]
    frames: Constant<Bits<8>>,
    // `COUNT_FRAMES` and the reason of bit i.
    #[constants(|bit| 1 << COUNT_FRAMES | 1 << bit)]
    reason: [Constant<Bits<8>>; 8],
}

impl Logic for Verdict {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; draft, draft_end, draft_counts, asks_header);
        registers!(clock; held_counts);
        self.counts.next = self.held_counts.q.val();

        // Wire order to numbers, once for all rooms.
        self.sequence_word.next = self.word1.val();
        self.acknowledgment_word.next = self.word2.val();
        self.control_word.next = self.word3.val();
        self.number1.next.octet0 = self.sequence_word.val().get_bits::<8>(0);
        self.number1.next.octet1 = self.sequence_word.val().get_bits::<8>(8);
        self.number1.next.octet2 = self.sequence_word.val().get_bits::<8>(16);
        self.number1.next.octet3 = self.sequence_word.val().get_bits::<8>(24);
        self.number2.next.octet0 = self.acknowledgment_word.val().get_bits::<8>(0);
        self.number2.next.octet1 = self.acknowledgment_word.val().get_bits::<8>(8);
        self.number2.next.octet2 = self.acknowledgment_word.val().get_bits::<8>(16);
        self.number2.next.octet3 = self.acknowledgment_word.val().get_bits::<8>(24);
        self.window.next.high = self.control_word.val().get_bits::<8>(16);
        self.window.next.low = self.control_word.val().get_bits::<8>(24);
        self.data_offset.next = self.control_word.val().get_bits::<4>(4);
        self.header_octets.next = bit_cast::<16, 4>(self.data_offset.val()) << 2;
        self.payload_octets.next = self.fields.val().segment_octets - self.header_octets.val();
        self.payload_word.next = bit_cast::<14, 5>(self.fields.val().payload_start)
            + bit_cast::<14, 4>(self.data_offset.val());

        self.segment.next.verdict = FrameVerdict::Tcp;
        self.segment.next.frame_octets = self.control.val().frame_octets;
        self.info.next.ipv6 = self.fields.val().ipv6;
        self.key.next.remote_address = self.fields.val().remote_address;
        self.key.next.local_address = self.fields.val().local_address;
        self.key.next.ports = self.word0.val();
        self.segment.next.flags = self.control_word.val().get_bits::<6>(8);
        self.segment.next.checksum_good = false;
        self.segment.next.more_options = (self.data_offset.val() != self.min_offset.val())
            & ((self.data_offset.val() != self.timestamps_offset.val())
                | (self.word5.val() != self.timestamps.val()));
        self.segment.next.seg_seq = self.number1.val().into();
        self.segment.next.seg_ack = self.number2.val().into();
        self.segment.next.seg_wnd = self.window.val().into();
        self.segment.next.payload_offset = self.payload_word.val() << 2;
        self.segment.next.payload_octets = self.payload_octets.val().get_bits::<14>(0);

        // First cycle: the tests that need no checksum.
        self.runt.next = self.control.val().frame_octets < self.min_frame.val();
        self.ip_malformed.next = self.fields.val().header_bad
            | (self.fields.val().ip_end > bit_cast::<17, 15>(self.fields.val().stored_octets));
        self.tcp_malformed.next = (self.fields.val().segment_octets < self.min_segment.val())
            | (self.data_offset.val() < self.min_offset.val())
            | (self.header_octets.val() > self.fields.val().segment_octets);
        self.draft_end.d.next = self.control.val().end;
        self.draft_counts.d.next = self.frames.val();
        self.asks_header.d.next = false;
        if self.control.val().disabled {
            self.segment.next.verdict = FrameVerdict::Drop;
            self.draft_counts.d.next = self.reason[1].val();
        } else if self.control.val().mac_error {
            self.segment.next.verdict = FrameVerdict::Drop;
            self.draft_counts.d.next = self.reason[2].val();
        } else if self.runt.val() {
            self.segment.next.verdict = FrameVerdict::Drop;
            self.draft_counts.d.next = self.reason[3].val();
        } else if self.control.val().too_long {
            self.segment.next.verdict = FrameVerdict::Drop;
            self.draft_counts.d.next = self.reason[4].val();
        } else if !self.fields.val().is_ip {
            self.segment.next.verdict = FrameVerdict::Host;
        } else if self.ip_malformed.val() {
            self.segment.next.verdict = FrameVerdict::Drop;
            self.draft_counts.d.next = self.reason[6].val();
        } else {
            // An IPv6 header has no checksum.
            self.asks_header.d.next = !self.fields.val().ipv6;
            if self.fields.val().not_for_tcp {
                self.segment.next.verdict = FrameVerdict::Host;
            } else if self.tcp_malformed.val() {
                self.segment.next.verdict = FrameVerdict::Drop;
                self.draft_counts.d.next = self.reason[7].val();
            }
        }
        self.info.next.key = self.key.val();
        self.info.next.segment = self.segment.val();
        self.draft.d.next = self.info.val();

        // Second cycle: the checksums. A wrong IPv4 checksum drops also frames for the host.
        self.bad_header.next = self.asks_header.q.val() & !self.header_good.val();
        self.checked.next = self.draft.q.val().segment;
        self.checked.next.checksum_good = self.tcp_good.val();
        self.frame_info_valid.next = self.draft_end.q.val();
        self.held_counts.d.next = 0.into();
        self.overrun_counted.next = false;
        if self.draft_end.q.val() {
            self.held_counts.d.next = self.draft_counts.q.val();
            if self.bad_header.val() {
                self.held_counts.d.next = self.reason[5].val();
            }
        } else if self.overrun.val() {
            self.held_counts.d.next = self.reason[2].val();
            self.overrun_counted.next = true;
        }
        if self.bad_header.val() {
            self.checked.next.verdict = FrameVerdict::Drop;
        }
        self.frame_info.next = self.draft.q.val();
        self.frame_info.next.segment = self.checked.val();
        if self.reset.val() {
            self.draft_end.d.next = false;
            self.held_counts.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
