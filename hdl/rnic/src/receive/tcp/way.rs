//! One way of the connection lookup: 512 slots, one of which is read and compared.
//!
//! ```text
//! slot --> [ RAM ] --> 18 compares of 16 bits, one of the family --> [ AND ] --> hit, connection
//!  cycle 0   1, 2                     3                                 4
//! ```
//!
//! | latency    | 4 cycles, `slot` to `hit`; `key` and `ipv6` come 2 cycles after `slot`    |
//! | throughput | one slot per cycle                                                        |
//! | units      | `key` is an octet string, octet 0 in bits 7:0                             |
//!
//! A slot must not be written in the cycle in which it is read.
use super::hash::KEY_BITS;
use super::records::LookupEntry;
use crate::common::ram::SdpRam;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Pieces in which a key is compared, 16 bits each.
const PIECES: usize = KEY_BITS / 16;
/// The pieces, and the compare of everything else.
const COMPARES: usize = PIECES + 1;

/// One way: storage and compare.
#[derive(LogicBlock, Default)]
pub struct LookupWay {
    pub clock: Signal<In, Clock>,
    /// Stores `write_entry` at the end of the cycle.
    pub write: Signal<In, Bit>,
    /// The slot to write.
    pub write_slot: Signal<In, Bits<9>>,
    /// Its new content.
    pub write_entry: Signal<In, LookupEntry>,
    /// The slot to read.
    pub slot: Signal<In, Bits<9>>,
    /// The key looked for in the slot of two cycles ago.
    pub key: Signal<In, Bits<KEY_BITS>>,
    /// That key is IPv6.
    pub ipv6: Signal<In, Bit>,
    /// The key of two cycles ago is in its slot.
    pub hit: Signal<Out, Bit>,
    /// The connection of that slot.
    pub connection: Signal<Out, Bits<10>>,
    slots: SdpRam<LookupEntry, 9>,
    // Which pieces agree; the last bit: in use, and of the same family.
    agreement: DFF<Bits<COMPARES>>,
    compared_connection: DFF<Bits<10>>,
    all_agree: DFF<Bit>,
    hit_connection: DFF<Bits<10>>,
    stored: Signal<Local, Bits<KEY_BITS>>,
    wanted: Signal<Local, Bits<KEY_BITS>>,
    agreeing: Signal<Local, Bits<COMPARES>>,
}

impl Logic for LookupWay {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; agreement, compared_connection, all_agree, hit_connection);
        wire!(self => self.slots;
            clock, write as write_enable, write_slot as write_address, write_entry as write_data,
            slot as read_address);

        self.stored.next = self.slots.read_data.val().key;
        self.wanted.next = self.key.val();
        self.agreeing.next = 0.into();
        for i in 0..PIECES {
            self.agreeing.next = self.agreeing.val().replace_bit(
                i,
                self.stored.val().get_bits::<16>(i * 16)
                    == self.wanted.val().get_bits::<16>(i * 16),
            );
        }
        for i in PIECES..COMPARES {
            self.agreeing.next = self.agreeing.val().replace_bit(
                i,
                self.slots.read_data.val().valid
                    & (self.slots.read_data.val().ipv6 == self.ipv6.val()),
            );
        }
        self.agreement.d.next = self.agreeing.val();
        self.compared_connection.d.next = self.slots.read_data.val().connection;

        self.all_agree.d.next = self.agreement.q.val().all();
        self.hit_connection.d.next = self.compared_connection.q.val();
        self.hit.next = self.all_agree.q.val();
        self.connection.next = self.hit_connection.q.val();
    }
}
