//! STag lookup: three ways of 512 slots, all read at once, find an STag's memory region.
//!
//! ```text
//!  hash --> slot a way --> [ 3 STag RAMs ] --> [ 3 compares ] --> [ select ] --> found, region
//!  stag_index ------------- two registers -------^
//!               cycle 0,1                          cycle 2           cycle 3
//! ```
//!
//! | latency    | 4 cycles, `hash` and `stag_index` to `found` and `region`            |
//! | throughput | one lookup per cycle                                                 |
//! | units      | `write_index` is `way << 9 or slot`, as in `rnic_abi::tables::STAG`  |
//! | bound      | one read finds or refuses every STag: a key has one slot in each way |
//!
//! A lookup whose slot is written in the cycle in which it enters is undefined (see `SdpRam`): the
//! writer restarts lookups that are under way. Should two ways hold the same STag, `region` is the
//! OR of both; the driver never writes that.
// LogicStruct derives accessors without documentation.
use crate::common::ram::SdpRam;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// One slot of one way.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StagEntry {
    /// The slot is in use.
    pub valid: Bit,
    /// Upper 24 bits of the STag.
    pub stag_index: Bits<24>,
    /// Its memory region.
    pub region: Bits<10>,
}

/// Finds the region of an STag.
#[derive(LogicBlock, Init)]
pub struct StagLookup {
    pub clock: Signal<In, Clock>,
    /// CRC32C of `stag_index` (`StagHash`).
    pub hash: Signal<In, Bits<32>>,
    /// STag index to find.
    pub stag_index: Signal<In, Bits<24>>,
    /// Four cycles later: some way holds the index.
    pub found: Signal<Out, Bit>,
    /// Its region; zero if not found.
    pub region: Signal<Out, Bits<10>>,
    /// High for each cycle in which `write_entry` is stored.
    pub write: Signal<In, Bit>,
    /// Slot (bits 8:0) and way (bits 10:9).
    pub write_index: Signal<In, Bits<11>>,
    /// What the slot shall hold.
    pub write_entry: Signal<In, StagEntry>,
    way: [SdpRam<StagEntry, 9>; 3],
    wanted: DFF<Bits<24>>,
    wanted_q2: DFF<Bits<24>>,
    hit: [DFF<Bit>; 3],
    hit_region: [DFF<Bits<10>>; 3],
    is_found: DFF<Bit>,
    found_region: DFF<Bits<10>>,
    hash_word: Signal<Local, Bits<32>>,
    write_slot: Signal<Local, Bits<9>>,
    write_way: Signal<Local, Bits<2>>,
    // The entry of the way at hand.
    entry: Signal<Local, StagEntry>,
    region_sum: Signal<Local, Bits<10>>,
    any_hit: Signal<Local, Bit>,
    #[constants(|way| way as LiteralType)]
    way_number: [Constant<Bits<2>>; 3],
}

impl Logic for StagLookup {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; wanted, wanted_q2, is_found, found_region);
        // Slots: nine bits of the hash from bit 9 * way on (`hash_slot`).
        self.hash_word.next = self.hash.val();
        for i in 0..3 {
            self.way[i].read_address.next = self.hash_word.val().get_bits::<9>(i * 9);
        }
        self.wanted.d.next = self.stag_index.val();
        self.wanted_q2.d.next = self.wanted.q.val();

        self.region_sum.next = 0.into();
        self.any_hit.next = false;
        for i in 0..3 {
            self.way[i].clock.next = self.clock.val();
            self.hit[i].clock.next = self.clock.val();
            self.hit_region[i].clock.next = self.clock.val();
            self.entry.next = self.way[i].read_data.val();
            self.hit[i].d.next =
                self.entry.val().valid & (self.entry.val().stag_index == self.wanted_q2.q.val());
            self.hit_region[i].d.next = self.entry.val().region;
            if self.hit[i].q.val() {
                self.any_hit.next = true;
                self.region_sum.next = self.region_sum.val() | self.hit_region[i].q.val();
            }
        }
        self.is_found.d.next = self.any_hit.val();
        self.found_region.d.next = self.region_sum.val();
        self.found.next = self.is_found.q.val();
        self.region.next = self.found_region.q.val();

        self.write_slot.next = self.write_index.val().get_bits::<9>(0);
        self.write_way.next = self.write_index.val().get_bits::<2>(9);
        for i in 0..3 {
            self.way[i].write_enable.next =
                self.write.val() & (self.write_way.val() == self.way_number[i].val());
            self.way[i].write_address.next = self.write_slot.val();
            self.way[i].write_data.next = self.write_entry.val();
        }
    }
}

#[cfg(test)]
mod tests;
