//! Store: the places of all tags, and the way of a beat into them.
//!
//! ```text
//! data --> [4 registers] --> turn by fours --> turn by ones --> bank 0 .. bank L - 1 --> read_data
//! write_* -------------------^  (L = 16)                          each with an address of its own
//! ```
//!
//! | latency    | a beat that `write_valid` names is readable 3 cycles later; read 2 cycles   |
//! | throughput | one beat written and one word read a cycle                                  |
//! | units      | words of `L` doublewords, one in each bank; 512 words                       |
//!
//! Lane i of a beat goes to doubleword `write_dword + i` of the tag's place. A bank holds every
//! `L`-th doubleword, so the lanes of a beat lie in different banks, in one word or in two that
//! follow each other: a beat of any alignment is written in one cycle, and nothing beside it is.
//! A word is written only while its tag is open, and read only when it is over.
use super::types::*;
use crate::common::ram::SdpRam;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Cycles from a beat of a completion to its `write_valid`.
const CHECK_CYCLES: usize = 4;

/// Store for `2^A` tags in words of `D = 32 L` bits, `L = 2^G`; `H = G / 2`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        D == 32 * L && L == 1 << G && G == 2 * H,
        "ReadStore: D = {D} must be 32 L, L = {L} = 2^G, G = {G} = 2 H"
    );
    assert!(
        (PLACE_OCTETS << A) == (4 * L) << STORE_WORDS_LOG2,
        "ReadStore: the places of 2^{A} tags are not 512 words of {L} doublewords"
    );
)]
pub struct ReadStore<const D: usize, const L: usize, const A: usize, const G: usize, const H: usize>
{
    pub clock: Signal<In, Clock>,
    /// Payload of the completion stream.
    pub completion_data: Signal<In, Bits<D>>,
    /// The beat of four cycles ago; see [`super::beats`].
    pub write_valid: Signal<In, Bit>,
    pub write_tag: Signal<In, Bits<6>>,
    pub write_dword: Signal<In, Bits<7>>,
    pub write_lanes: Signal<In, Bits<L>>,
    /// Word to read: tag, and word of its place.
    pub read_address: Signal<In, Bits<9>>,
    /// The word addressed two cycles ago.
    pub read_data: Signal<Out, Bits<D>>,
    banks: [SdpRam<Bits<32>, STORE_WORDS_LOG2>; L],
    data: [DFF<Bits<D>>; CHECK_CYCLES],
    coarse: DFF<Bits<D>>,
    coarse_lanes: DFF<Bits<L>>,
    coarse_turn: DFF<Bits<G>>,
    coarse_address: DFF<Bits<9>>,
    coarse_next: DFF<Bits<9>>,
    fine: DFF<Bits<D>>,
    fine_lanes: DFF<Bits<L>>,
    fine_address: DFF<Bits<9>>,
    fine_next: DFF<Bits<9>>,
    // Banks whose lane lies in the next word.
    over: DFF<Bits<L>>,
    turn: Signal<Local, Bits<G>>,
    word: Signal<Local, Bits<7>>,
    next_word: Signal<Local, Bits<7>>,
    base: Signal<Local, Bits<9>>,
    turned: Signal<Local, Bits<D>>,
    turned_lanes: Signal<Local, Bits<L>>,
    over_lanes: Signal<Local, Bits<L>>,
    lane: Signal<Local, Bits<32>>,
    joined: Signal<Local, Bits<D>>,
    // By 2^i lanes: bits up and the remaining bits down, of data and of lanes.
    #[constants(|i| 32 << i as LiteralType)]
    up: [Constant<Bits<10>>; G],
    #[constants(|i| (D - (32 << i)) as LiteralType)]
    down: [Constant<Bits<10>>; G],
    #[constants(|i| 1 << i as LiteralType)]
    lanes_up: [Constant<Bits<5>>; G],
    #[constants(|i| (L - (1 << i)) as LiteralType)]
    lanes_down: [Constant<Bits<5>>; G],
    #[constants(|bank| bank as LiteralType)]
    bank_number: [Constant<Bits<G>>; L],
    #[constants(|bank| 32 * bank as LiteralType)]
    bank_bit: [Constant<Bits<10>>; L],
    #[constant(1)]
    one_word: Constant<Bits<7>>,
    #[constant((PLACE_OCTETS / 4 / L - 1) as LiteralType)]
    word_mask: Constant<Bits<7>>,
    #[constant(G as LiteralType)]
    lanes_log2: Constant<Bits<4>>,
    #[constant((STORE_WORDS_LOG2 - A) as LiteralType)]
    words_log2: Constant<Bits<4>>,
}

impl<const D: usize, const L: usize, const A: usize, const G: usize, const H: usize> Logic
    for ReadStore<D, L, A, G, H>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; coarse, coarse_lanes, coarse_turn, coarse_address, coarse_next);
        registers!(clock; fine, fine_lanes, fine_address, fine_next, over);
        for stage in 0..CHECK_CYCLES {
            self.data[stage].clock.next = self.clock.val();
        }
        self.data[0].d.next = self.completion_data.val();
        for stage in 1..CHECK_CYCLES {
            self.data[stage].d.next = self.data[stage - 1].q.val();
        }

        // The word of lane 0 and the one after it, inside of the place.
        self.turn.next = self.write_dword.val().get_bits::<G>(0);
        self.word.next = self.write_dword.val() >> self.lanes_log2.val();
        self.next_word.next = (self.word.val() + self.one_word.val()) & self.word_mask.val();
        self.base.next = bit_cast::<9, 6>(self.write_tag.val()) << self.words_log2.val();
        self.coarse_address.d.next = self.base.val() | bit_cast::<9, 7>(self.word.val());
        self.coarse_next.d.next = self.base.val() | bit_cast::<9, 7>(self.next_word.val());

        // Lanes that are not written take part as lanes of zeros in `turned_lanes`.
        self.turned_lanes.next = 0.into();
        if self.write_valid.val() {
            self.turned_lanes.next = self.write_lanes.val();
        }
        for stage in 3..CHECK_CYCLES {
            self.turned.next = self.data[stage].q.val();
        }
        for i in H..G {
            if self.turn.val().get_bit(i) {
                self.turned.next = (self.turned.val() << self.up[i].val())
                    | (self.turned.val() >> self.down[i].val());
                self.turned_lanes.next = (self.turned_lanes.val() << self.lanes_up[i].val())
                    | (self.turned_lanes.val() >> self.lanes_down[i].val());
            }
        }
        self.coarse.d.next = self.turned.val();
        self.coarse_lanes.d.next = self.turned_lanes.val();
        self.coarse_turn.d.next = self.turn.val();

        self.turned.next = self.coarse.q.val();
        self.turned_lanes.next = self.coarse_lanes.q.val();
        for i in 0..H {
            if self.coarse_turn.q.val().get_bit(i) {
                self.turned.next = (self.turned.val() << self.up[i].val())
                    | (self.turned.val() >> self.down[i].val());
                self.turned_lanes.next = (self.turned_lanes.val() << self.lanes_up[i].val())
                    | (self.turned_lanes.val() >> self.lanes_down[i].val());
            }
        }
        self.fine.d.next = self.turned.val();
        self.fine_lanes.d.next = self.turned_lanes.val();
        self.fine_address.d.next = self.coarse_address.q.val();
        self.fine_next.d.next = self.coarse_next.q.val();
        self.over_lanes.next = 0.into();
        // The last bank's lane never does.
        for bank in 0..(L - 1) {
            self.over_lanes.next = self.over_lanes.val().replace_bit(
                bank,
                self.coarse_turn.q.val() > self.bank_number[bank].val(),
            );
        }
        self.over.d.next = self.over_lanes.val();

        self.turned.next = self.fine.q.val();
        self.joined.next = 0.into();
        for bank in 0..L {
            self.banks[bank].clock.next = self.clock.val();
            self.banks[bank].write_enable.next = self.fine_lanes.q.val().get_bit(bank);
            self.banks[bank].write_address.next = self.fine_address.q.val();
            if self.over.q.val().get_bit(bank) {
                self.banks[bank].write_address.next = self.fine_next.q.val();
            }
            self.banks[bank].write_data.next = self.turned.val().get_bits::<32>(bank * 32);
            self.banks[bank].read_address.next = self.read_address.val();
            self.lane.next = self.banks[bank].read_data.val();
            self.joined.next = self.joined.val()
                | (bit_cast::<D, 32>(self.lane.val()) << self.bank_bit[bank].val());
        }
        self.read_data.next = self.joined.val();
    }
}

#[cfg(test)]
mod tests;
