//! Watches one link in both directions and names every broken rule.
//!
//! ```text
//!   Tlp, now, Direction --> check (one packet) --+
//!                       --> outstanding requests +--> Record { now, direction, tlp, violation }
//! ```
//!
//! Nothing panics, whatever is observed. A packet that breaks several rules leaves as many
//! records. Records are kept up to a capacity; the count continues.
//! Source: PCI Express Base Specification 5.0, sections 2.2, 2.3.1.1 and 2.3.2.

use std::collections::btree_map::{BTreeMap, Entry};

use thiserror::Error;

use crate::check::{check, Direction};
use crate::limits::{Limits, ReadCompletionBoundary};
use crate::tlp::{Bdf, Completion, CompletionStatus, Header, Kind, Tlp, Traffic, DWORD_OCTETS};
use crate::Violation;

/// Records kept unless [`Monitor::set_capacity`] says otherwise.
pub const RECORD_CAPACITY_DEFAULT: usize = 4096;

/// A broken rule, when it was seen, and the packet that broke it.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("tick {now}, {direction:?}: {violation}")]
pub struct Record {
    /// The caller's time.
    pub now: u64,
    /// Which way the packet went.
    pub direction: Direction,
    /// The rule.
    pub violation: Violation,
    /// The packet; `None` if its header does not parse.
    pub tlp: Option<Tlp>,
}

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

type Key = (Direction, Bdf, u8);

/// The monitor of one link.
///
/// ```
/// use pcie_sim::{Bdf, Direction, Limits, Monitor, Tlp, Violation};
///
/// let mut monitor = Monitor::new(Limits::default());
/// let write = Tlp::memory_write(Bdf::new(1, 0, 0), 0x0ffc, &[0; 8]).unwrap();
/// assert_eq!(monitor.observe(7, Direction::Upstream, &write), 1);
/// let record = &monitor.records()[0];
/// assert_eq!(record.violation, Violation::Crosses4Kib { address: 0x0ffc, octets: 8 });
/// assert_eq!(record.now, 7);
/// ```
#[derive(Clone, Debug)]
pub struct Monitor {
    limits: Limits,
    // Ids that may send upstream; any may while there is none.
    devices: Vec<Bdf>,
    outstanding: BTreeMap<Key, Outstanding>,
    records: Vec<Record>,
    capacity: usize,
    violation_count: u64,
    observed_count: u64,
}

impl Monitor {
    /// A monitor that holds both sides to `limits`.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            devices: Vec::new(),
            outstanding: BTreeMap::new(),
            records: Vec::new(),
            capacity: RECORD_CAPACITY_DEFAULT,
            violation_count: 0,
            observed_count: 0,
        }
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Changes the limits for packets to come.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Names an id that a device on this link has. From the first one named, every upstream
    /// packet sent under another is flagged, as an I/O memory management unit would refuse it.
    pub fn expect_device(&mut self, bdf: Bdf) {
        self.devices.push(bdf);
    }

    /// Keeps at most `records` records; later ones are only counted.
    pub fn set_capacity(&mut self, records: usize) {
        self.capacity = records;
    }

    /// Takes note of one packet; returns how many rules it breaks.
    pub fn observe(&mut self, now: u64, direction: Direction, tlp: &Tlp) -> usize {
        self.observed_count += 1;
        let mut found = Vec::new();
        check(tlp, direction, &self.limits, |violation| {
            found.push(violation)
        });
        let sender = tlp.header.sender();
        let restricted = direction == Direction::Upstream && !self.devices.is_empty();
        if restricted && !self.devices.contains(&sender) {
            found.push(Violation::SenderUnknown { sender });
        }
        self.follow(direction, tlp, &mut found);
        for violation in &found {
            self.record(now, direction, Some(tlp), *violation);
        }
        found.len()
    }

    /// Parses a header, reports reserved bits that are set, and observes the packet.
    ///
    /// Returns the packet if its header parses, and how many rules it breaks.
    pub fn observe_dwords(
        &mut self,
        now: u64,
        direction: Direction,
        header_dwords: &[u32],
        payload: Vec<u8>,
    ) -> (Option<Tlp>, usize) {
        let header = match Header::parse(header_dwords) {
            Ok(header) => header,
            Err(error) => {
                self.observed_count += 1;
                self.record(now, direction, None, error.into());
                return (None, 1);
            }
        };
        let tlp = Tlp { header, payload };
        let mut broken_count = 0;
        // Packing again drops what parsing ignored.
        if let Ok(packed) = header.pack() {
            for (dword, (given, kept)) in header_dwords.iter().zip(packed.iter()).enumerate() {
                let bits = given ^ kept;
                if bits != 0 {
                    let violation = Violation::ReservedBitsSet { dword, bits };
                    self.record(now, direction, Some(&tlp), violation);
                    broken_count += 1;
                }
            }
        }
        broken_count += self.observe(now, direction, &tlp);
        (Some(tlp), broken_count)
    }

    /// Adds a violation that only the caller can see, such as a write outside memory.
    pub fn record(
        &mut self,
        now: u64,
        direction: Direction,
        tlp: Option<&Tlp>,
        violation: Violation,
    ) {
        self.violation_count += 1;
        if self.records.len() < self.capacity {
            let tlp = tlp.cloned();
            self.records.push(Record {
                now,
                direction,
                violation,
                tlp,
            });
        }
    }

    /// Ends a run: records each request still outstanding, and drops it.
    ///
    /// Returns how many there were.
    pub fn finish(&mut self, now: u64) -> usize {
        let outstanding = std::mem::take(&mut self.outstanding);
        for (&(direction, _, tag), request) in &outstanding {
            let violation = Violation::RequestNotCompleted {
                tag,
                owed: request.owed,
            };
            self.record(now, direction, None, violation);
        }
        outstanding.len()
    }

    /// Every record kept, oldest first.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Takes the records out, oldest first.
    pub fn take_records(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    /// All violations seen, kept or not.
    pub fn violation_count(&self) -> u64 {
        self.violation_count
    }

    /// All packets seen.
    pub fn observed_count(&self) -> u64 {
        self.observed_count
    }

    /// Requests sent in `direction` that are not complete.
    pub fn outstanding_count(&self, direction: Direction) -> usize {
        self.outstanding
            .keys()
            .filter(|key| key.0 == direction)
            .count()
    }

    /// `Ok` if there was no violation, else the first record.
    ///
    /// # Errors
    /// The first record kept.
    pub fn verdict(&self) -> Result<(), &Record> {
        match self.records.first() {
            Some(record) => Err(record),
            None => Ok(()),
        }
    }

    fn follow(&mut self, direction: Direction, tlp: &Tlp, found: &mut Vec<Violation>) {
        match &tlp.header.kind {
            Kind::Cpl(completion) | Kind::CplD(completion) => {
                let key = (direction.reverse(), completion.requester, completion.tag);
                let Some(mut request) = self.outstanding.remove(&key) else {
                    found.push(Violation::CompletionUnexpected {
                        tag: completion.tag,
                    });
                    return;
                };
                let boundary = match direction {
                    Direction::Downstream => self.limits.read_completion_boundary,
                    Direction::Upstream => ReadCompletionBoundary::Octets128,
                };
                if follow_completion(tlp, completion, &mut request, boundary, found) {
                    self.outstanding.insert(key, request);
                }
            }
            _ => {
                let Some((requester, tag)) = tlp.header.expects_completion() else {
                    return;
                };
                let Some(request) = Outstanding::new(&tlp.header) else {
                    return;
                };
                let key = (direction, requester, tag);
                // The earlier request keeps the tag: its completions are on their way.
                match self.outstanding.entry(key) {
                    Entry::Occupied(_) => found.push(Violation::TagReused { tag }),
                    Entry::Vacant(slot) => {
                        slot.insert(request);
                    }
                }
            }
        }
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
