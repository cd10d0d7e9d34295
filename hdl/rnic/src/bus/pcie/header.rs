//! TLP headers: the two formats this device sends, and the block that makes a memory write's.
//!
//! ```text
//!            31 29 28  24 23                                10 9        0
//!   dword 0  Fmt   Type   TC, attributes, TD, EP, AT           Length
//!   dword 1  requester (31:16)   tag (15:8)   last BE (7:4)   first BE (3:0)
//!   dword 2  address, or its high half if Fmt says four doublewords
//!   dword 3  low half of the address, or nothing
//! ```
//!
//! A header is 128 bits, doubleword 0 in bits 31:0, each doubleword as its numeric value. What a
//! three-doubleword form does not have is zero.
//!
//! | source | PCI Express Base Specification, sections 2.2.1 to 2.2.9 |
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Fmt and Type of a memory write with three header doublewords (address below 4 GiB).
pub const MEMORY_WRITE_3: u64 = 0x40;
/// Fmt and Type of a memory write with four header doublewords.
pub const MEMORY_WRITE_4: u64 = 0x60;
/// Fmt and Type of a completion with data (`CplD`).
pub const COMPLETION_DATA: u64 = 0x4a;
/// Fmt and Type of a completion without data (`Cpl`).
pub const COMPLETION: u64 = 0x0a;
/// Fmt and Type of the completion without data of a locked read (`CplLk`).
pub const COMPLETION_LOCKED: u64 = 0x0b;
/// Completion status: successful.
pub const STATUS_SUCCESS: u64 = 0;
/// Completion status: unsupported request (UR).
pub const STATUS_UNSUPPORTED: u64 = 1;

/// Header of a memory write, first field in the low bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct MemoryHeader {
    /// Payload doublewords.
    pub length: Bits<10>,
    /// Address type, attributes, poisoned, digest, hints, traffic class: all zero.
    pub attributes: Bits<14>,
    /// Fmt and Type.
    pub format: Bits<8>,
    /// Octets of the first doubleword that count.
    pub first_be: Bits<4>,
    /// Octets of the last doubleword that count; 0 if there is only one.
    pub last_be: Bits<4>,
    /// Tag; posted requests need none.
    pub tag: Bits<8>,
    /// Requester id.
    pub requester: Bits<16>,
    /// Doubleword 2.
    pub dword_2: Bits<32>,
    /// Doubleword 3.
    pub dword_3: Bits<32>,
}

/// Header of a completion, first field in the low bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CompletionHeader {
    /// Payload doublewords; 0 (reserved) without payload.
    pub length: Bits<10>,
    /// Bits 23:10 of doubleword 0, of which traffic class and attributes come from the request.
    pub attributes: Bits<14>,
    /// Fmt and Type.
    pub format: Bits<8>,
    /// Octets still due, this completion included; 0 stands for 4096.
    pub byte_count: Bits<12>,
    /// Byte count modified: never.
    pub byte_count_modified: Bit,
    /// Completion status.
    pub status: Bits<3>,
    /// Completer id.
    pub completer: Bits<16>,
    /// Low bits of the address of the first octet returned.
    pub lower_address: Bits<7>,
    /// Always zero.
    pub reserved: Bit,
    /// Tag of the request.
    pub tag: Bits<8>,
    /// Requester id of the request.
    pub requester: Bits<16>,
    /// Doubleword 3: none.
    pub dword_3: Bits<32>,
}

/// Makes the header of a memory write. Combinational.
///
/// Three doublewords below 4 GiB, four above: a request that fits 32 bits must not use the long
/// form (section 2.2.4.1).
#[derive(LogicBlock, Init)]
pub struct WriteHeader {
    /// Bus address of the first doubleword; bits 1:0 are ignored.
    pub address: Signal<In, Bits<64>>,
    /// Payload doublewords.
    pub length: Signal<In, Bits<10>>,
    /// First byte enables.
    pub first_be: Signal<In, Bits<4>>,
    /// Last byte enables.
    pub last_be: Signal<In, Bits<4>>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    /// The header.
    pub header: Signal<Out, Bits<128>>,
    fields: Signal<Local, MemoryHeader>,
    high: Signal<Local, Bits<32>>,
    low: Signal<Local, Bits<32>>,
    #[constant(MEMORY_WRITE_3)]
    short_form: Constant<Bits<8>>,
    #[constant(MEMORY_WRITE_4)]
    long_form: Constant<Bits<8>>,
}

impl Logic for WriteHeader {
    #[kernel]
    fn update(&mut self) {
        self.high.next = self.address.val().get_bits::<32>(32);
        self.low.next = self
            .address
            .val()
            .get_bits::<32>(0)
            .replace_bit(0, false)
            .replace_bit(1, false);
        self.fields.next.length = self.length.val();
        self.fields.next.attributes = 0.into();
        self.fields.next.first_be = self.first_be.val();
        self.fields.next.last_be = self.last_be.val();
        self.fields.next.tag = 0.into();
        self.fields.next.requester = self.device_id.val();
        self.fields.next.format = self.short_form.val();
        self.fields.next.dword_2 = self.low.val();
        self.fields.next.dword_3 = 0.into();
        if self.high.val().any() {
            self.fields.next.format = self.long_form.val();
            self.fields.next.dword_2 = self.high.val();
            self.fields.next.dword_3 = self.low.val();
        }
        self.header.next = self.fields.val().into();
    }
}
