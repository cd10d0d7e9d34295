//! Two joined beats side by side, and the beat that begins at any of their words.
//!
//! ```text
//! joined --> [ spare ] --> [ high ] --> [ low ]        turned: words offset .. offset + L - 1
//!                              \___________\________>  of high ++ low
//! ```
//!
//! | latency    | 1 cycle, `joined_valid` to `low_valid`; none from `offset` to `turned`  |
//! | throughput | one beat per cycle; `joined_ready` is a register's                      |
//! | units      | `offset` in words of 4 octets; a beat is D bits, L = 2^LG words         |
//!
//! `usable` says that the words `offset ..` are there as far as the job has them.
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Window over the joined stream: `D` bits a beat, `P = 2 D`, `2^LG` words a beat.
#[derive(LogicBlock, Init)]
#[init(
    assert!(P == 2 * D, "BeatWindow: P = {P} must be twice D = {D}");
    assert!(
        D == 32 << LG && LG <= 4,
        "BeatWindow: D = {D} must be 32 * 2^LG with LG = {LG} at most 4"
    );
)]
pub struct BeatWindow<const D: usize, const P: usize, const LG: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Beat of the joined stream.
    pub joined_data: Signal<In, Bits<D>>,
    /// It is the last one of its job.
    pub joined_last: Signal<In, Bit>,
    pub joined_valid: Signal<In, Bit>,
    pub joined_ready: Signal<Out, Bit>,
    /// Word at which `turned` begins.
    pub offset: Signal<In, Bits<LG>>,
    /// Drop the low beat at this clock edge; only while `low_valid`.
    pub shift: Signal<In, Bit>,
    /// Word of the low or high beat to look at.
    pub peek_offset: Signal<In, Bits<LG>>,
    /// Look at the high beat.
    pub peek_high: Signal<In, Bit>,
    /// `L` words from `offset` on.
    pub turned: Signal<Out, Bits<D>>,
    /// The word at `peek_offset`.
    pub peeked: Signal<Out, Bits<32>>,
    pub peek_valid: Signal<Out, Bit>,
    pub low_valid: Signal<Out, Bit>,
    /// The low beat is the last one of its job.
    pub low_last: Signal<Out, Bit>,
    /// `turned` is there, as far as the job has it.
    pub usable: Signal<Out, Bit>,
    low: DFF<Bits<D>>,
    low_is_valid: DFF<Bit>,
    low_is_last: DFF<Bit>,
    high: DFF<Bits<D>>,
    high_is_valid: DFF<Bit>,
    high_is_last: DFF<Bit>,
    spare: DFF<Bits<D>>,
    spare_is_valid: DFF<Bit>,
    spare_is_last: DFF<Bit>,
    take: Signal<Local, Bit>,
    amount: Signal<Local, Bits<9>>,
    peek_amount: Signal<Local, Bits<9>>,
    pair: Signal<Local, Bits<P>>,
    shifted: Signal<Local, Bits<P>>,
    peek_beat: Signal<Local, Bits<D>>,
    peek_shifted: Signal<Local, Bits<D>>,
    #[constant(D as u64)]
    beat_bits: Constant<Bits<10>>,
}

impl<const D: usize, const P: usize, const LG: usize> Logic for BeatWindow<D, P, LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; low, low_is_valid, low_is_last);
        registers!(clock; high, high_is_valid, high_is_last);
        registers!(clock; spare, spare_is_valid, spare_is_last);
        self.joined_ready.next = !self.spare_is_valid.q.val();
        self.take.next = self.joined_valid.val() & !self.spare_is_valid.q.val();

        // Each place takes from the one behind it, or the arriving beat if that one is empty.
        if self.shift.val() | !self.low_is_valid.q.val() {
            if self.high_is_valid.q.val() {
                self.low.d.next = self.high.q.val();
                self.low_is_last.d.next = self.high_is_last.q.val();
                self.low_is_valid.d.next = true;
            } else {
                self.low.d.next = self.joined_data.val();
                self.low_is_last.d.next = self.joined_last.val();
                self.low_is_valid.d.next = self.take.val();
            }
        }
        if self.shift.val() | !self.high_is_valid.q.val() {
            if self.spare_is_valid.q.val() {
                self.high.d.next = self.spare.q.val();
                self.high_is_last.d.next = self.spare_is_last.q.val();
                self.high_is_valid.d.next = true;
            } else {
                self.high.d.next = self.joined_data.val();
                self.high_is_last.d.next = self.joined_last.val();
                self.high_is_valid.d.next = self.take.val()
                    & ((self.shift.val() & self.high_is_valid.q.val())
                        | (!self.shift.val() & self.low_is_valid.q.val()));
            }
        }
        if !self.spare_is_valid.q.val() {
            self.spare.d.next = self.joined_data.val();
            self.spare_is_last.d.next = self.joined_last.val();
            self.spare_is_valid.d.next =
                self.take.val() & self.high_is_valid.q.val() & !self.shift.val();
        } else if self.shift.val() {
            self.spare_is_valid.d.next = false;
        }
        if self.reset.val() {
            self.low_is_valid.d.next = false;
            self.high_is_valid.d.next = false;
            self.spare_is_valid.d.next = false;
        }

        self.low_valid.next = self.low_is_valid.q.val();
        self.low_last.next = self.low_is_last.q.val();
        self.usable.next =
            self.low_is_valid.q.val() & (self.high_is_valid.q.val() | self.low_is_last.q.val());
        self.amount.next = bit_cast::<9, LG>(self.offset.val()) << 5;
        self.pair.next = bit_cast::<P, D>(self.low.q.val())
            | (bit_cast::<P, D>(self.high.q.val()) << self.beat_bits.val());
        self.shifted.next = self.pair.val() >> self.amount.val();
        self.turned.next = self.shifted.val().get_bits::<D>(0);

        self.peek_beat.next = self.low.q.val();
        self.peek_valid.next = self.low_is_valid.q.val();
        if self.peek_high.val() {
            self.peek_beat.next = self.high.q.val();
            self.peek_valid.next = self.high_is_valid.q.val();
        }
        self.peek_amount.next = bit_cast::<9, LG>(self.peek_offset.val()) << 5;
        self.peek_shifted.next = self.peek_beat.val() >> self.peek_amount.val();
        self.peeked.next = self.peek_shifted.val().get_bits::<32>(0);
    }
}
