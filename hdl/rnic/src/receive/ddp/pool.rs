//! Receive buffers: from a queue and an MSN to a posted buffer, and the checks against its size.
//!
//! ```text
//!  queue --> [ queue RAM ] --> first + msn mod entries --> [ pool RAM ] --> compare --> mo_bad,
//!              cycle 0,1   ^ msn       cycle 2         |      cycle 3,4  ^ mo           too_long,
//!                          |                           +--> entry        | cycle 5      address
//! ```
//!
//! | latency    | `queue` to `is_open`, `entry`: 3 cycles; to `mo_bad`, `too_long`, `address`: 6 |
//! | throughput | one buffer per cycle                                                           |
//! | units      | offsets and sizes in octets; `queue` is `connection << 2 or qn`                |
//! | source     | RFC 5041 section 7.1 untagged (1), (3), (4); `rnic_abi::tables::QUEUE`         |
//!
//! `msn` enters two cycles after `queue`, the offsets five cycles after it. Whether the buffer is
//! posted is not decided here. An entry written in the cycle in which it is read is undefined:
//! writers restart readers.
// LogicStruct derives accessors without documentation.
use crate::common::ram::SdpRam;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// How a queue lies in the pool.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct QueueShape {
    /// First entry in the pool.
    pub first: Bits<11>,
    /// log2 of the queue's entries, 0..=11.
    pub entries_log2: Bits<4>,
    /// The queue is open.
    pub is_open: Bit,
}

/// A receive buffer.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Buffer {
    /// Bus address of its first octet.
    pub address: Bits<64>,
    /// Octets.
    pub octets: Bits<32>,
}

/// Queue shapes, the pool of buffers, and the offset checks.
#[derive(LogicBlock, Default)]
pub struct BufferPool {
    pub clock: Signal<In, Clock>,
    /// Cycle 0: queue.
    pub queue: Signal<In, Bits<12>>,
    /// Cycle 2: MSN whose buffer is meant.
    pub msn: Signal<In, Bits<32>>,
    /// Cycle 3: the queue is open.
    pub is_open: Signal<Out, Bit>,
    /// Cycle 3: pool entry of the buffer.
    pub entry: Signal<Out, Bits<11>>,
    /// Cycle 5: MO.
    pub mo: Signal<In, Bits<32>>,
    /// Cycle 5: MO plus payload.
    pub mo_end: Signal<In, Bits<33>>,
    /// Cycle 5: there is payload.
    pub has_payload: Signal<In, Bit>,
    /// Cycle 6: MO is not in the buffer (nor, without payload, at its end).
    pub mo_bad: Signal<Out, Bit>,
    /// Cycle 6: the payload ends beyond the buffer.
    pub too_long: Signal<Out, Bit>,
    /// Cycle 6: bus address of the octet at MO.
    pub address: Signal<Out, Bits<64>>,
    /// High for each cycle in which `shape` is stored.
    pub write_shape: Signal<In, Bit>,
    /// Queue to write.
    pub shape_queue: Signal<In, Bits<12>>,
    /// What to store.
    pub shape: Signal<In, QueueShape>,
    /// High for each cycle in which `buffer` is stored.
    pub write_buffer: Signal<In, Bit>,
    /// Pool entry to write.
    pub buffer_entry: Signal<In, Bits<11>>,
    /// What to store.
    pub buffer: Signal<In, Buffer>,
    shapes: SdpRam<QueueShape, 12>,
    buffers: SdpRam<Buffer, 11>,
    held_open: DFF<Bit>,
    held_entry: DFF<Bits<11>>,
    mo_at_end: DFF<Bit>,
    mo_beyond: DFF<Bit>,
    end_beyond: DFF<Bit>,
    with_payload: DFF<Bit>,
    held_address: DFF<Bits<64>>,
    msn_word: Signal<Local, Bits<32>>,
    msn_low: Signal<Local, Bits<11>>,
    entries_log2: Signal<Local, Bits<4>>,
    mask: Signal<Local, Bits<11>>,
    place: Signal<Local, Bits<11>>,
}

impl Logic for BufferPool {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held_open, held_entry, mo_at_end, mo_beyond);
        registers!(clock; end_beyond, with_payload, held_address);
        wire!(self => self.shapes;
            clock, queue as read_address, write_shape as write_enable, shape_queue as write_address,
            shape as write_data);

        // Cycle 2: entry first + (msn mod 2^entries_log2).
        self.entries_log2.next = self.shapes.read_data.val().entries_log2;
        match self.entries_log2.val().index() {
            0 => self.mask.next = 0x0.into(),
            1 => self.mask.next = 0x1.into(),
            2 => self.mask.next = 0x3.into(),
            3 => self.mask.next = 0x7.into(),
            4 => self.mask.next = 0xf.into(),
            5 => self.mask.next = 0x1f.into(),
            6 => self.mask.next = 0x3f.into(),
            7 => self.mask.next = 0x7f.into(),
            8 => self.mask.next = 0xff.into(),
            9 => self.mask.next = 0x1ff.into(),
            10 => self.mask.next = 0x3ff.into(),
            _ => self.mask.next = 0x7ff.into(),
        }
        self.msn_word.next = self.msn.val();
        self.msn_low.next = self.msn_word.val().get_bits::<11>(0);
        self.place.next = self.msn_low.val() & self.mask.val();
        self.held_entry.d.next = self.shapes.read_data.val().first + self.place.val();
        self.held_open.d.next = self.shapes.read_data.val().is_open;
        self.is_open.next = self.held_open.q.val();
        self.entry.next = self.held_entry.q.val();

        self.buffers.clock.next = self.clock.val();
        self.buffers.read_address.next = self.held_entry.q.val();
        wire!(self => self.buffers;
            write_buffer as write_enable, buffer_entry as write_address, buffer as write_data);

        // Cycle 5. RFC 5041 7.1: MO lies in the buffer, and so does the last octet. Without
        // payload MO may stand at the buffer's end.
        self.mo_at_end.d.next = self.mo.val() == self.buffers.read_data.val().octets;
        self.mo_beyond.d.next = self.mo.val() > self.buffers.read_data.val().octets;
        self.end_beyond.d.next =
            self.mo_end.val() > bit_cast::<33, 32>(self.buffers.read_data.val().octets);
        self.with_payload.d.next = self.has_payload.val();
        self.held_address.d.next =
            self.buffers.read_data.val().address + bit_cast::<64, 32>(self.mo.val());

        self.mo_bad.next =
            self.mo_beyond.q.val() | (self.mo_at_end.q.val() & self.with_payload.q.val());
        self.too_long.next = self.end_beyond.q.val();
        self.address.next = self.held_address.q.val();
    }
}

#[cfg(test)]
mod tests;
