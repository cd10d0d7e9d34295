//! What is due for a tag, and whether a completion is that.
//!
//! ```text
//! completion -----------+
//!                       +--> [ compare ] --> fits, reaches, advanced
//! what is due for it ---+
//! ```
//!
//! | latency | none: combinational, in stage 3 of [`super::CompletionCheck`]    |
//! | units   | doublewords and octets; `more_*` and `due_*` are counts less one |
//! | source  | PCI Express Base Specification, sections 2.2.9 and 2.3.1.1       |
//!
//! After the header of the same tag there are two answers to what is due: the check has a
//! [`DueCompare`] for each, and chooses between their results once it knows which one holds.
use crate::bus::pcie::completion::STATUS_SUCCESS;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Stage 2: a completion, and what is due for its tag. Counts are less one.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct DueCompletion {
    pub completion: Bit,
    pub with_data: Bit,
    pub poisoned: Bit,
    pub more_dwords: Bits<10>,
    pub more_octets: Bits<12>,
    pub status: Bits<3>,
    pub lower_address: Bits<7>,
    pub tag: Bits<6>,
    /// It is for one of our tags.
    pub ours: Bit,
    /// A completion for the tag is due, unless the one before was the last.
    pub owed: Bit,
    /// Where the next octet is due: a doubleword of the place, and the octet in it.
    pub dword: Bits<7>,
    pub octet: Bits<2>,
    /// Doublewords due, less one.
    pub due_dwords: Bits<7>,
    /// Octets due, less one.
    pub due_octets: Bits<9>,
    /// The beat before was the header of one for the same tag: if that moved it on, the next octet
    /// is due in this doubleword, with so many due.
    pub follows: Bit,
    pub behind_dword: Bits<7>,
    pub behind_dwords: Bits<7>,
    pub behind_octets: Bits<9>,
}

/// Compares a completion with what is due for its tag. Combinational.
#[derive(LogicBlock, Init)]
pub struct DueCompare {
    pub completion: Signal<In, DueCompletion>,
    /// Where the next octet is due, and what is due, less one: as in [`DueCompletion`].
    pub dword: Signal<In, Bits<7>>,
    pub octet: Signal<In, Bits<2>>,
    pub due_dwords: Signal<In, Bits<7>>,
    pub due_octets: Signal<In, Bits<9>>,
    /// It is what is due, and brings data.
    pub fits: Signal<Out, Bit>,
    /// It is long enough to be the last one.
    pub reaches: Signal<Out, Bit>,
    /// The doubleword after it.
    pub advanced: Signal<Out, Bits<7>>,
    more_dwords: Signal<Local, Bits<10>>,
    wide_dwords: Signal<Local, Bits<10>>,
    behind: Signal<Local, Bits<7>>,
    at_boundary: Signal<Local, Bits<4>>,
    lower_address: Signal<Local, Bits<7>>,
    is_long: Signal<Local, Bit>,
    #[constant(STATUS_SUCCESS)]
    success: Constant<Bits<3>>,
}

impl Logic for DueCompare {
    #[kernel]
    fn update(&mut self) {
        self.more_dwords.next = self.completion.val().more_dwords;
        self.wide_dwords.next = bit_cast::<10, 7>(self.due_dwords.val());
        self.behind.next = self.dword.val() + self.more_dwords.val().get_bits::<7>(0) + 1;
        self.at_boundary.next = self.behind.val().get_bits::<4>(0);
        self.lower_address.next = (self.dword.val() << 2) | bit_cast::<7, 2>(self.octet.val());
        self.is_long.next = self.more_dwords.val() >= self.wide_dwords.val();
        self.fits.next = self.completion.val().with_data
            & (self.completion.val().status == self.success.val())
            & (self.more_dwords.val() <= self.wide_dwords.val())
            & (self.is_long.val() | !self.at_boundary.val().any())
            & (self.completion.val().more_octets == bit_cast::<12, 9>(self.due_octets.val()))
            & (self.completion.val().lower_address == self.lower_address.val());
        self.reaches.next = self.is_long.val();
        self.advanced.next = self.behind.val();
    }
}
