//! A record of a simulation: what passed the core's ports, each with its cycle.
//!
//! Only what a timeline of a run needs is kept: frame ends, TLPs without their payload, trace
//! events, and changes of the free pages. A simulation records nothing unless it is asked to.

use pcie_sim::Kind;
use rnic_abi::events::{FpduTrace, SegmentTrace};

/// Format and type of a memory write, in bits 30:24 of a header's first doubleword, without the bit
/// that says whether the header has four doublewords.
const MEMORY_WRITE: u32 = 0x40;
/// The same of a memory read.
const MEMORY_READ: u32 = 0x00;
/// The same of a completion with data.
const COMPLETION_WITH_DATA: u32 = 0x4a;
/// Bits of format and type that name the kind.
const KIND_MASK: u32 = 0x5f;

/// What kind of packet a TLP is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlpKind {
    /// Memory write.
    Write,
    /// Memory read.
    Read,
    /// Completion with data.
    Completion,
    /// Any other.
    Other,
}

impl TlpKind {
    /// Kind of a packet with `first` as its header's first doubleword.
    pub(crate) fn of_header(first: u32) -> Self {
        match first >> 24 & KIND_MASK {
            MEMORY_WRITE => Self::Write,
            MEMORY_READ => Self::Read,
            COMPLETION_WITH_DATA => Self::Completion,
            _ => Self::Other,
        }
    }

    /// Kind of a packet of the root complex.
    pub(crate) fn of(kind: &Kind) -> Self {
        match kind {
            Kind::MWr(_) => Self::Write,
            Kind::MRd(_) => Self::Read,
            Kind::CplD(_) => Self::Completion,
            _ => Self::Other,
        }
    }
}

/// One thing that passed the core's ports.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The last beat of a frame entered.
    FrameEnd,
    /// The core reported what became of a segment.
    Segment(SegmentTrace),
    /// The core reported what became of an FPDU.
    Fpdu(FpduTrace),
    /// The last beat of a TLP from the core was taken.
    FromDevice {
        /// Kind.
        kind: TlpKind,
        /// Bus address of a memory request; of no meaning else.
        address: u64,
        /// Payload octets, in whole doublewords.
        octets: usize,
    },
    /// A TLP was offered to the core.
    ToDevice {
        /// Kind.
        kind: TlpKind,
        /// Payload octets.
        octets: usize,
    },
    /// So many pages of packet memory are free from this cycle on.
    FreePages(u32),
}

/// Events in the order of their cycles.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Cycle and event.
    pub events: Vec<(u64, Event)>,
    free_pages: Option<u32>,
}

impl Record {
    pub(crate) fn push(&mut self, cycle: u64, event: Event) {
        self.events.push((cycle, event));
    }

    pub(crate) fn note_free_pages(&mut self, cycle: u64, pages: u32) {
        if self.free_pages != Some(pages) {
            self.free_pages = Some(pages);
            self.push(cycle, Event::FreePages(pages));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_three_and_four_doublewords_name_the_same_kind() {
        for (first, kind) in [
            (0x4000_0001, TlpKind::Write),
            (0x6000_0001, TlpKind::Write),
            (0x0000_0001, TlpKind::Read),
            (0x2000_0001, TlpKind::Read),
            (0x4a00_0001, TlpKind::Completion),
            (0x0a00_0000, TlpKind::Other),
            (0x7400_0000, TlpKind::Other),
        ] {
            assert_eq!(TlpKind::of_header(first), kind, "{first:#010x}");
        }
    }

    #[test]
    fn only_changes_of_the_free_pages_are_kept() {
        let mut record = Record::default();
        for (cycle, pages) in [(0, 512), (1, 512), (2, 511), (3, 511), (4, 512)] {
            record.note_free_pages(cycle, pages);
        }
        let kept = [(0, 512), (2, 511), (4, 512)];
        let kept = kept.map(|(cycle, pages)| (cycle, Event::FreePages(pages)));
        assert_eq!(record.events, kept);
    }
}
