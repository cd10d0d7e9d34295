//! What a request that hit BAR0 asks for. Combinational.
//!
//! | source | PCI Express Base Specification, sections 2.2.1, 2.2.5, 2.2.9, 2.3.1 |
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Classifies a request by its header.
#[derive(LogicBlock, Init)]
pub struct RequestKind {
    /// Header of the request; doubleword 0 in bits 31:0.
    pub header: Signal<In, Bits<128>>,
    /// A memory read that is answered with data.
    pub reads: Signal<Out, Bit>,
    /// A memory write that is carried out.
    pub writes: Signal<Out, Bit>,
    /// A request that is answered with Unsupported Request.
    pub refuses: Signal<Out, Bit>,
    /// A memory read of any kind: its answer has a byte count and a lower address.
    pub memory_read: Signal<Out, Bit>,
    /// A locked read: its answer has a type of its own.
    pub locked: Signal<Out, Bit>,
    /// Octet of BAR0, a multiple of 4.
    pub address: Signal<Out, Bits<12>>,
    /// Doublewords, 1..=1024.
    pub dwords: Signal<Out, Bits<11>>,
    /// Octets that are disabled before the first and after the last one asked for.
    pub leading: Signal<Out, Bits<2>>,
    pub trailing: Signal<Out, Bits<2>>,
    /// Octets enabled in the first doubleword, and in the last one if there is more than one.
    pub first_be: Signal<Out, Bits<4>>,
    pub last_be: Signal<Out, Bits<4>>,
    format: Signal<Local, Bits<8>>,
    kind: Signal<Local, Bits<5>>,
    kind_group: Signal<Local, Bits<2>>,
    completion_group: Signal<Local, Bits<4>>,
    length: Signal<Local, Bits<10>>,
    first: Signal<Local, Bits<4>>,
    outer: Signal<Local, Bits<4>>,
    is_memory: Signal<Local, Bit>,
    is_locked: Signal<Local, Bit>,
    with_data: Signal<Local, Bit>,
    has_prefix: Signal<Local, Bit>,
    unanswered: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<10>>,
    #[constant(1024)]
    most: Constant<Bits<11>>,
}

impl Logic for RequestKind {
    #[kernel]
    fn update(&mut self) {
        // Type 0 is memory, 1 the locked read, 10xxx a message, 0101x a completion; Fmt bit 2 a
        // prefix, bit 1 data, bit 0 the long address.
        self.format.next = self.header.val().get_bits::<8>(24);
        self.kind.next = self.header.val().get_bits::<5>(24);
        self.kind_group.next = self.header.val().get_bits::<2>(27);
        self.completion_group.next = self.header.val().get_bits::<4>(25);
        self.with_data.next = self.format.val().get_bit(6);
        self.has_prefix.next = self.format.val().get_bit(7);
        self.is_memory.next = self.kind.val() == 0;
        self.is_locked.next = (self.kind.val() == 1) & !self.with_data.val();
        self.unanswered.next = self.has_prefix.val()
            | (self.is_memory.val() & self.with_data.val())
            | (self.kind_group.val() == 2)
            | (self.completion_group.val() == 5);
        self.reads.next = self.is_memory.val() & !self.with_data.val() & !self.has_prefix.val();
        // Not of a poisoned packet (EP).
        self.writes.next = self.is_memory.val()
            & self.with_data.val()
            & !self.has_prefix.val()
            & !self.header.val().get_bit(14);
        self.refuses.next = !self.unanswered.val();
        self.memory_read.next =
            (self.is_memory.val() | self.is_locked.val()) & !self.with_data.val();
        self.locked.next = self.is_locked.val();

        self.address.next = bit_cast::<12, 10>(self.header.val().get_bits::<10>(66)) << 2;
        if self.format.val().get_bit(5) {
            self.address.next = bit_cast::<12, 10>(self.header.val().get_bits::<10>(98)) << 2;
        }
        self.length.next = self.header.val().get_bits::<10>(0);
        self.dwords.next = bit_cast::<11, 10>(self.length.val());
        if !self.length.val().any() {
            self.dwords.next = self.most.val();
        }

        self.first.next = self.header.val().get_bits::<4>(32);
        self.outer.next = self.header.val().get_bits::<4>(36);
        if self.length.val() == self.one.val() {
            self.outer.next = self.header.val().get_bits::<4>(32);
        }
        self.first_be.next = self.first.val();
        self.last_be.next = self.outer.val();
        self.leading.next = 0.into();
        if !self.first.val().get_bit(0) & self.first.val().any() {
            self.leading.next = 3.into();
            if self.first.val().get_bit(1) {
                self.leading.next = 1.into();
            } else if self.first.val().get_bit(2) {
                self.leading.next = 2.into();
            }
        }
        // No octet enabled counts as one (a zero-length read).
        self.trailing.next = 3.into();
        if self.outer.val().get_bit(3) {
            self.trailing.next = 0.into();
        } else if self.outer.val().get_bit(2) {
            self.trailing.next = 1.into();
        } else if self.outer.val().get_bit(1) {
            self.trailing.next = 2.into();
        }
    }
}
