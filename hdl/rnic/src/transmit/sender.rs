//! Sender: frames out of the store, with checksum and CRC32C put in their places.
//!
//! ```text
//! patch --> Idle --> Run: words --> [ a beat ] --> [ lanes ] --> [ ReplaceOctets ] --> [ Skid ]
//! ```
//!
//! | latency    | 5 cycles from `patch_valid` to `frame_valid`                                 |
//! | throughput | a beat a cycle, without a gap in a frame; 1 idle cycle between frames        |
//! | units      | beats of `W` bits, words of `D` bits                                         |
//!
//! A patch comes when all words of its frame are in the store, so a frame that begins goes on to
//! its end as fast as it is taken. While `pause`, no frame begins.
use super::lanes::{LaneMask, ReplaceOctets};
use super::types::*;
use crate::common::skid::Skid;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Sender of beats of `W` bits, `WK = W / 8 = 2^WO` lanes, `WH = 14 - WO`; `D` is `W` or `2 W`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(D == W || D == 2 * W, "Sender: D = {D} must be W or 2 W, W = {W}");
)]
pub struct Sender<const W: usize, const WK: usize, const WO: usize, const WH: usize, const D: usize>
{
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub pause: Signal<In, Bit>,
    pub patch: Signal<In, FramePatch>,
    pub patch_valid: Signal<In, Bit>,
    pub patch_ready: Signal<Out, Bit>,
    /// The store's next word.
    pub word: Signal<In, Bits<D>>,
    pub word_valid: Signal<In, Bit>,
    pub word_ready: Signal<Out, Bit>,
    pub frame_data: Signal<Out, Bits<W>>,
    /// Valid octets: `W / 8` in each beat but the last.
    pub frame_octets: Signal<Out, Bits<7>>,
    pub frame_last: Signal<Out, Bit>,
    pub frame_valid: Signal<Out, Bit>,
    pub frame_ready: Signal<In, Bit>,
    /// One cycle: a frame's last beat goes to the output.
    pub sent: Signal<Out, Bit>,
    crc_from: LaneMask<WK, WO, WH>,
    crc_behind: LaneMask<WK, WO, WH>,
    checksum_from: LaneMask<WK, WO, WH>,
    checksum_behind: LaneMask<WK, WO, WH>,
    running: DFF<Bit>,
    current: DFF<FramePatch>,
    // Octets of the frame that are left, less one.
    rest: DFF<Bits<14>>,
    // The second half of the word is next.
    half: DFF<Bit>,
    // Stage 1: a beat, and its lanes.
    valid: DFF<Bit>,
    data: DFF<Bits<W>>,
    note: DFF<BeatNote>,
    crc_lanes: DFF<Bits<WK>>,
    checksum_lanes: DFF<Bits<WK>>,
    crc: DFF<Bits<32>>,
    checksum: DFF<Bits<16>>,
    // Stage 2.
    replace: ReplaceOctets<W, WK>,
    beats: Skid<Bits<W>>,
    notes: Skid<BeatNote>,
    advances: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    ends_word: Signal<Local, Bit>,
    wide: Signal<Local, Bits<640>>,
    octets_left: Signal<Local, Bits<WO>>,
    octets: Signal<Local, Bits<7>>,
    high: Signal<Local, Bits<WH>>,
    #[constant(1)]
    one: Constant<Bits<14>>,
    #[constant(1)]
    one_octet: Constant<Bits<7>>,
    #[constant(WK as LiteralType)]
    beat_octets: Constant<Bits<14>>,
    #[constant(WK as LiteralType)]
    full_beat: Constant<Bits<7>>,
    #[constant(2)]
    checksum_octets: Constant<Bits<14>>,
    #[constant(4)]
    crc_octets: Constant<Bits<14>>,
    // A word is one beat.
    #[init(Constant::new(W == D))]
    single: Constant<Bit>,
}

impl<const W: usize, const WK: usize, const WO: usize, const WH: usize, const D: usize> Logic
    for Sender<W, WK, WO, WH, D>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; running, current, rest, half, valid, data, note, crc_lanes);
        registers!(clock; checksum_lanes, crc, checksum);
        wire!(self => self.{crc_from, crc_behind, checksum_from, checksum_behind}; clock);
        wire!(self => self.{beats, notes}; clock, reset, frame_ready as m_ready);

        // Frames begin while nothing else waits at the output.
        self.advances.next = !self.valid.q.val() | self.beats.s_ready.val();
        self.loads.next = !self.running.q.val() & self.patch_valid.val() & !self.pause.val();
        self.patch_ready.next = self.loads.val();
        self.takes.next = self.running.q.val() & self.word_valid.val() & self.advances.val();
        self.high.next = 0.into();
        for lane_bits in WO..(WO + 1) {
            self.high.next = self.rest.q.val().get_bits::<WH>(lane_bits);
        }
        self.is_last.next = !self.high.val().any();
        self.ends_word.next = self.half.q.val() | self.single.val() | self.is_last.val();
        self.word_ready.next = self.takes.val() & self.ends_word.val();
        if self.loads.val() {
            self.current.d.next = self.patch.val();
            self.rest.d.next = self.patch.val().octets - self.one.val();
            self.half.d.next = false;
            self.running.d.next = true;
        }
        if self.takes.val() {
            self.rest.d.next = self.rest.q.val() - self.beat_octets.val();
            self.half.d.next = !self.ends_word.val();
            if self.is_last.val() {
                self.running.d.next = false;
            }
        }

        // Lanes of the places.
        wire!(self => self.{crc_from, crc_behind, checksum_from, checksum_behind}; loads as load);
        wire!(self => self.{crc_from, crc_behind, checksum_from, checksum_behind}; takes as step);
        self.crc_from.place.next = self.patch.val().crc_place;
        self.crc_behind.place.next = self.patch.val().crc_place + self.crc_octets.val();
        self.checksum_from.place.next = self.patch.val().checksum_place;
        self.checksum_behind.place.next =
            self.patch.val().checksum_place + self.checksum_octets.val();

        // Stage 1.
        self.wide.next = bit_cast::<640, D>(self.word.val());
        self.octets_left.next = self.rest.q.val().get_bits::<WO>(0);
        self.octets.next = self.full_beat.val();
        if self.is_last.val() {
            self.octets.next = bit_cast::<7, WO>(self.octets_left.val()) + self.one_octet.val();
        }
        if self.advances.val() {
            self.valid.d.next = self.takes.val();
            self.data.d.next = self.wide.val().get_bits::<W>(0);
            if self.half.q.val() {
                self.data.d.next = self.wide.val().get_bits::<W>(64);
            }
            self.note.d.next.octets = self.octets.val();
            self.note.d.next.last = self.is_last.val();
            self.crc_lanes.d.next = 0.into();
            if self.current.q.val().has_crc {
                self.crc_lanes.d.next = self.crc_from.mask.val() & !self.crc_behind.mask.val();
            }
            self.checksum_lanes.d.next = 0.into();
            if self.current.q.val().has_checksum {
                self.checksum_lanes.d.next =
                    self.checksum_from.mask.val() & !self.checksum_behind.mask.val();
            }
            self.crc.d.next = self.current.q.val().crc;
            self.checksum.d.next = self.current.q.val().checksum;
        }

        // Stage 2.
        self.replace.data.next = self.data.q.val();
        self.replace.first_lanes.next = self.crc_lanes.q.val();
        self.replace.first.next = self.crc.q.val();
        self.replace.second_lanes.next = self.checksum_lanes.q.val();
        self.replace.second.next = self.checksum.q.val();
        self.beats.s_data.next = self.replace.replaced.val();
        self.beats.s_valid.next = self.valid.q.val();
        self.notes.s_data.next = self.note.q.val();
        self.notes.s_valid.next = self.valid.q.val();
        self.sent.next = self.valid.q.val() & self.beats.s_ready.val() & self.note.q.val().last;
        self.frame_data.next = self.beats.m_data.val();
        self.frame_octets.next = self.notes.m_data.val().octets;
        self.frame_last.next = self.notes.m_data.val().last;
        self.frame_valid.next = self.beats.m_valid.val();
        if self.reset.val() {
            self.running.d.next = false;
            self.valid.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
