//! One request on its way: what it is owed, and what each completion makes of it.
//!
//! ```text
//!   take(completion) --> More                       further completions are due
//!                    --> Complete                   all octets are there
//!                    --> Ended(error)               this was the last completion, and it failed
//!                    --> Broken(Mismatch)           more may come; none of it can be used
//! ```
//!
//! Source: PCI Express Base Specification 5.0, sections 2.2.9 and 2.3.2.

use super::error::{Mismatch, TransferError};
use crate::tlp::{Completion, CompletionStatus, Header, Kind, Tlp, DWORD_OCTETS};

/// What a completion did to its request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// More completions are due.
    More,
    /// Every octet is there.
    Complete,
    /// The completer refused; nothing more is due.
    Ended(TransferError),
    /// It does not fit; whether more is due is for the completer to know.
    Broken(Mismatch),
}

/// What the completions of one request must say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    // Whether it is a memory read, whose completions have an address.
    memory: bool,
    // Whether data come back.
    with_data: bool,
    // Address of the next octet.
    next: u64,
    // Byte Count that the next completion must carry.
    owed: usize,
}

impl Request {
    /// From the request's header; `None` if it is not answered.
    pub fn new(header: &Header) -> Option<Self> {
        header.expects_completion()?;
        // Byte Count is 4 for all but memory reads (section 2.2.9).
        let plain = Self {
            memory: false,
            with_data: !header.fmt().with_data(),
            next: 0,
            owed: DWORD_OCTETS,
        };
        Some(match &header.kind {
            Kind::MRd(read) => Self {
                memory: true,
                next: read
                    .address
                    .wrapping_add(read.enables.leading_octets() as u64),
                owed: read.enables.byte_count(header.length),
                ..plain
            },
            _ => plain,
        })
    }

    /// Octets still owed.
    pub fn owed(&self) -> usize {
        self.owed
    }

    /// Checks a completion, counts what it brings, and says which octets of its payload these are.
    pub fn take<'a>(&mut self, tlp: &'a Tlp, completion: &Completion) -> (Progress, &'a [u8]) {
        let with_data = matches!(tlp.header.kind, Kind::CplD(_));
        if completion.status != CompletionStatus::Successful {
            return (
                Progress::Ended(TransferError::Status(completion.status)),
                &[],
            );
        }
        if let Err(mismatch) = self.check(tlp, completion, with_data) {
            return (Progress::Broken(mismatch), &[]);
        }
        if !with_data {
            return (Progress::Complete, &[]);
        }
        let skipped = self.skipped();
        let taken = (tlp.payload.len() - skipped).min(self.owed);
        self.next = self.next.wrapping_add(taken as u64);
        self.owed -= taken;
        let progress = match self.owed {
            0 => Progress::Complete,
            _ => Progress::More,
        };
        (progress, &tlp.payload[skipped..skipped + taken])
    }

    // Octets of the first dword that come before the next octet owed.
    fn skipped(&self) -> usize {
        (self.next % DWORD_OCTETS as u64) as usize
    }

    fn check(&self, tlp: &Tlp, completion: &Completion, with_data: bool) -> Result<(), Mismatch> {
        let (owed, found) = (self.owed, completion.byte_count.into());
        if owed != found {
            return Err(Mismatch::ByteCount { owed, found });
        }
        match (self.with_data, with_data) {
            (true, false) => return Err(Mismatch::DataMissing),
            (false, true) => return Err(Mismatch::DataUnexpected),
            (false, false) => return Ok(()),
            (true, true) => {}
        }
        let expected = (self.next & 0x7f) as u8;
        if self.memory && completion.lower_address != expected {
            let found = completion.lower_address;
            return Err(Mismatch::LowerAddress { expected, found });
        }
        let owed = (self.skipped() + self.owed).next_multiple_of(DWORD_OCTETS);
        let found = tlp.payload.len();
        match found {
            0..DWORD_OCTETS => Err(Mismatch::DataMissing),
            _ if found > owed => Err(Mismatch::TooLong { owed, found }),
            _ => Ok(()),
        }
    }
}
