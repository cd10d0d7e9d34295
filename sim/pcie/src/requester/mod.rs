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
//! - `error`: why a transfer failed.
//!
//! Source: PCI Express Base Specification 5.0, sections 2.2.6.2, 2.3.2, 2.7.2 and 2.8.

mod error;
mod request;

use std::collections::{BTreeMap, VecDeque};

pub use error::{Mismatch, TransferError};
use request::{Progress, Request};

use crate::limits::Limits;
use crate::split;
use crate::tlp::{Bdf, Completion, CompletionStatus, Kind, Tlp, DWORD_OCTETS};

/// Values of the eight-bit tag.
const TAG_VALUES: usize = 256;

/// Names a transfer until its result is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Token(u64);

#[derive(Clone, Debug)]
struct Transfer {
    data: Vec<u8>,
    // Requests of this transfer that are not complete.
    open_requests: usize,
    failed: Option<TransferError>,
}

// A request that waits for a tag: where its octets go.
#[derive(Clone, Debug)]
struct Part {
    token: Token,
    // Offset of the next octet in the transfer's data.
    offset: usize,
}

// A tag in use.
#[derive(Clone, Debug)]
enum Tag {
    // Its request is on its way.
    Active {
        part: Part,
        request: Request,
        sent: u64,
    },
    // Its request failed, and completions of it may still come. Free from this tick on, or when
    // the last of them has come.
    Quarantined {
        until: Option<u64>,
    },
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
    timeout_ticks: Option<u64>,
    quarantine_ticks: Option<u64>,
    tags: Vec<Option<Tag>>,
    // Start of the search for a free tag, so that tags are used in turn.
    tag_next: usize,
    // No request times out and no quarantine ends before this tick.
    deadline: u64,
    waiting: VecDeque<(Part, Tlp)>,
    transfers: BTreeMap<Token, Transfer>,
    token_next: u64,
}

impl Requester {
    /// A requester under `bdf`.
    pub fn new(bdf: Bdf, limits: Limits) -> Self {
        Self {
            bdf,
            limits,
            timeout_ticks: None,
            quarantine_ticks: None,
            tags: vec![None; TAG_VALUES],
            tag_next: 0,
            deadline: u64::MAX,
            waiting: VecDeque::new(),
            transfers: BTreeMap::new(),
            token_next: 0,
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
        self.timeout_ticks = ticks;
        self.quarantine_ticks = ticks;
        // The requests on their way have another deadline now.
        self.deadline = 0;
    }

    /// Frees the tag of a failed request after `ticks` although its completions have not come;
    /// `None` never does. A completion later than that is taken for the tag's next request.
    pub fn set_quarantine(&mut self, ticks: Option<u64>) {
        self.quarantine_ticks = ticks;
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
        let token = self.begin(octets);
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
        let token = self.begin(DWORD_OCTETS);
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
        let token = self.begin(0);
        self.enqueue(token, 0, tlp);
        Ok(token)
    }

    /// The next request, with its tag, if one waits and a tag is free. Its time runs from `now`.
    pub fn next_request(&mut self, now: u64) -> Option<Tlp> {
        self.expire(now);
        // The rest of a transfer whose failure has been taken would be read for nobody.
        let unwanted = |(part, _): &(Part, Tlp)| !self.transfers.contains_key(&part.token);
        while self.waiting.front().is_some_and(unwanted) {
            self.waiting.pop_front();
        }
        let count = usize::from(self.limits.tag_count).clamp(1, TAG_VALUES);
        let free = |offset: &usize| self.tags[(self.tag_next + offset) % count].is_none();
        if self.waiting.is_empty() {
            return None;
        }
        let tag = (self.tag_next + (0..count).find(free)?) % count;
        let (part, mut tlp) = self.waiting.pop_front()?;
        match &mut tlp.header.kind {
            Kind::MRd(request) => request.tag = tag as u8,
            Kind::CfgRd0(request) | Kind::CfgWr0(request) => request.tag = tag as u8,
            _ => {}
        }
        let request = Request::new(&tlp.header)?;
        self.tags[tag] = Some(Tag::Active {
            part,
            request,
            sent: now,
        });
        self.deadline = self.deadline.min(self.deadline_of(tag).unwrap_or(u64::MAX));
        self.tag_next = (tag + 1) % count;
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
        let tag = usize::from(completion.tag);
        match self.tags.get_mut(tag) {
            Some(Some(Tag::Quarantined { .. })) => {
                if is_last(tlp, &completion) {
                    self.tags[tag] = None;
                }
                true
            }
            Some(Some(Tag::Active { .. })) => {
                self.take(now, tag, tlp, &completion, malformed);
                true
            }
            _ => false,
        }
    }

    /// Ends every transfer one of whose requests is not complete in time by `now`.
    ///
    /// Returns how many requests that were. [`next_request`](Self::next_request) and
    /// [`poll`](Self::poll) do it first.
    pub fn expire(&mut self, now: u64) -> usize {
        // Looking at each tag in each cycle would cost more than the rest of a tick.
        if now < self.deadline {
            return 0;
        }
        let mut expired = 0;
        for tag in 0..TAG_VALUES {
            let Some(deadline) = self.deadline_of(tag) else {
                continue;
            };
            if now < deadline {
                continue;
            }
            let token = match &self.tags[tag] {
                Some(Tag::Active { part, .. }) => Some(part.token),
                _ => None,
            };
            match (token, self.timeout_ticks) {
                (Some(token), Some(ticks)) => {
                    self.fail(token, TransferError::TimedOut { ticks });
                    self.quarantine(now, tag);
                    expired += 1;
                }
                _ => self.tags[tag] = None,
            }
        }
        let deadlines = (0..TAG_VALUES).filter_map(|tag| self.deadline_of(tag));
        self.deadline = deadlines.min().unwrap_or(u64::MAX);
        expired
    }

    /// Drops everything under way, as a reset of the link or the function does: each transfer that
    /// is not complete fails with [`TransferError::Reset`], and every tag is free.
    ///
    /// Tags go on in turn, so that one of before the reset is used again as late as possible.
    pub fn reset(&mut self) {
        for transfer in self.transfers.values_mut() {
            if transfer.open_requests > 0 {
                transfer.open_requests = 0;
                transfer.failed = transfer.failed.or(Some(TransferError::Reset));
            }
        }
        self.waiting.clear();
        self.tags.fill(None);
    }

    /// The result of a transfer: `None` while it is under way. It is given once.
    ///
    /// # Errors
    /// Why the transfer failed; of several reasons, the first. A time-out ends a transfer at once,
    /// everything else when its last request is complete.
    pub fn poll(&mut self, now: u64, token: Token) -> Result<Option<Vec<u8>>, TransferError> {
        self.expire(now);
        let transfer = self
            .transfers
            .get(&token)
            .ok_or(TransferError::UnknownToken)?;
        let timed_out = matches!(transfer.failed, Some(TransferError::TimedOut { .. }));
        if transfer.open_requests > 0 && !timed_out {
            return Ok(None);
        }
        let transfer = self
            .transfers
            .remove(&token)
            .ok_or(TransferError::UnknownToken)?;
        match transfer.failed {
            Some(error) => Err(error),
            None => Ok(Some(transfer.data)),
        }
    }

    /// Requests sent and not complete, those that failed and may still be completed included.
    pub fn outstanding_count(&self) -> usize {
        self.tags.iter().flatten().count()
    }

    /// The requests on their way, by rising tag; none that has timed out.
    pub fn outstanding(&self) -> impl Iterator<Item = OutstandingRequest> + '_ {
        let active = |(tag, state): (usize, &Option<Tag>)| match state {
            Some(Tag::Active {
                part,
                request,
                sent,
            }) => Some(OutstandingRequest {
                tag: tag as u8,
                token: part.token,
                sent: *sent,
                owed: request.owed(),
            }),
            _ => None,
        };
        self.tags.iter().enumerate().filter_map(active)
    }

    /// Requests that wait for a tag.
    pub fn waiting_count(&self) -> usize {
        self.waiting.len()
    }

    fn begin(&mut self, octets: usize) -> Token {
        let token = Token(self.token_next);
        self.token_next += 1;
        let data = vec![0; octets];
        let transfer = Transfer {
            data,
            open_requests: 0,
            failed: None,
        };
        self.transfers.insert(token, transfer);
        token
    }

    fn enqueue(&mut self, token: Token, offset: usize, tlp: Tlp) {
        if let Some(transfer) = self.transfers.get_mut(&token) {
            transfer.open_requests += 1;
        }
        self.waiting.push_back((Part { token, offset }, tlp));
    }

    // A completion for an active tag.
    fn take(&mut self, now: u64, tag: usize, tlp: &Tlp, completion: &Completion, malformed: bool) {
        let Some(Tag::Active { part, request, .. }) = &mut self.tags[tag] else {
            return;
        };
        let token = part.token;
        let (progress, octets) = request.take(tlp, completion);
        if let Some(transfer) = self.transfers.get_mut(&token) {
            // A zero-length read is answered with an octet that nobody asked for.
            let place = transfer.data.get_mut(part.offset..).unwrap_or_default();
            let kept = octets.len().min(place.len());
            place[..kept].copy_from_slice(&octets[..kept]);
            let usable = matches!(progress, Progress::More | Progress::Complete);
            let error = match usable {
                true if tlp.header.traffic.poisoned => Some(TransferError::Poisoned),
                true if malformed => Some(TransferError::Malformed),
                _ => None,
            };
            transfer.failed = transfer.failed.or(error);
        }
        part.offset += octets.len();
        match progress {
            Progress::More => {}
            Progress::Complete => {
                self.close(token);
                self.tags[tag] = None;
            }
            Progress::Ended(error) => {
                self.fail(token, error);
                self.tags[tag] = None;
            }
            Progress::Broken(mismatch) => {
                self.fail(token, TransferError::Mismatch(mismatch));
                if is_last(tlp, completion) {
                    self.tags[tag] = None;
                } else {
                    self.quarantine(now, tag);
                }
            }
        }
    }

    // The tick at which something happens to a tag without a completion.
    fn deadline_of(&self, tag: usize) -> Option<u64> {
        match self.tags[tag].as_ref()? {
            Tag::Active { sent, .. } => {
                Some(sent.saturating_add(self.timeout_ticks?).saturating_add(1))
            }
            Tag::Quarantined { until } => *until,
        }
    }

    // One of a transfer's requests is over.
    fn close(&mut self, token: Token) {
        if let Some(transfer) = self.transfers.get_mut(&token) {
            transfer.open_requests -= 1;
        }
    }

    fn fail(&mut self, token: Token, error: TransferError) {
        if let Some(transfer) = self.transfers.get_mut(&token) {
            transfer.failed = transfer.failed.or(Some(error));
        }
        self.close(token);
    }

    fn quarantine(&mut self, now: u64, tag: usize) {
        let until = self.quarantine_ticks.map(|ticks| now.saturating_add(ticks));
        self.tags[tag] = Some(Tag::Quarantined { until });
        self.deadline = self.deadline.min(until.unwrap_or(u64::MAX));
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
