//! Captures the first four words of the TCP header, wherever they stand.
//!
//! ```text
//! beat, payload_start --> [ lane and beat of word 0 .. 3 ] --> [ words ] --> words
//! ```
//!
//! | latency    | 2 cycles                                                               |
//! | throughput | one beat per cycle                                                     |
//! | units      | words as octet strings, octet 0 in bits 7:0                            |
//! | ensures    | two cycles after a frame's last beat the words are that frame's        |
//! | source     | RFC 9293, 3.1                                                          |
//!
//! ```text
//! word 0  source port, destination port        word 2  acknowledgment number
//! word 1  sequence number                      word 3  data offset, flags, window
//! ```
use crate::ethernet::beat::FrameControl;
use rust_hdl::prelude::*;

/// TCP header words out of beats of `W` bits, `L` words.
#[derive(LogicBlock)]
pub struct TcpHead<const W: usize, const L: usize> {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// What is known of the beat of the stored frame.
    pub control: Signal<In, FrameControl>,
    /// Its octets.
    pub data: Signal<In, Bits<W>>,
    /// Word of the stored frame at which the TCP header begins.
    pub payload_start: Signal<In, Bits<5>>,
    /// Ports.
    pub word0: Signal<Out, Bits<32>>,
    /// Sequence number.
    pub word1: Signal<Out, Bits<32>>,
    /// Acknowledgment number.
    pub word2: Signal<Out, Bits<32>>,
    /// Data offset, flags, window.
    pub word3: Signal<Out, Bits<32>>,
    captured: [DFF<Bits<32>>; 4],
    later: [DFF<Bits<32>>; 4],
    position: [Signal<Local, Bits<8>>; 4],
    row: [Signal<Local, Bits<8>>; 4],
    bit_offset: [Signal<Local, Bits<9>>; 4],
    lane: Signal<Local, Bits<8>>,
    word_number: [Constant<Bits<8>>; 4],
    row_shift: Constant<Bits<3>>,
    lane_mask: Constant<Bits<8>>,
}

impl<const W: usize, const L: usize> Default for TcpHead<W, L> {
    fn default() -> Self {
        assert!(
            W == 32 * L && L.is_power_of_two(),
            "TcpHead: W = {W} must be 32 L of L = {L}, a power of two"
        );
        Self {
            clock: Default::default(),
            control: Default::default(),
            data: Default::default(),
            payload_start: Default::default(),
            word0: Default::default(),
            word1: Default::default(),
            word2: Default::default(),
            word3: Default::default(),
            captured: std::array::from_fn(|_| Default::default()),
            later: std::array::from_fn(|_| Default::default()),
            position: std::array::from_fn(|_| Default::default()),
            row: std::array::from_fn(|_| Default::default()),
            bit_offset: std::array::from_fn(|_| Default::default()),
            lane: Default::default(),
            word_number: std::array::from_fn(|word| Constant::new((word as LiteralType).into())),
            row_shift: Constant::new(LiteralType::from(L.trailing_zeros()).into()),
            lane_mask: Constant::new((L as LiteralType - 1).into()),
        }
    }
}

impl<const W: usize, const L: usize> Logic for TcpHead<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        for j in 0..4 {
            self.captured[j].clock.next = self.clock.val();
            self.later[j].clock.next = self.clock.val();
            self.position[j].next =
                bit_cast::<8, 5>(self.payload_start.val()) + self.word_number[j].val();
            self.row[j].next = self.position[j].val() >> self.row_shift.val();
            self.lane.next = self.position[j].val() & self.lane_mask.val();
            self.bit_offset[j].next = bit_cast::<9, 8>(self.lane.val()) << 5;
            self.captured[j].d.next = self.captured[j].q.val();
            if self.control.val().valid
                & (bit_cast::<8, 4>(self.control.val().row) == self.row[j].val())
            {
                self.captured[j].d.next = self
                    .data
                    .val()
                    .get_bits::<32>(self.bit_offset[j].val().index());
            }
            self.later[j].d.next = self.captured[j].q.val();
        }
        self.word0.next = self.later[0].q.val();
        self.word1.next = self.later[1].q.val();
        self.word2.next = self.later[2].q.val();
        self.word3.next = self.later[3].q.val();
    }
}
