//! Region check: may these octets of this stream be written into this memory region, and where?
//!
//! ```text
//!  region ---> [ region RAM, valid RAM ] ---> compare, subtract ---> compare ---> outside
//!                      cycle 0,1        entry      cycle 2      |     cycle 3
//!  stag_key, to, to_end, pd, connection ------------^           +--> unknown, foreign, rights,
//!                                                                    bus_address
//! ```
//!
//! | latency    | `region` to `entry`, `entry_valid`: 2 cycles; to `unknown`, `foreign`,     |
//! |            | `rights`, `bus_address`: 3 cycles; to `outside`: 4 cycles                  |
//! | throughput | one check per cycle                                                        |
//! | units      | `to`, `to_end`, base and length in octets; rights as in `rnic_abi::tables` |
//! | source     | RFC 5041 sections 7.1 (tagged), 8.2                                        |
//!
//! What is compared with an entry enters two cycles after `region`, together with the entry.
//! `outside` means something only if TO plus length does not exceed 2^64 - 1: the caller tests that
//! wrap. A region written in the cycle in which it is read is undefined: writers restart readers.
// LogicStruct derives accessors without documentation.
use crate::common::ram::SdpRam;
use rnic_abi::tables::RIGHT_STREAM_BOUND;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// A memory region, without its valid bit (which lives beside it, so that it alone can be cleared).
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

/// Region memory and the check against it.
#[derive(LogicBlock, Init)]
pub struct RegionCheck {
    pub clock: Signal<In, Clock>,
    /// Cycle 0: region to look at.
    pub region: Signal<In, Bits<10>>,
    /// Cycle 2: the STag lookup found the region.
    pub found: Signal<In, Bit>,
    /// Cycle 2: low octet of the STag.
    pub stag_key: Signal<In, Bits<8>>,
    /// Cycle 2: Tagged Offset of the first octet.
    pub to: Signal<In, Bits<64>>,
    /// Cycle 2: Tagged Offset after the last octet, modulo 2^64.
    pub to_end: Signal<In, Bits<64>>,
    /// Cycle 2: Protection Domain of the stream.
    pub pd: Signal<In, Bits<16>>,
    /// Cycle 2: connection of the stream.
    pub connection: Signal<In, Bits<10>>,
    /// Cycle 2: the region as stored.
    pub entry: Signal<Out, RegionEntry>,
    /// Cycle 2: its valid bit.
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
    /// High for each cycle in which `write_entry` and `write_valid` are stored.
    pub write: Signal<In, Bit>,
    /// Region to write.
    pub write_region: Signal<In, Bits<10>>,
    /// What to store.
    pub write_entry: Signal<In, RegionEntry>,
    /// Whether the region is then valid.
    pub write_valid: Signal<In, Bit>,
    /// High for each cycle in which a region's valid bit is cleared; never together with `write`.
    pub invalidate: Signal<In, Bit>,
    /// Region to invalidate.
    pub invalidate_region: Signal<In, Bits<10>>,
    entries: SdpRam<RegionEntry, 10>,
    valids: SdpRam<Bit, 10>,
    is_unknown: DFF<Bit>,
    pd_differs: DFF<Bit>,
    connection_differs: DFF<Bit>,
    held_rights: DFF<Bits<5>>,
    address: DFF<Bits<64>>,
    is_below: DFF<Bit>,
    // Octets from the region's first one to the end of the segment, modulo 2^64.
    span: DFF<Bits<64>>,
    octets: DFF<Bits<48>>,
    is_outside: DFF<Bit>,
    bound: Signal<Local, Bits<5>>,
    #[constant(LiteralType::from(RIGHT_STREAM_BOUND))]
    stream_bound: Constant<Bits<5>>,
}

impl Logic for RegionCheck {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; is_unknown, pd_differs, connection_differs, held_rights);
        registers!(clock; address, is_below, span, octets, is_outside);
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
mod tests;
