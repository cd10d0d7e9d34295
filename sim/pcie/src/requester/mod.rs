//! The requesting side of a function: cuts transfers into requests, hands out tags, and puts
//! the completions together again.
//!
//! ```text
//!   read(address, octets) -> Token      +-> next_request(now) -> Tlp  (when a tag is free)
//!                                       |
//!   poll(now, token) -> octets      <---+-- complete(Tlp)
//!                                       +-- a time-out, a reset
//! ```
//!
//! Used by both ends of the link. Guarantees:
//!
//! - A tag is not handed out again while a completion for its last request may be on its way: a
//!   request that timed out keeps its tag until it is completed after all, or the quarantine ends.
//! - Whatever happens to a request ends its transfer with one [`TransferError`], and no other
//!   transfer. A failed transfer never gives octets.
//!
//! - `request`: what one request is owed.
//! - `tags`: which tags are free, and for how long the others are not.
//! - `transfer`: the octets of several requests, and their result.
//! - `error`: why a transfer failed.
//!
//! Source: PCI Express Base Specification 5.0, sections 2.2.6.2, 2.3.2, 2.7.2 and 2.8.

mod error;
mod request;
mod tags;
mod transfer;

use std::collections::VecDeque;

pub use error::{Mismatch, TransferError};
use request::{Progress, Request};
use tags::{Active, Tags, Use};
pub use transfer::Token;
use transfer::Transfers;

use crate::limits::Limits;
use crate::split;
use crate::tlp::{Bdf, Completion, CompletionStatus, Kind, Tlp, DWORD_OCTETS};

// A request that waits for a tag: where its octets go.
#[derive(Clone, Debug)]
struct Waiting {
    token: Token,
    // Offset of its first octet in the transfer's data.
    offset: usize,
    tlp: Tlp,
}

/// A request on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutstandingRequest {
    /// Its tag.
    pub tag: u8,
    /// The transfer that it is part of.
    pub token: Token,
    /// When it was handed out.
    pub sent: u64,
    /// Octets still owed, as Byte Count has them: 1 for a zero-length read.
    pub owed: usize,
}

/// Requests, tags and transfers of one function.
#[derive(Clone, Debug)]
pub struct Requester {
    bdf: Bdf,
    limits: Limits,
    tags: Tags,
    waiting: VecDeque<Waiting>,
    transfers: Transfers,
}

impl Requester {
    /// A requester under `bdf`.
    pub fn new(bdf: Bdf, limits: Limits) -> Self {
        Self {
            bdf,
            limits,
            tags: Tags::new(),
            waiting: VecDeque::new(),
            transfers: Transfers::default(),
        }
    }

    /// The id that requests carry.
    pub fn bdf(&self) -> Bdf {
        self.bdf
    }

    /// Changes the id for transfers to come.
    pub fn set_bdf(&mut self, bdf: Bdf) {
        self.bdf = bdf;
    }

    /// Changes payload and read sizes for transfers, and tags for requests, to come.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Gives up on a request that is not complete `ticks` after it was handed out; `None` waits
    /// forever. Its tag stays in quarantine for as long again, or as
    /// [`set_quarantine`](Self::set_quarantine) says afterwards.
    pub fn set_timeout(&mut self, ticks: Option<u64>) {
        self.tags.set_timeout(ticks);
    }

    /// Frees the tag of a failed request after `ticks` although its completions have not come;
    /// `None` never does. A completion later than that is taken for the tag's next request.
    pub fn set_quarantine(&mut self, ticks: Option<u64>) {
        self.tags.set_quarantine(ticks);
    }

    /// The writes, in address order, for `data` at `address`; none for no data.
    pub fn write<'a>(&self, address: u64, data: &'a [u8]) -> impl Iterator<Item = Tlp> + 'a {
        let bdf = self.bdf;
        split::requests(address, data.len(), self.limits.max_payload.octets()).filter_map(
            move |piece| {
                let part = &data[piece.offset..piece.offset + piece.octets];
                Tlp::memory_write(bdf, piece.address, part)
            },
        )
    }

    /// Begins a read of `octets` octets from `address`; zero octets make one zero-length read,
    /// which returns when every earlier write has been done.
    pub fn read(&mut self, address: u64, octets: usize) -> Token {
        let token = self.transfers.begin(octets);
        let octets_max = self.limits.max_read_request.octets();
        let empty = split::Piece {
            address,
            offset: 0,
            octets: 0,
        };
        let pieces = split::requests(address, octets, octets_max);
        for piece in pieces.chain((octets == 0).then_some(empty)) {
            let Some(tlp) = Tlp::memory_read(self.bdf, 0, piece.address, piece.octets) else {
                continue;
            };
            self.enqueue(token, piece.offset, tlp);
        }
        token
    }

    /// Begins a configuration read of the four octets at `register & !3`.
    pub fn read_configuration(&mut self, target: Bdf, register: u16) -> Token {
        let token = self.transfers.begin(DWORD_OCTETS);
        let tlp = Tlp::configuration_read(self.bdf, 0, target, register);
        self.enqueue(token, 0, tlp);
        token
    }

    /// Begins a configuration write of up to four octets at `register`.
    ///
    /// # Errors
    /// The octets are not within one dword.
    pub fn write_configuration(
        &mut self,
        target: Bdf,
        register: u16,
        data: &[u8],
    ) -> Result<Token, TransferError> {
        let tlp = Tlp::configuration_write(self.bdf, 0, target, register, data)
            .ok_or(TransferError::NotOneDword { register })?;
        let token = self.transfers.begin(0);
        self.enqueue(token, 0, tlp);
        Ok(token)
    }

    /// The next request, with its tag, if one waits and a tag is free. Its time runs from `now`.
    pub fn next_request(&mut self, now: u64) -> Option<Tlp> {
        self.expire(now);
        // The rest of a transfer whose failure has been taken would be read for nobody.
        let unwanted = |waiting: &Waiting| !self.transfers.contains(waiting.token);
        while self.waiting.front().is_some_and(unwanted) {
            self.waiting.pop_front();
        }
        if self.waiting.is_empty() {
            return None;
        }
        let tag = self.tags.find_free(self.limits.tag_count)?;
        let Waiting {
            token,
            offset,
            mut tlp,
        } = self.waiting.pop_front()?;
        match &mut tlp.header.kind {
            Kind::MRd(request) => request.tag = tag,
            Kind::CfgRd0(request) | Kind::CfgWr0(request) => request.tag = tag,
            _ => {}
        }
        let active = Active {
            token,
            offset,
            request: Request::new(&tlp.header)?,
            sent: now,
        };
        self.tags.activate(tag, active);
        Some(tlp)
    }

    /// Takes a completion; false if it answers none of this requester's requests, which makes it
    /// an unexpected one (section 2.3.2).
    pub fn complete(&mut self, now: u64, tlp: &Tlp) -> bool {
        self.receive(now, tlp, false)
    }

    /// As [`complete`](Self::complete), for a completion that breaks a rule: its transfer fails,
    /// with [`TransferError::Malformed`] unless there is a better name.
    pub fn complete_malformed(&mut self, now: u64, tlp: &Tlp) -> bool {
        self.receive(now, tlp, true)
    }

    fn receive(&mut self, now: u64, tlp: &Tlp, malformed: bool) -> bool {
        let completion = match &tlp.header.kind {
            Kind::Cpl(completion) | Kind::CplD(completion) => *completion,
            _ => return false,
        };
        if completion.requester != self.bdf {
            return false;
        }
        match self.tags.get_mut(completion.tag) {
            Use::Free => return false,
            Use::Quarantined => {
                if is_last(tlp, &completion) {
                    self.tags.free(completion.tag);
                }
            }
            Use::Active(active) => {
                let (token, offset) = (active.token, active.offset);
                let (progress, octets) = active.request.take(tlp, &completion);
                active.offset += octets.len();
                self.transfers.deliver(token, offset, octets);
                self.settle(now, token, tlp, &completion, progress, malformed);
            }
        }
        true
    }

    /// Ends every transfer one of whose requests is not complete in time by `now`.
    ///
    /// Returns how many requests that were. [`next_request`](Self::next_request) and
    /// [`poll`](Self::poll) do it first.
    pub fn expire(&mut self, now: u64) -> usize {
        let expired = self.tags.expire(now);
        for &(token, ticks) in &expired {
            self.fail(token, TransferError::TimedOut { ticks });
        }
        expired.len()
    }

    /// Drops everything under way, as a reset of the link or the function does: each transfer that
    /// is not complete fails with [`TransferError::Reset`], and every tag is free.
    ///
    /// Tags go on in turn, so that one from before the reset is used again as late as possible.
    pub fn reset(&mut self) {
        self.transfers.reset();
        self.waiting.clear();
        self.tags.reset();
    }

    /// The result of a transfer: `None` while it is under way. It is given once.
    ///
    /// # Errors
    /// Why the transfer failed; of several reasons, the first. A time-out ends a transfer at once,
    /// everything else when its last request is complete.
    pub fn poll(&mut self, now: u64, token: Token) -> Result<Option<Vec<u8>>, TransferError> {
        self.expire(now);
        self.transfers.take(token)
    }

    /// Requests sent and not complete, those that failed and may still be completed included.
    pub fn outstanding_count(&self) -> usize {
        self.tags.count()
    }

    /// The requests on their way, by rising tag; none that has timed out.
    pub fn outstanding(&self) -> impl Iterator<Item = OutstandingRequest> + '_ {
        self.tags.active().map(|(tag, active)| OutstandingRequest {
            tag,
            token: active.token,
            sent: active.sent,
            owed: active.request.owed(),
        })
    }

    /// Requests that wait for a tag.
    pub fn waiting_count(&self) -> usize {
        self.waiting.len()
    }

    fn enqueue(&mut self, token: Token, offset: usize, tlp: Tlp) {
        self.transfers.open(token);
        self.waiting.push_back(Waiting { token, offset, tlp });
    }

    // What a completion made of its request.
    fn settle(
        &mut self,
        now: u64,
        token: Token,
        tlp: &Tlp,
        completion: &Completion,
        progress: Progress,
        malformed: bool,
    ) {
        let usable = matches!(progress, Progress::More | Progress::Complete);
        if usable && tlp.header.traffic.poisoned {
            self.transfers.note(token, TransferError::Poisoned);
        } else if usable && malformed {
            self.transfers.note(token, TransferError::Malformed);
        }
        let is_over = match progress {
            Progress::More => return,
            Progress::Complete => {
                self.transfers.close(token);
                true
            }
            Progress::Ended(error) => {
                self.fail(token, error);
                true
            }
            Progress::Broken(mismatch) => {
                self.fail(token, TransferError::Mismatch(mismatch));
                is_last(tlp, completion)
            }
        };
        match is_over {
            true => self.tags.free(completion.tag),
            false => self.tags.quarantine(now, completion.tag),
        }
    }

    fn fail(&mut self, token: Token, error: TransferError) {
        self.transfers.note(token, error);
        self.transfers.close(token);
    }
}

/// Whether a completion is its request's last one by its own account.
fn is_last(tlp: &Tlp, completion: &Completion) -> bool {
    let skipped = usize::from(completion.lower_address) % DWORD_OCTETS;
    let octets = tlp.payload.len().saturating_sub(skipped);
    let refused = completion.status != CompletionStatus::Successful;
    refused || matches!(tlp.header.kind, Kind::Cpl(_)) || octets >= completion.byte_count.into()
}

#[cfg(test)]
mod tests;
