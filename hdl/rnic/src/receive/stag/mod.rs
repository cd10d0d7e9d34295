//! STags: from an STag to a memory region, and the checks against that region.
//!
//! ```text
//!    in front            |            checks, from `take` on
//!  hash --> [ lookup ] --|--> [ region check ] --> unknown, foreign, rights, bus_address, outside
//!           4 cycles     |     ^ to, to_end, pd, connection (cycle 2)
//! ```
//!
//! | latency    | 4 cycles from `hash` to `take` at least; then 3, and 4 to `outside` |
//! | throughput | one STag per 5 cycles                                               |
//! | units      | octets; see [`StagLookup`] and [`RegionCheck`]                      |
//! | source     | RFC 5041 sections 7.1, 8.2 and 8.3; RFC 5040 sections 5.2 and 5.3   |
//!
//! The room has no stream of its own; its blocks are stages of the pipeline of
//! [`crate::receive::ddp`], which owns the table bus, the order of records and the verdict.
//!
//! | block           | decides                                                          | latency |
//! |-----------------|------------------------------------------------------------------|---------|
//! | [`hash`]        | the slot of each way                                             | 0       |
//! | [`StagLookup`]  | whether the STag is known, and its region (three ways, one read) | 4       |
//! | [`RegionCheck`] | key, validity, PD or stream, rights, octet-exact bounds, address | 2 to 4  |
//!
//! Errors and their counters: `refuse_ddp_stag` (unknown, not valid, another key),
//! `refuse_ddp_association`, `refuse_rdmap_access`, `refuse_ddp_bounds`, and for a Send with
//! Invalidate `refuse_rdmap_invalidate`. `refuse_ddp_wrap` needs no region; ddp finds it.
//!
//! A table entry read in the cycle in which it is written is undefined (see `SdpRam`): the writer
//! restarts lookups in flight.
pub mod hash;

use crate::common::build::sizes;
use crate::common::ram::SdpRam;
use rnic_abi::limits::READ_SINK_OCTETS_LOG2;
use rnic_abi::tables::RIGHT_STREAM_BOUND;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// STag lookup and region check of one segment at a time.
#[derive(LogicBlock, Default)]
pub struct StagRoom {
    pub clock: Signal<In, Clock>,
    /// CRC32C of the index of `stag`; both are stable until `take`.
    pub hash: Signal<In, Bits<32>>,
    pub stag: Signal<In, Bits<32>>,
    /// Cycle 0 of the checks: the result of the lookup is kept.
    pub take: Signal<In, Bit>,
    // Cycles 2 to 4 of the checks: see [`RegionCheck`].
    pub to: Signal<In, Bits<64>>,
    pub to_end: Signal<In, Bits<64>>,
    pub pd: Signal<In, Bits<16>>,
    pub connection: Signal<In, Bits<10>>,
    pub unknown: Signal<Out, Bit>,
    pub foreign: Signal<Out, Bit>,
    pub rights: Signal<Out, Bits<5>>,
    pub bus_address: Signal<Out, Bits<64>>,
    pub outside: Signal<Out, Bit>,
    pub is_large: Signal<Out, Bit>,
    /// The region of the STag taken last becomes invalid; never together with `write_region`.
    pub invalidate: Signal<In, Bit>,
    /// Entry that a table operation reads or writes.
    pub index: Signal<In, Bits<16>>,
    /// Stores `stag_entry` in slot `index` of the lookup.
    pub write_stag: Signal<In, Bit>,
    pub stag_entry: Signal<In, StagEntry>,
    /// Stores `region_entry` and `region_valid` in region `index`.
    pub write_region: Signal<In, Bit>,
    pub region_entry: Signal<In, RegionEntry>,
    pub region_valid: Signal<In, Bit>,
    /// Reads region `index`: two cycles later it is in `read_entry`; never together with `take`.
    pub read_region: Signal<In, Bit>,
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
        wire!(self.region => self; unknown, foreign, rights, bus_address, outside, is_large);

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

// The slice in `RegionCheck`.
const _: () = assert!(READ_SINK_OCTETS_LOG2 == 35);

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

/// STag lookup: three ways of 512 slots, all read at once, find the memory region of an STag.
///
/// ```text
///  hash --> slot of each way --> [ 3 STag RAMs ] --> [ 3 compares ] --> [ select ] --> found,
///  stag_index ---------------------- two registers ---^                               region
///                      cycle 0,1                       cycle 2           cycle 3
/// ```
///
/// | latency    | 4 cycles, `hash` and `stag_index` to `found` and `region`              |
/// | throughput | one lookup per cycle                                                   |
/// | units      | `write_index` is `way << 9 or slot`, as in `rnic_abi::tables::STAG`    |
/// | bound      | one read finds or refuses every STag: a key has one slot in each way   |
///
/// If two ways held the same STag, `region` would be the OR of both; the driver never writes that.
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
    /// Stores `write_entry`.
    pub write: Signal<In, Bit>,
    /// Slot (bits 8:0) and way (bits 10:9).
    pub write_index: Signal<In, Bits<11>>,
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
    // The entry of way `i` of the loop.
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

/// A memory region, without its valid bit, which has a RAM of its own so that an invalidation can
/// clear it alone.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RegionEntry {
    /// `rnic_abi::tables::RIGHT_*`.
    pub rights: Bits<5>,
    /// Low octet of the STag.
    pub stag_key: Bits<8>,
    /// Protection Domain.
    pub pd: Bits<16>,
    /// The one connection that may use the STag, with `RIGHT_STREAM_BOUND`.
    pub connection: Bits<10>,
    /// Tagged Offset of the first octet.
    pub base: Bits<64>,
    /// Octets.
    pub octets: Bits<48>,
    /// Bus address minus Tagged Offset, modulo 2^64.
    pub bus_offset: Bits<64>,
}

/// Region check: may these octets of this stream be written into this memory region, and where?
///
/// ```text
///  region ---> [ region RAM, valid RAM ] ---> compare, subtract ---> compare ---> outside
///                      cycle 0,1        entry      cycle 2      |     cycle 3
///  stag_key, to, to_end, pd, connection ------------^           +--> unknown, foreign, rights,
///                                                                    bus_address
/// ```
///
/// | latency    | `region` to `entry`, `entry_valid`: 2 cycles; to `unknown`, `foreign`,     |
/// |            | `rights`, `bus_address`: 3 cycles; to `outside`: 4 cycles                  |
/// | throughput | one check per cycle                                                        |
/// | units      | `to`, `to_end`, base and length in octets; rights as in `rnic_abi::tables` |
/// | source     | RFC 5041 sections 7.1 (tagged), 8.2                                        |
///
/// `outside` is meaningful only if TO plus length does not exceed 2^64 - 1: ddp tests that wrap.
#[derive(LogicBlock, Init)]
pub struct RegionCheck {
    pub clock: Signal<In, Clock>,
    /// Cycle 0: region to look at.
    pub region: Signal<In, Bits<10>>,
    /// Cycle 2: the STag lookup found the region.
    pub found: Signal<In, Bit>,
    /// Cycle 2: low octet of the STag.
    pub stag_key: Signal<In, Bits<8>>,
    /// Cycle 2: Tagged Offset of the first octet, and after the last one modulo 2^64.
    pub to: Signal<In, Bits<64>>,
    pub to_end: Signal<In, Bits<64>>,
    /// Cycle 2: Protection Domain and connection of the stream.
    pub pd: Signal<In, Bits<16>>,
    pub connection: Signal<In, Bits<10>>,
    /// Cycle 2: the region as stored, and its valid bit.
    pub entry: Signal<Out, RegionEntry>,
    pub entry_valid: Signal<Out, Bit>,
    /// Cycle 3: not found, not valid, or another key.
    pub unknown: Signal<Out, Bit>,
    /// Cycle 3: of another Protection Domain, or bound to another connection.
    pub foreign: Signal<Out, Bit>,
    /// Cycle 3: the region's rights.
    pub rights: Signal<Out, Bits<5>>,
    /// Cycle 3: bus address of the octet at `to`.
    pub bus_address: Signal<Out, Bits<64>>,
    /// Cycle 4: some octet of `to..to_end` is not in the region.
    pub outside: Signal<Out, Bit>,
    /// Cycle 3: the region is too long to be the sink of a read.
    pub is_large: Signal<Out, Bit>,
    /// Stores `write_entry` and `write_valid`.
    pub write: Signal<In, Bit>,
    pub write_region: Signal<In, Bits<10>>,
    pub write_entry: Signal<In, RegionEntry>,
    pub write_valid: Signal<In, Bit>,
    /// Clears the valid bit of `invalidate_region`; never together with `write`.
    pub invalidate: Signal<In, Bit>,
    pub invalidate_region: Signal<In, Bits<10>>,
    #[init(SdpRam::of_words(sizes().regions()))]
    entries: SdpRam<RegionEntry, 10>,
    #[init(SdpRam::of_words(sizes().regions()))]
    valids: SdpRam<Bit, 10>,
    is_unknown: DFF<Bit>,
    pd_differs: DFF<Bit>,
    connection_differs: DFF<Bit>,
    held_rights: DFF<Bits<5>>,
    address: DFF<Bits<64>>,
    is_below: DFF<Bit>,
    // Octets from the first one of the region to the end of the segment, modulo 2^64.
    span: DFF<Bits<64>>,
    octets: DFF<Bits<48>>,
    is_outside: DFF<Bit>,
    held_large: DFF<Bit>,
    stored_octets: Signal<Local, Bits<48>>,
    high_octets: Signal<Local, Bits<13>>,
    bound: Signal<Local, Bits<5>>,
    #[constant(LiteralType::from(RIGHT_STREAM_BOUND))]
    stream_bound: Constant<Bits<5>>,
}

impl Logic for RegionCheck {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; is_unknown, pd_differs, connection_differs, held_rights);
        registers!(clock; address, is_below, span, octets, is_outside, held_large);
        wire!(self => self.entries;
            clock, region as read_address, write as write_enable, write_region as write_address,
            write_entry as write_data);
        wire!(self => self.valids; clock, region as read_address);
        self.valids.write_enable.next = self.write.val() | self.invalidate.val();
        wire!(self => self.valids; write_region as write_address, write_valid as write_data);
        if self.invalidate.val() {
            self.valids.write_address.next = self.invalidate_region.val();
            self.valids.write_data.next = false;
        }
        self.entry.next = self.entries.read_data.val();
        self.entry_valid.next = self.valids.read_data.val();

        // Cycle 2.
        self.is_unknown.d.next = !self.found.val()
            | !self.valids.read_data.val()
            | (self.entries.read_data.val().stag_key != self.stag_key.val());
        self.pd_differs.d.next = self.entries.read_data.val().pd != self.pd.val();
        self.connection_differs.d.next =
            self.entries.read_data.val().connection != self.connection.val();
        self.held_rights.d.next = self.entries.read_data.val().rights;
        self.address.d.next = self.to.val() + self.entries.read_data.val().bus_offset;
        self.is_below.d.next = self.to.val() < self.entries.read_data.val().base;
        self.span.d.next = self.to_end.val() - self.entries.read_data.val().base;
        self.octets.d.next = self.entries.read_data.val().octets;
        self.stored_octets.next = self.entries.read_data.val().octets;
        self.high_octets.next = self.stored_octets.val().get_bits::<13>(35);
        self.held_large.d.next = self.high_octets.val().any();
        self.is_large.next = self.held_large.q.val();

        // Cycle 3. RFC 5041 8.2: a stream uses STags of its Protection Domain, or, where the STag
        // is bound to a stream, that stream alone.
        self.bound.next = self.held_rights.q.val() & self.stream_bound.val();
        self.unknown.next = self.is_unknown.q.val();
        self.foreign.next =
            self.pd_differs.q.val() | (self.bound.val().any() & self.connection_differs.q.val());
        self.rights.next = self.held_rights.q.val();
        self.bus_address.next = self.address.q.val();
        // No borrow and no wrap: span is exact, and the segment ends inside if it is not longer.
        self.is_outside.d.next =
            self.is_below.q.val() | (self.span.q.val() > bit_cast::<64, 48>(self.octets.q.val()));
        self.outside.next = self.is_outside.q.val();
    }
}

#[cfg(test)]
mod tests {
    mod lookup;
    mod region;
}
