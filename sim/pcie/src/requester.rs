//! The requesting side of a function: cuts transfers into requests, hands out tags, and puts
//! the completions together again.
//!
//! ```text
//!   read(address, octets) -> Token      +-> next_request() -> Tlp    (when a tag is free)
//!                                       |
//!   poll(token) -> octets, in order  <--+-- complete(Tlp)
//! ```
//!
//! Used by both ends of the link. Guarantee: a tag is not handed out again before its request
//! is complete. Source: PCI Express Base Specification 5.0, sections 2.2.6.2 and 2.3.2.

use std::collections::{BTreeMap, VecDeque};

use thiserror::Error;

use crate::limits::Limits;
use crate::split;
use crate::tlp::{Bdf, CompletionStatus, Kind, Tlp, DWORD_OCTETS};

/// Values of the eight-bit tag.
const TAG_VALUES: usize = 256;

/// Names a transfer until its result is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Token(u64);

/// Why a transfer failed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum TransferError {
    /// The completer refused.
    #[error("completed with status {0:?}")]
    Status(CompletionStatus),
    /// No result is kept under this token: it was taken before, or is another requester's.
    #[error("unknown token; a result can be taken once, from the side that asked")]
    UnknownToken,
    /// No completion came in time.
    #[error("no completion within {ticks} ticks")]
    TimedOut {
        /// The time allowed.
        ticks: u64,
    },
    /// The function may not ask: Bus Master Enable is clear.
    #[error("bus mastering is off; set Bus Master Enable in the Command register")]
    BusMasterDisabled,
    /// A configuration access that is not within one dword.
    #[error("configuration access at {register:#x} is not within one dword")]
    NotOneDword {
        /// The register offset asked for.
        register: u16,
    },
}

#[derive(Clone, Debug)]
struct Transfer {
    data: Vec<u8>,
    // Requests of this transfer that are not complete.
    open_requests: usize,
    failed: Option<CompletionStatus>,
    started: u64,
}

// A request, waiting for a tag or on its way: where its octets go.
#[derive(Clone, Debug)]
struct Part {
    token: Token,
    // Offset of the next octet in the transfer's data.
    offset: usize,
    // Octets still to come.
    owed: usize,
    // Octets in front of the first one in the next completion's payload.
    skipped: usize,
}

/// Requests, tags and transfers of one function.
#[derive(Clone, Debug)]
pub struct Requester {
    bdf: Bdf,
    limits: Limits,
    timeout_ticks: Option<u64>,
    tags: Vec<Option<Part>>,
    // Start of the search for a free tag, so that tags are used in turn.
    tag_next: usize,
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
            tags: vec![None; TAG_VALUES],
            tag_next: 0,
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

    /// Lets [`poll`](Self::poll) give up after `ticks`; `None` waits forever.
    pub fn set_timeout(&mut self, ticks: Option<u64>) {
        self.timeout_ticks = ticks;
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
    pub fn read(&mut self, now: u64, address: u64, octets: usize) -> Token {
        let token = self.begin(now, octets);
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
            let skipped = match piece.octets {
                0 => 0,
                _ => (piece.address % DWORD_OCTETS as u64) as usize,
            };
            let part = Part {
                token,
                offset: piece.offset,
                owed: piece.octets,
                skipped,
            };
            self.enqueue(part, tlp);
        }
        token
    }

    /// Begins a configuration read of the four octets at `register & !3`.
    pub fn read_configuration(&mut self, now: u64, target: Bdf, register: u16) -> Token {
        let token = self.begin(now, DWORD_OCTETS);
        let part = Part {
            token,
            offset: 0,
            owed: DWORD_OCTETS,
            skipped: 0,
        };
        self.enqueue(part, Tlp::configuration_read(self.bdf, 0, target, register));
        token
    }

    /// Begins a configuration write of up to four octets at `register`.
    ///
    /// # Errors
    /// The octets are not within one dword.
    pub fn write_configuration(
        &mut self,
        now: u64,
        target: Bdf,
        register: u16,
        data: &[u8],
    ) -> Result<Token, TransferError> {
        let tlp = Tlp::configuration_write(self.bdf, 0, target, register, data)
            .ok_or(TransferError::NotOneDword { register })?;
        let token = self.begin(now, 0);
        self.enqueue(
            Part {
                token,
                offset: 0,
                owed: 0,
                skipped: 0,
            },
            tlp,
        );
        Ok(token)
    }

    /// The next request, with its tag, if one waits and a tag is free.
    pub fn next_request(&mut self) -> Option<Tlp> {
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
        self.tags[tag] = Some(part);
        self.tag_next = (tag + 1) % count;
        Some(tlp)
    }

    /// Takes a completion; false if it answers none of this requester's requests.
    pub fn complete(&mut self, tlp: &Tlp) -> bool {
        let completion = match &tlp.header.kind {
            Kind::Cpl(completion) | Kind::CplD(completion) => completion,
            _ => return false,
        };
        if completion.requester != self.bdf {
            return false;
        }
        let Some(slot) = self.tags.get_mut(usize::from(completion.tag)) else {
            return false;
        };
        let Some(part) = slot else { return false };
        let payload = tlp.payload.get(part.skipped..).unwrap_or_default();
        let taken = payload.len().min(part.owed);
        let refused = completion.status != CompletionStatus::Successful;
        // A transfer that timed out is gone; its completions only free their tags.
        let transfer = self.transfers.get_mut(&part.token);
        if let Some(transfer) = transfer {
            if refused {
                transfer.failed = transfer.failed.or(Some(completion.status));
            } else {
                let place = &mut transfer.data[part.offset..part.offset + taken];
                place.copy_from_slice(&payload[..taken]);
            }
            if refused || taken == part.owed {
                transfer.open_requests -= 1;
            }
        }
        part.offset += taken;
        part.owed -= taken;
        part.skipped = 0;
        if refused || part.owed == 0 {
            *slot = None;
        }
        true
    }

    /// The result of a transfer: `None` while it is under way. A result is given once.
    ///
    /// # Errors
    /// The completer refused, the time ran out, or the token is unknown. The token is then
    /// used up.
    pub fn poll(&mut self, now: u64, token: Token) -> Result<Option<Vec<u8>>, TransferError> {
        let transfer = self
            .transfers
            .get(&token)
            .ok_or(TransferError::UnknownToken)?;
        if transfer.open_requests > 0 {
            let waited = now.saturating_sub(transfer.started);
            return match self.timeout_ticks {
                Some(ticks) if waited > ticks => {
                    self.transfers.remove(&token);
                    Err(TransferError::TimedOut { ticks })
                }
                _ => Ok(None),
            };
        }
        let transfer = self
            .transfers
            .remove(&token)
            .ok_or(TransferError::UnknownToken)?;
        match transfer.failed {
            Some(status) => Err(TransferError::Status(status)),
            None => Ok(Some(transfer.data)),
        }
    }

    /// Requests sent and not complete.
    pub fn outstanding_count(&self) -> usize {
        self.tags.iter().flatten().count()
    }

    /// Requests that wait for a tag.
    pub fn waiting_count(&self) -> usize {
        self.waiting.len()
    }

    fn begin(&mut self, now: u64, octets: usize) -> Token {
        let token = Token(self.token_next);
        self.token_next += 1;
        let data = vec![0; octets];
        let transfer = Transfer {
            data,
            open_requests: 0,
            failed: None,
            started: now,
        };
        self.transfers.insert(token, transfer);
        token
    }

    fn enqueue(&mut self, part: Part, tlp: Tlp) {
        if let Some(transfer) = self.transfers.get_mut(&part.token) {
            transfer.open_requests += 1;
        }
        self.waiting.push_back((part, tlp));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::completer::{complete_read, CompletionSplit};

    const DEVICE: Bdf = Bdf::new(1, 0, 0);

    fn answered(request: &Tlp, limits: &Limits) -> Vec<Tlp> {
        let data: Vec<u8> = (0..request.header.length.octets())
            .map(|at| at as u8)
            .collect();
        let boundary = limits.read_completion_boundary;
        let shape = CompletionSplit::AtEveryBoundary;
        complete_read(
            &request.header,
            &data,
            Bdf::default(),
            limits,
            boundary,
            shape,
        )
    }

    #[test]
    fn a_tag_waits_until_its_request_is_complete() {
        let limits = Limits {
            tag_count: 1,
            ..Limits::default()
        };
        let mut requester = Requester::new(DEVICE, limits);
        let first = requester.read(0, 0x1000, 200);
        let second = requester.read(0, 0x2000, 1);
        let request = requester.next_request().expect("the tag is free");
        assert_eq!(requester.next_request(), None);
        let completions = answered(&request, &limits);
        assert_eq!(completions.len(), 4);
        for completion in &completions {
            assert_eq!(requester.next_request(), None);
            assert_eq!(requester.poll(0, first), Ok(None));
            assert!(requester.complete(completion));
        }
        let expected: Vec<u8> = (0..200).collect();
        assert_eq!(requester.poll(0, first), Ok(Some(expected)));
        assert_eq!(requester.poll(0, first), Err(TransferError::UnknownToken));
        assert!(requester.next_request().is_some());
        assert_eq!(requester.poll(0, second), Ok(None));
    }

    #[test]
    fn completions_of_requests_that_overtake_each_other_end_in_their_places() {
        let limits = Limits::default();
        let mut requester = Requester::new(DEVICE, limits);
        let token = requester.read(0, 0xffe, 4);
        let requests = [requester.next_request(), requester.next_request()];
        let [low, high] = requests.map(|request| request.expect("cut at 4 KiB"));
        for request in [high, low] {
            for completion in answered(&request, &limits) {
                assert!(requester.complete(&completion));
            }
        }
        // Each dword is answered with octets 0, 1, 2, 3; the request uses 2, 3 and 0, 1.
        assert_eq!(requester.poll(0, token), Ok(Some(vec![2, 3, 0, 1])));
    }

    #[test]
    fn a_late_completion_only_frees_its_tag() {
        let limits = Limits {
            tag_count: 1,
            ..Limits::default()
        };
        let mut requester = Requester::new(DEVICE, limits);
        requester.set_timeout(Some(10));
        let token = requester.read(5, 0, 4);
        let request = requester.next_request().expect("the tag is free");
        assert_eq!(requester.poll(15, token), Ok(None));
        assert_eq!(
            requester.poll(16, token),
            Err(TransferError::TimedOut { ticks: 10 })
        );
        requester.read(16, 4, 4);
        assert_eq!(requester.next_request(), None);
        assert!(requester.complete(&answered(&request, &limits)[0]));
        assert!(requester.next_request().is_some());
    }

    #[test]
    fn a_foreign_completion_is_rejected() {
        let limits = Limits::default();
        let mut requester = Requester::new(DEVICE, limits);
        let request = Tlp::memory_read(DEVICE, 3, 0, 4).expect("short");
        assert!(!requester.complete(&answered(&request, &limits)[0]));
        assert!(!requester.complete(&request));
    }
}
