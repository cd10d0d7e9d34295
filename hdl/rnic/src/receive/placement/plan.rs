//! What the blocks of this room hand each other.
use rust_hdl::prelude::*;

/// Splitter to shaper: the octets of one TLP, or a command that writes nothing.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Segment {
    /// The command's last segment.
    pub closes: Bit,
    /// There is a TLP; otherwise the beats are only thrown away.
    pub writes: Bit,
    /// A completion queue entry or slot header follows the command.
    pub complete: Bit,
    /// The pages go back to the pool when the beats are taken.
    pub release_pages: Bit,
    /// First page.
    pub head_page: Bits<9>,
    /// Last page.
    pub tail_page: Bits<9>,
    /// Beats of the command that hold no payload and come last.
    pub drain: Bits<13>,
    /// Beats to take before the first beat of the TLP can be made, 0 to 2.
    pub primes: Bits<2>,
    /// Octets of the older beat in front of the TLP's lane 0, less one.
    pub rotation: Bits<6>,
    /// Bus address of octet 0 of the line, in units of 128 octets.
    pub line: Bits<57>,
    /// First octet of the TLP in its line.
    pub start_octet: Bits<9>,
    /// Last octet of the TLP in its line.
    pub end_octet: Bits<9>,
}

/// Shaper to mover: the beats of one TLP. The fields of the same name are those of [`Segment`].
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TlpPlan {
    /// See [`Segment`].
    pub closes: Bit,
    /// See [`Segment`].
    pub writes: Bit,
    /// See [`Segment`].
    pub complete: Bit,
    /// See [`Segment`].
    pub release_pages: Bit,
    /// See [`Segment`].
    pub head_page: Bits<9>,
    /// See [`Segment`].
    pub tail_page: Bits<9>,
    /// See [`Segment`].
    pub drain: Bits<13>,
    /// `drain` is 1.
    pub drain_one: Bit,
    /// See [`Segment`].
    pub primes: Bits<2>,
    /// See [`Segment`].
    pub rotation: Bits<6>,
    /// Beats of the TLP, less one.
    pub more_beats: Bits<5>,
    /// Lane of the last doubleword in the last beat.
    pub last_lane: Bits<4>,
    /// The last beat holds octets of the newer input beat.
    pub last_needs_next: Bit,
    /// Nothing follows the TLP's last beat: it is not the command's last, or `drain` is 0.
    pub ends_at_last: Bit,
    /// The first decision takes an input beat.
    pub needs_first: Bit,
    /// The first decision is the only one.
    pub ends_first: Bit,
    /// The TLP's first beat takes an input beat.
    pub needs_emit: Bit,
    /// Nothing follows the TLP's first beat.
    pub ends_emit: Bit,
    /// The TLP has one beat.
    pub single: Bit,
}

/// Beside each beat on its way out of the room.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct BeatSide {
    /// There is a beat; otherwise this only carries the marks below.
    pub present: Bit,
    /// The TLP ends.
    pub last: Bit,
    /// Lane of the last doubleword.
    pub last_lane: Bits<4>,
    /// What the command announces may follow now.
    pub complete: Bit,
    /// The command ends.
    pub closes: Bit,
}
