//! Closes the ranks of an FPDU's words: beats that lack a word in, full beats out.
//!
//! ```text
//! closed beat --> [ held words ++ new words ] --> placed beats, first five words
//!                      ^----- what is over -----/
//! ```
//!
//! Words held back fill the gaps that markers left; after the last beat they may need one beat
//! more. Every beat but an FPDU's last is full. An FPDU marked `check` gives no placed beats.
//!
//! | latency    | 1 cycle; one more for the beat that flushes                                |
//! | throughput | one beat per cycle; at least 1 cycle without a beat after each last one    |
//! | units      | a beat is D bits, L = 2^LG words of 4 octets                               |
//! | in         | L or L - 1 words, in the last beat 1 to L; the lanes above them are zero   |
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Compaction of beats of `D` bits; `P = 2 D`, `D = 32 * 2^LG`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        P == 2 * D && D == 32 << LG && (2..=4).contains(&LG),
        "WordCompact: D = {D} must be 32 * 2^LG with LG = {LG} in 2..=4, P = {P} twice that"
    );
)]
pub struct WordCompact<const D: usize, const P: usize, const LG: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A beat, maybe one word short; no backpressure.
    pub closed_valid: Signal<In, Bit>,
    /// Its words.
    pub closed_data: Signal<In, Bits<D>>,
    /// How many they are.
    pub closed_words: Signal<In, Bits<6>>,
    /// A word is missing that a marker took.
    pub short: Signal<In, Bit>,
    /// First beat of the FPDU.
    pub closed_first: Signal<In, Bit>,
    /// Last beat of the FPDU.
    pub closed_last: Signal<In, Bit>,
    /// The FPDU's words are not to be placed.
    pub closed_check: Signal<In, Bit>,
    /// A beat for the placement buffer.
    pub placed_valid: Signal<Out, Bit>,
    /// Its octets.
    pub placed_data: Signal<Out, Bits<D>>,
    /// First five words of the FPDU; zero where it has none.
    pub header: Signal<Out, Bits<160>>,
    /// One cycle for each FPDU, `check` or not: they are there from now on.
    pub header_valid: Signal<Out, Bit>,
    // Words that wait for a full beat; zero above them.
    held: DFF<Bits<D>>,
    fill: DFF<Bits<LG>>,
    // `held` goes out by itself.
    flush: DFF<Bit>,
    // Beats of this FPDU that went out: 0, 1 or more.
    sent_one: DFF<Bit>,
    sent_more: DFF<Bit>,
    out_data: DFF<Bits<D>>,
    out_valid: DFF<Bit>,
    out_check: DFF<Bit>,
    head: DFF<Bits<160>>,
    head_valid: DFF<Bit>,
    amount: Signal<Local, Bits<9>>,
    appended: Signal<Local, Bits<P>>,
    joined: Signal<Local, Bits<D>>,
    left_over: Signal<Local, Bits<D>>,
    total: Signal<Local, Bits<6>>,
    goes: Signal<Local, Bit>,
    first_now: Signal<Local, Bit>,
    second_now: Signal<Local, Bit>,
    fifth: Signal<Local, Bits<32>>,
    out_now: Signal<Local, Bits<D>>,
    // The FPDU's last words go out.
    ends: Signal<Local, Bit>,
    #[init(Constant::new(D < 160))]
    narrow: Constant<Bit>,
    #[constant(1u64 << LG)]
    lanes: Constant<Bits<6>>,
    #[constant(1)]
    one_lane: Constant<Bits<LG>>,
}

impl<const D: usize, const P: usize, const LG: usize> Logic for WordCompact<D, P, LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held, fill, flush, sent_one, sent_more, out_data, out_valid);
        registers!(clock; out_check, head, head_valid);
        self.amount.next = bit_cast::<9, LG>(self.fill.q.val()) << 5;
        self.appended.next = bit_cast::<P, D>(self.closed_data.val()) << self.amount.val();
        self.joined.next = self.held.q.val() | self.appended.val().get_bits::<D>(0);
        for width in D..(D + 1) {
            self.left_over.next = self.appended.val().get_bits::<D>(width);
        }
        self.total.next = bit_cast::<6, LG>(self.fill.q.val()) + self.closed_words.val();

        self.goes.next = self.flush.q.val();
        self.flush.d.next = false;
        self.ends.next = self.flush.q.val();
        self.out_now.next = self.joined.val();
        if self.flush.q.val() {
            self.out_now.next = self.held.q.val();
            self.held.d.next = 0.into();
        } else if self.closed_valid.val() {
            self.goes.next = true;
            self.out_check.d.next = self.closed_check.val();
            self.held.d.next = self.left_over.val();
            if self.short.val() {
                self.fill.d.next = self.fill.q.val() - self.one_lane.val();
                if !self.fill.q.val().any() & !self.closed_last.val() {
                    // Nothing was held: one word too few for a beat.
                    self.goes.next = false;
                    self.held.d.next = self.joined.val();
                }
            }
            if self.closed_last.val() {
                self.fill.d.next = 0.into();
                self.flush.d.next = self.total.val() > self.lanes.val();
                self.ends.next = self.total.val() <= self.lanes.val();
            }
        }
        self.out_data.d.next = self.out_now.val();

        // Which beat of the FPDU goes out?
        self.first_now.next = !self.sent_one.q.val() & !self.sent_more.q.val();
        self.second_now.next = self.sent_one.q.val();
        if self.closed_valid.val() & self.closed_first.val() {
            self.first_now.next = true;
            self.second_now.next = false;
        }
        self.sent_one.d.next = self.second_now.val();
        self.sent_more.d.next = !self.first_now.val() & !self.second_now.val();
        if self.goes.val() {
            self.sent_one.d.next = self.first_now.val();
            self.sent_more.d.next = !self.first_now.val();
        }
        self.out_valid.d.next = self.goes.val();

        // The header is in the first placed beat, its fifth word maybe in the second one.
        self.fifth.next = self.out_now.val().get_bits::<32>(0);
        self.head_valid.d.next = false;
        if self.goes.val() & self.first_now.val() {
            self.head.d.next = bit_cast::<160, D>(self.out_now.val());
            self.head_valid.d.next = !self.narrow.val() | self.ends.val();
        } else if self.goes.val() & self.second_now.val() & self.narrow.val() {
            self.head.d.next = self.head.q.val() | (bit_cast::<160, 32>(self.fifth.val()) << 128);
            self.head_valid.d.next = true;
        }
        if self.reset.val() {
            self.held.d.next = 0.into();
            self.fill.d.next = 0.into();
            self.flush.d.next = false;
            self.out_valid.d.next = false;
            self.head_valid.d.next = false;
            self.sent_one.d.next = false;
            self.sent_more.d.next = false;
        }

        self.placed_valid.next = self.out_valid.q.val() & !self.out_check.q.val();
        self.placed_data.next = self.out_data.q.val();
        self.header.next = self.head.q.val();
        self.header_valid.next = self.head_valid.q.val();
    }
}

#[cfg(test)]
mod tests;
