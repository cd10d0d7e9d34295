//! Kept records: what of an FPDU's record stays in block RAM until it is replayed.
//!
//! ```text
//!  record --> [ wire octets ] --> [ RAM, 512 x 209 ] --> [ sequence_end ] --> read
//!                      place --------^        ^-------- read_place
//! ```
//!
//! | latency    | 3 cycles, `read_place` to `read`, which then holds while `read_place` does |
//! | throughput | one record written and one read per cycle                                  |
//! | units      | places, 0..512; see [`crate::messages::FpduRecord`]                        |
//! | size       | 6 block RAMs (ECP5)                                                        |
//!
//! Kept are the octets that MPA saw, where they stood, and how many they were on the wire; ULPDU
//! Length is in their first two. The rest of `read` is that of any `FPDU_DELIVER`, but for the
//! connection, which the replay knows.
// LogicStruct derives accessors without documentation.
use super::octet_order::OctetOrder;
use crate::common::ram::SdpRam;
use crate::messages::{FpduRecord, FPDU_DELIVER};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// A record in block RAM.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct KeptRecord {
    /// Sequence number of the FPDU's first octet.
    pub sequence: Bits<32>,
    /// Octets on the wire: ULPDU and all that MPA adds, 66,064 at most.
    pub wire_octets: Bits<17>,
    /// ULPDU_Length and DDP header, octet string.
    pub header: Bits<160>,
}

/// Block RAM of records.
#[derive(LogicBlock, Init)]
pub struct KeptRecords {
    pub clock: Signal<In, Clock>,
    /// High for each cycle in which `record` is stored.
    pub write: Signal<In, Bit>,
    /// Where.
    pub place: Signal<In, Bits<9>>,
    pub record: Signal<In, FpduRecord>,
    /// Place to read; not one that is being written.
    pub read_place: Signal<In, Bits<9>>,
    /// Three cycles later: the record there as an `FPDU_DELIVER`, connection 0.
    pub read: Signal<Out, FpduRecord>,
    memory: SdpRam<KeptRecord, 9>,
    order: OctetOrder<16>,
    sequence_end: DFF<Bits<32>>,
    fetched: Signal<Local, KeptRecord>,
    wire_octets: Signal<Local, Bits<32>>,
    written: Signal<Local, KeptRecord>,
    header: Signal<Local, Bits<160>>,
    #[constant(FPDU_DELIVER)]
    fpdu_deliver: Constant<Bits<3>>,
}

impl Logic for KeptRecords {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; sequence_end);
        self.memory.clock.next = self.clock.val();
        self.wire_octets.next = self.record.val().sequence_end - self.record.val().sequence;
        self.written.next.sequence = self.record.val().sequence;
        self.written.next.wire_octets = self.wire_octets.val().get_bits::<17>(0);
        self.written.next.header = self.record.val().header;
        wire!(self => self.memory;
            write as write_enable, place as write_address, written as write_data);

        // Two cycles after `read_place`; the memory's output is a register and holds still.
        self.memory.read_address.next = self.read_place.val();
        self.fetched.next = self.memory.read_data.val();
        self.sequence_end.d.next =
            self.fetched.val().sequence + bit_cast::<32, 17>(self.fetched.val().wire_octets);
        self.header.next = self.fetched.val().header;
        self.order.octets.next = self.header.val().get_bits::<16>(0);
        self.read.next.kind = self.fpdu_deliver.val();
        self.read.next.connection = 0.into();
        self.read.next.span = 0.into();
        self.read.next.unproven = false;
        self.read.next.sequence = self.fetched.val().sequence;
        self.read.next.sequence_end = self.sequence_end.q.val();
        self.read.next.ulpdu_length = self.order.number.val();
        self.read.next.header = self.header.val();
        self.read.next.beats = 0.into();
        self.read.next.head_page = 0.into();
        self.read.next.tail_page = 0.into();
    }
}
