//! What a root complex does wrong on purpose to the reads that it answers.
//!
//! | fault                | the device sees                                     | its clause |
//! |----------------------|-----------------------------------------------------|------------|
//! | `NoCompletion`       | nothing, until its completion time-out              | 2.8        |
//! | `Poisoned`           | one completion with the poison bit (EP) set         | 2.7.2      |
//! | `UnsupportedRequest` | UR in place of one completion and those after it    | 2.3.1      |
//! | `CompleterAbort`     | CA in place of one completion and those after it    | 2.3.1      |
//! | `UnknownTag`         | a completion more, for a tag that is not in use     | 2.3.2      |
//! | `TooManyOctets`      | a dword more than it is owed in the last completion | 2.3.2      |
//! | `ByteCount`          | a Byte Count that is not what it is owed            | 2.3.2      |
//! | `Truncated`          | a completion a dword shorter than its Length        | 2.2.2      |
//! | `OtherFunction`      | before it a completion for another function         | 2.3.2      |
//! | `AliasedTag`         | before it one whose tag has another highest bit     | 2.3.2      |
//!
//! Which reads are hit is a list ([`Faults::inject`]), a percentage, or both. A fault is never
//! recorded as a violation: it is counted here.

use std::borrow::Borrow;
use std::collections::VecDeque;

use crate::choices::{Choice, Choices};
use crate::tlp::{Bdf, Completion, CompletionStatus, Kind, Length, Tlp, DWORD_OCTETS};

/// What is wrong with the answer of a read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// It is never answered.
    NoCompletion,
    /// One completion is poisoned.
    Poisoned,
    /// One completion is Unsupported Request, and the last.
    UnsupportedRequest,
    /// One completion is Completer Abort, and the last.
    CompleterAbort,
    /// Another completion follows, for a tag that is not in use.
    UnknownTag,
    /// The last completion carries a dword too many, within Max_Payload_Size.
    TooManyOctets,
    /// One completion's Byte Count is wrong.
    ByteCount,
    /// One completion carries a dword less than its Length says.
    Truncated,
    /// A completion more, with other octets, precedes one: its tag, of another function.
    OtherFunction,
    /// A completion more, with other octets, precedes one: its tag but for the highest bit. For
    /// devices with at most 128 tags.
    AliasedTag,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 10] = [
        Self::NoCompletion,
        Self::Poisoned,
        Self::UnsupportedRequest,
        Self::CompleterAbort,
        Self::UnknownTag,
        Self::TooManyOctets,
        Self::ByteCount,
        Self::Truncated,
        Self::OtherFunction,
        Self::AliasedTag,
    ];

    /// The read that has it still gets its octets: what is wrong answers nobody's request.
    pub fn is_harmless(self) -> bool {
        matches!(
            self,
            Self::UnknownTag | Self::OtherFunction | Self::AliasedTag
        )
    }
}

/// A packet on its way down, and what is wrong with it on purpose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Outgoing {
    pub tlp: Tlp,
    /// Set if the packet breaks a rule.
    pub fault: Option<Fault>,
}

impl Outgoing {
    /// A packet that breaks no rule.
    pub fn legal(tlp: Tlp) -> Self {
        Self { tlp, fault: None }
    }
}

impl Borrow<Tlp> for Outgoing {
    fn borrow(&self) -> &Tlp {
        &self.tlp
    }
}

/// The faults to come and those that were.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    queued: VecDeque<Fault>,
    percents: [u8; Fault::ALL.len()],
    counts: [u64; Fault::ALL.len()],
    after_spoiled: u64,
    reuse_ticks: u64,
}

impl Faults {
    /// Lets the next read that can have it have `fault`. Of several, one read takes the first.
    ///
    /// Every read can have every fault but [`Fault::TooManyOctets`], which needs room below
    /// Max_Payload_Size in the last completion.
    pub fn inject(&mut self, fault: Fault) {
        self.queued.push_back(fault);
    }

    /// Lets `percent` of 100 reads have `fault`, for reads without an injected one.
    pub fn set_percent(&mut self, fault: Fault, percent: u8) {
        self.percents[fault as usize] = percent;
    }

    /// Flags a device that uses the tag of an unanswered read again before `ticks` have passed:
    /// set it to the device's shortest time-out. From the beginning 0.
    pub fn set_reuse_ticks(&mut self, ticks: u64) {
        self.reuse_ticks = ticks;
    }

    /// Ticks for which the tag of an unanswered read is in use.
    pub fn reuse_ticks(&self) -> u64 {
        self.reuse_ticks
    }

    /// Faults injected and not yet met by a read.
    pub fn queued_count(&self) -> usize {
        self.queued.len()
    }

    /// Takes back the faults that were injected and not met by a read.
    pub fn withdraw(&mut self) {
        self.queued.clear();
    }

    /// Reads that have had `fault`.
    pub fn count(&self, fault: Fault) -> u64 {
        self.counts[fault as usize]
    }

    /// Completions that came after the spoiled one in answer to the last read with a fault.
    pub fn after_spoiled(&self) -> u64 {
        self.after_spoiled
    }

    /// These answer a read with a fault.
    pub(super) fn note(&mut self, outgoing: &VecDeque<Outgoing>) {
        let spoiled = outgoing.iter().rposition(|one| one.fault.is_some());
        let after = spoiled.map_or(0, |place| outgoing.len() - 1 - place);
        self.after_spoiled = after as u64;
    }

    /// The fault of a read that would be answered with `completions`, if it has one.
    pub(super) fn draw(
        &mut self,
        completions: &[Tlp],
        octets_max: usize,
        choices: &mut dyn Choices,
    ) -> Option<Fault> {
        let fits = |fault: &Fault| fits(*fault, completions, octets_max);
        let drawn = if self.queued.front().is_some_and(fits) {
            self.queued.pop_front()
        } else {
            let percents = self.percents;
            let mut hit = |fault: &Fault| {
                choices.percent(Choice::Fault, percents[*fault as usize]) && fits(fault)
            };
            Fault::ALL.into_iter().find(|fault| hit(fault))
        };
        if let Some(fault) = drawn {
            self.counts[fault as usize] += 1;
        }
        drawn
    }
}

fn fits(fault: Fault, completions: &[Tlp], octets_max: usize) -> bool {
    let Some(last) = completions.last() else {
        return false;
    };
    fault != Fault::TooManyOctets || last.payload.len() + DWORD_OCTETS <= octets_max
}

/// A completion like `tlp`, with other octets, that answers nobody's request.
fn stranger(tlp: &Tlp, mut completion: Completion, fault: Fault) -> Outgoing {
    let id = completion.requester.bits();
    match fault {
        Fault::OtherFunction => completion.requester = Bdf::from_bits(id ^ 1),
        _ => completion.tag ^= 1 << 7,
    }
    let mut tlp = tlp.clone();
    tlp.header.kind = Kind::CplD(completion);
    tlp.payload.iter_mut().for_each(|octet| *octet = !*octet);
    let fault = Some(fault);
    Outgoing { tlp, fault }
}

/// Makes `completions` of a read meet `fault`.
pub(super) fn spoil(
    completions: Vec<Tlp>,
    fault: Fault,
    choices: &mut dyn Choices,
) -> VecDeque<Outgoing> {
    let mut outgoing: VecDeque<Outgoing> = completions.into_iter().map(Outgoing::legal).collect();
    let count = outgoing.len();
    let place = match fault {
        Fault::NoCompletion => return VecDeque::new(),
        Fault::TooManyOctets | Fault::UnknownTag => count.saturating_sub(1),
        _ => choices.below(Choice::FaultPlace, count as u64) as usize,
    };
    let Some(chosen) = outgoing.get_mut(place) else {
        return outgoing;
    };
    let Kind::CplD(mut completion) = chosen.tlp.header.kind else {
        return outgoing;
    };
    match fault {
        Fault::NoCompletion => {}
        Fault::Poisoned => {
            chosen.tlp.header.traffic.poisoned = true;
            chosen.fault = Some(fault);
        }
        Fault::UnsupportedRequest | Fault::CompleterAbort => {
            completion.status = match fault {
                Fault::CompleterAbort => CompletionStatus::CompleterAbort,
                _ => CompletionStatus::UnsupportedRequest,
            };
            // Legal: "the final Completion" of its request (section 2.3.1.1).
            chosen.tlp.header.kind = Kind::Cpl(completion);
            chosen.tlp.header.length = Length::RESERVED;
            chosen.tlp.payload.clear();
            outgoing.truncate(place + 1);
        }
        Fault::UnknownTag => {
            // The tag is found when the packet leaves: until then any may come into use.
            let tlp = chosen.tlp.clone();
            let fault = Some(fault);
            outgoing.push_back(Outgoing { tlp, fault });
        }
        Fault::TooManyOctets => {
            let octets = chosen.tlp.payload.len() + DWORD_OCTETS;
            chosen.tlp.payload.resize(octets, 0xa5);
            let length = Length::from_dwords(octets / DWORD_OCTETS);
            chosen.tlp.header.length = length.unwrap_or(Length::RESERVED);
            chosen.fault = Some(fault);
        }
        Fault::Truncated => {
            let octets = chosen.tlp.payload.len().saturating_sub(DWORD_OCTETS);
            chosen.tlp.payload.truncate(octets);
            chosen.fault = Some(fault);
        }
        Fault::OtherFunction | Fault::AliasedTag => {
            let stranger = stranger(&chosen.tlp, completion, fault);
            outgoing.insert(place, stranger);
        }
        Fault::ByteCount => {
            completion.byte_count = match completion.byte_count {
                1..=4 => completion.byte_count + 4,
                more => more - 4,
            };
            chosen.tlp.header.kind = Kind::CplD(completion);
            chosen.fault = Some(fault);
        }
    }
    outgoing
}
