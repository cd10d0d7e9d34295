//! Header of a completion for a BAR0 request. Combinational.
//!
//! | source | PCI Express Base Specification, sections 2.2.9, 2.3.1.1 |
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

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

/// Header of a completion, first field in the low bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CompletionHeader {
    /// Payload doublewords; 0 (reserved) without payload.
    pub length: Bits<10>,
    /// Bits 23:10 of doubleword 0, of which traffic class and attributes come from the request.
    pub attributes: Bits<14>,
    /// Fmt and Type.
    pub format: Bits<8>,
    /// Octets remaining, this completion included; 0 means 4096.
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

/// Bits 23:10 of doubleword 0 that a completion takes over: tag bits 9 and 8, traffic class,
/// attributes. Digest, poisoning, hints and address type are not.
const COPIED_ATTRIBUTES: LiteralType = 0x3f0c;

/// Forms the header of the next completion of a request, from the state of the request.
#[derive(LogicBlock, Init)]
pub struct CompletionFields {
    /// Completer id.
    pub device_id: Signal<In, Bits<16>>,
    /// Header of the request.
    pub request: Signal<In, Bits<128>>,
    /// The completion has data; without, its status is Unsupported Request.
    pub reads: Signal<In, Bit>,
    /// The request is a memory read, locked or not.
    pub memory_read: Signal<In, Bit>,
    /// The request is a locked read.
    pub locked: Signal<In, Bit>,
    /// Doublewords left of the request, those of this completion included.
    pub left: Signal<In, Bits<11>>,
    /// Doublewords of this completion.
    pub piece: Signal<In, Bits<11>>,
    /// Low bits of the address of its first doubleword.
    pub address: Signal<In, Bits<7>>,
    /// Octets that are disabled before the first one of this completion, and after the last one
    /// of the request.
    pub leading: Signal<In, Bits<2>>,
    pub trailing: Signal<In, Bits<2>>,
    pub header: Signal<Out, Bits<128>>,
    fields: Signal<Local, CompletionHeader>,
    attributes: Signal<Local, Bits<14>>,
    disabled: Signal<Local, Bits<13>>,
    due: Signal<Local, Bits<13>>,
    #[constant(COPIED_ATTRIBUTES)]
    attribute_mask: Constant<Bits<14>>,
    #[constant(4)]
    four: Constant<Bits<12>>,
    #[constant(COMPLETION_DATA)]
    format_data: Constant<Bits<8>>,
    #[constant(COMPLETION)]
    format_plain: Constant<Bits<8>>,
    #[constant(COMPLETION_LOCKED)]
    format_locked: Constant<Bits<8>>,
    #[constant(STATUS_SUCCESS)]
    success: Constant<Bits<3>>,
    #[constant(STATUS_UNSUPPORTED)]
    unsupported: Constant<Bits<3>>,
}

impl Logic for CompletionFields {
    #[kernel]
    fn update(&mut self) {
        self.fields.next.length = 0.into();
        self.attributes.next = self.request.val().get_bits::<14>(10);
        self.fields.next.attributes = self.attributes.val() & self.attribute_mask.val();
        self.fields.next.format = self.format_plain.val();
        self.fields.next.byte_count = self.four.val();
        self.fields.next.byte_count_modified = false;
        self.fields.next.status = self.unsupported.val();
        self.fields.next.completer = self.device_id.val();
        self.fields.next.lower_address = 0.into();
        self.fields.next.reserved = false;
        self.fields.next.tag = self.request.val().get_bits::<8>(40);
        self.fields.next.requester = self.request.val().get_bits::<16>(48);
        self.fields.next.dword_3 = 0.into();
        self.disabled.next =
            bit_cast::<13, 2>(self.leading.val()) + bit_cast::<13, 2>(self.trailing.val());
        self.due.next = (bit_cast::<13, 11>(self.left.val()) << 2) - self.disabled.val();
        if self.memory_read.val() {
            // Section 2.2.9: only memory reads have these; all others 4 and 0.
            self.fields.next.byte_count = self.due.val().get_bits::<12>(0);
            self.fields.next.lower_address =
                self.address.val() | bit_cast::<7, 2>(self.leading.val());
        }
        if self.locked.val() {
            self.fields.next.format = self.format_locked.val();
        }
        if self.reads.val() {
            self.fields.next.format = self.format_data.val();
            self.fields.next.status = self.success.val();
            self.fields.next.length = self.piece.val().get_bits::<10>(0);
        }
        self.header.next = self.fields.val().into();
    }
}
