//! Requests that are not complete, and what each completion makes of them.
//!
//! ```text
//!   request    --> open --> completions --> gone
//!                   |  lose()   --> lost: never answered; its tag is free from a tick on
//!                   +- reset()  --> stale: a completion for it comes from before the reset
//! ```
//!
//! Source: PCI Express Base Specification 5.0, sections 2.2.6.2, 2.2.9, 2.3.1.1 and 2.3.2.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::Direction;
use crate::limits::{Limits, ReadCompletionBoundary};
use crate::tlp::{Bdf, Completion, CompletionStatus, Header, Kind, Tlp, Traffic, DWORD_OCTETS};
use crate::Violation;

/// What a requester is still owed.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    traffic: Traffic,
    // Whether the request returns data.
    with_data: bool,
    // Whether it is a memory read, the only request with several completions.
    memory: bool,
    // Address of the next octet to return.
    next: u64,
    // Octets still owed: the Byte Count that the next completion must carry.
    owed: usize,
}

impl Outstanding {
    fn new(header: &Header) -> Option<Self> {
        let traffic = header.traffic;
        let configuration = Self {
            traffic,
            with_data: true,
            memory: false,
            next: 0,
            owed: 4,
        };
        match &header.kind {
            Kind::MRd(request) => Some(Self {
                memory: true,
                next: request
                    .address
                    .wrapping_add(request.enables.leading_octets() as u64),
                owed: request.enables.byte_count(header.length),
                ..configuration
            }),
            Kind::CfgRd0(_) => Some(configuration),
            Kind::CfgWr0(_) => Some(Self {
                with_data: false,
                ..configuration
            }),
            _ => None,
        }
    }
}

/// Which way a request went, who sent it, and its tag.
pub(super) type Key = (Direction, Bdf, u8);

/// The requests of one link.
#[derive(Clone, Debug, Default)]
pub(super) struct OutstandingTable {
    open: BTreeMap<Key, Outstanding>,
    // With the tick from which the tag may be used again.
    lost: BTreeMap<Key, u64>,
    stale: BTreeSet<Key>,
}

impl OutstandingTable {
    /// Follows one packet; adds the rules that it breaks to `found`.
    pub fn follow(
        &mut self,
        now: u64,
        direction: Direction,
        tlp: &Tlp,
        limits: &Limits,
        found: &mut Vec<Violation>,
    ) {
        match &tlp.header.kind {
            Kind::Cpl(completion) | Kind::CplD(completion) => {
                let key = (direction.reverse(), completion.requester, completion.tag);
                let Some(mut request) = self.open.remove(&key) else {
                    let tag = completion.tag;
                    found.push(match self.stale.contains(&key) {
                        true => Violation::CompletionAfterReset { tag },
                        false => Violation::CompletionUnexpected { tag },
                    });
                    return;
                };
                let boundary = match direction {
                    Direction::Downstream => limits.read_completion_boundary,
                    Direction::Upstream => ReadCompletionBoundary::Octets128,
                };
                if follow_completion(tlp, completion, &mut request, boundary, found) {
                    self.open.insert(key, request);
                }
            }
            _ => {
                let Some((requester, tag)) = tlp.header.expects_completion() else {
                    return;
                };
                if let Some(request) = Outstanding::new(&tlp.header) {
                    self.open_request(now, (direction, requester, tag), request, found);
                }
            }
        }
    }

    fn open_request(
        &mut self,
        now: u64,
        key: Key,
        request: Outstanding,
        found: &mut Vec<Violation>,
    ) {
        // The earlier request keeps the tag: its completions are on their way, or its requester
        // must still wait for them.
        let waits = self.lost.get(&key).is_some_and(|from| now < *from);
        if waits || self.open.contains_key(&key) {
            found.push(Violation::TagReused { tag: key.2 });
            return;
        }
        self.lost.remove(&key);
        self.stale.remove(&key);
        self.open.insert(key, request);
    }

    /// Takes an open request for one that will never be answered.
    pub fn lose(&mut self, key: Key, reusable_from: u64) {
        if self.open.remove(&key).is_some() {
            self.lost.insert(key, reusable_from);
        }
    }

    /// Whether a request is open, or lost and its tag not used again.
    pub fn is_in_use(&self, key: Key) -> bool {
        self.open.contains_key(&key) || self.lost.contains_key(&key)
    }

    /// Open requests sent in `direction`.
    pub fn count(&self, direction: Direction) -> usize {
        self.open.keys().filter(|key| key.0 == direction).count()
    }

    /// Takes every open request out: direction, tag and octets owed.
    pub fn take_open(&mut self) -> Vec<(Direction, u8, usize)> {
        let open = std::mem::take(&mut self.open);
        let named =
            |(&(direction, _, tag), request): (&Key, &Outstanding)| (direction, tag, request.owed);
        open.iter().map(named).collect()
    }

    /// From now on, what is open or lost is from before the reset.
    pub fn reset(&mut self) {
        let open = std::mem::take(&mut self.open);
        let lost = std::mem::take(&mut self.lost);
        self.stale.extend(open.into_keys().chain(lost.into_keys()));
    }
}

/// Checks a completion against the octets owed; true if more are due.
fn follow_completion(
    tlp: &Tlp,
    completion: &Completion,
    request: &mut Outstanding,
    boundary: ReadCompletionBoundary,
    found: &mut Vec<Violation>,
) -> bool {
    let header = &tlp.header;
    if !header.traffic.matches(request.traffic) {
        found.push(Violation::CompletionTraffic);
    }
    let expected = request.owed;
    if usize::from(completion.byte_count) != expected {
        let found_count = completion.byte_count.into();
        found.push(Violation::CompletionByteCount {
            expected,
            found: found_count,
        });
    }
    let status = completion.status;
    let with_data = matches!(header.kind, Kind::CplD(_));
    // Any status but success ends the request (section 2.3.2).
    if status != CompletionStatus::Successful || !request.with_data {
        if with_data {
            found.push(Violation::CompletionDataUnexpected { status });
        }
        return false;
    }
    if !with_data {
        found.push(Violation::CompletionDataMissing);
        return false;
    }
    let lower = (request.next & 0x7f) as u8;
    if completion.lower_address != lower {
        let found_lower = completion.lower_address;
        found.push(Violation::CompletionLowerAddress {
            expected: lower,
            found: found_lower,
        });
    }
    let skipped = (request.next % DWORD_OCTETS as u64) as usize;
    let expected_dwords = (skipped + request.owed).div_ceil(DWORD_OCTETS);
    let dwords = header.length.dwords();
    if dwords > expected_dwords {
        found.push(Violation::CompletionTooLong {
            dwords,
            expected_dwords,
        });
    }
    if dwords >= expected_dwords || !request.memory {
        return false;
    }
    let octets = dwords * DWORD_OCTETS - skipped;
    request.next = request.next.wrapping_add(octets as u64);
    request.owed -= octets;
    if request.next % boundary.octets() as u64 != 0 {
        let (end, boundary_octets) = (request.next, boundary.octets());
        found.push(Violation::CompletionUnaligned {
            end,
            boundary_octets,
        });
    }
    true
}
