//! The room as one block: STag in front, region and verdict flags behind.
//!
//! ```text
//!    front               |            checks, from `take` on
//!  hash --> [ lookup ] --|--> [ region check ] --> unknown, foreign, rights, bus_address, outside
//!           4 cycles     |     ^ to, to_end, pd, connection (cycle 2)
//! ```
//!
//! | latency    | 4 cycles from `hash` to `take` at least; then as [`super::region`] |
//! | throughput | one STag per 5 cycles                                              |
//! | units      | see [`super::lookup`] and [`super::region`]                        |
use super::lookup::{StagEntry, StagLookup};
use super::region::{RegionCheck, RegionEntry};
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// STag lookup and region check of one segment at a time.
#[derive(LogicBlock, Default)]
pub struct StagRoom {
    pub clock: Signal<In, Clock>,
    /// CRC32C of the STag's index; still until `take`.
    pub hash: Signal<In, Bits<32>>,
    /// The STag; still until `take`.
    pub stag: Signal<In, Bits<32>>,
    /// Cycle 0 of the checks.
    pub take: Signal<In, Bit>,
    /// Cycle 2: Tagged Offset of the first octet.
    pub to: Signal<In, Bits<64>>,
    /// Cycle 2: Tagged Offset after the last octet, modulo 2^64.
    pub to_end: Signal<In, Bits<64>>,
    /// Cycle 2: Protection Domain of the stream.
    pub pd: Signal<In, Bits<16>>,
    /// Cycle 2: connection of the stream.
    pub connection: Signal<In, Bits<10>>,
    /// Cycle 3: not known, not valid, or another key.
    pub unknown: Signal<Out, Bit>,
    /// Cycle 3: of another Protection Domain, or bound to another connection.
    pub foreign: Signal<Out, Bit>,
    /// Cycle 3: the region's rights.
    pub rights: Signal<Out, Bits<5>>,
    /// Cycle 3: bus address of the octet at `to`.
    pub bus_address: Signal<Out, Bits<64>>,
    /// Cycle 4: some octet is not in the region.
    pub outside: Signal<Out, Bit>,
    /// The region of the STag taken last becomes invalid; never together with `write_region`.
    pub invalidate: Signal<In, Bit>,
    /// Entry that a table operation reads or writes.
    pub index: Signal<In, Bits<16>>,
    /// `stag_entry` is stored.
    pub write_stag: Signal<In, Bit>,
    /// A slot of the lookup.
    pub stag_entry: Signal<In, StagEntry>,
    /// `region_entry` and `region_valid` are stored.
    pub write_region: Signal<In, Bit>,
    /// A region.
    pub region_entry: Signal<In, RegionEntry>,
    pub region_valid: Signal<In, Bit>,
    /// The region at `index` is wanted; never together with `take`.
    pub read_region: Signal<In, Bit>,
    /// Two cycles later: that region.
    pub read_entry: Signal<Out, RegionEntry>,
    pub read_valid: Signal<Out, Bit>,
    lookup: StagLookup,
    region: RegionCheck,
    held_found: DFF<Bit>,
    held_key: DFF<Bits<8>>,
    held_region: DFF<Bits<10>>,
}

impl Logic for StagRoom {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held_found, held_key, held_region);
        wire!(self => self.{lookup, region}; clock);
        self.lookup.hash.next = self.hash.val();
        self.lookup.stag_index.next = self.stag.val().get_bits::<24>(8);
        if self.take.val() {
            self.held_found.d.next = self.lookup.found.val();
            self.held_key.d.next = self.stag.val().get_bits::<8>(0);
            self.held_region.d.next = self.lookup.region.val();
        }
        self.region.region.next = self.lookup.region.val();
        if self.read_region.val() {
            self.region.region.next = self.index.val().get_bits::<10>(0);
        }
        self.region.found.next = self.held_found.q.val();
        self.region.stag_key.next = self.held_key.q.val();
        wire!(self => self.region; to, to_end, pd, connection);
        wire!(self.region => self; unknown, foreign, rights, bus_address, outside);

        self.lookup.write.next = self.write_stag.val();
        self.lookup.write_index.next = self.index.val().get_bits::<11>(0);
        self.lookup.write_entry.next = self.stag_entry.val();
        self.region.write.next = self.write_region.val();
        self.region.write_region.next = self.index.val().get_bits::<10>(0);
        wire!(self => self.region;
            region_entry as write_entry, region_valid as write_valid, invalidate);
        self.region.invalidate_region.next = self.held_region.q.val();
        wire!(self.region => self; entry as read_entry, entry_valid as read_valid);
    }
}
