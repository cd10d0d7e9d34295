//! Watches one link in both directions and names every broken rule.
//!
//! ```text
//!   Tlp, now, Direction --> check (one packet) --+
//!                       --> flow control --------+--> Record { now, direction, tlp, violation }
//!                       --> outstanding requests +
//! ```
//!
//! Nothing panics, whatever is observed. A packet that breaks several rules leaves as many
//! records. Records are kept up to a capacity; the count continues.
//!
//! - `outstanding`: requests, and what each completion makes of them.
//!
//! Source: PCI Express Base Specification 5.0, sections 2.2, 2.3.1.1, 2.3.2 and 2.6.1.

mod outstanding;

use thiserror::Error;

use crate::check::{check, Direction};
use crate::flow_control::{Credits, FlowClass, FlowControl, Shortage};
use crate::limits::Limits;
use crate::tlp::{Bdf, Header, Tlp};
use crate::Violation;
use outstanding::OutstandingTable;

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
    outstanding: OutstandingTable,
    // By direction; `None`: nobody counts.
    flows: [Option<FlowControl>; 2],
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
            outstanding: OutstandingTable::default(),
            flows: [None, None],
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

    /// Counts the credits of packets in `direction` from now on, and flags those sent without.
    pub fn set_flow_control(&mut self, direction: Direction, flow: FlowControl) {
        self.flows[direction as usize] = Some(flow);
    }

    /// Flow control of `direction`, if it is counted.
    pub fn flow_control(&self, direction: Direction) -> Option<&FlowControl> {
        self.flows[direction as usize].as_ref()
    }

    /// Brings the credits that are due by `now` back to both transmitters.
    pub fn advance(&mut self, now: u64) {
        for flow in self.flows.iter_mut().flatten() {
            flow.advance(now);
        }
    }

    /// The receiver of `direction` lets go of a packet's buffers. Credits that it does not hold
    /// are flagged, in the direction of the packet that would have held them.
    pub fn release_credits(
        &mut self,
        now: u64,
        direction: Direction,
        class: FlowClass,
        credits: Credits,
    ) {
        let flow = self.flows[direction as usize].as_mut();
        if let Some(Err(error)) = flow.map(|flow| flow.release(now, class, credits)) {
            self.record(now, direction, None, Violation::CreditsNotHeld(error));
        }
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
        found.extend(self.consume(now, direction, tlp));
        let limits = &self.limits;
        self.outstanding
            .follow(now, direction, tlp, limits, &mut found);
        for violation in &found {
            self.record(now, direction, Some(tlp), *violation);
        }
        found.len()
    }

    /// Takes note of one packet that breaks a rule on purpose: it is followed like any other, and
    /// what is wrong with it is not recorded.
    pub fn observe_fault(&mut self, now: u64, direction: Direction, tlp: &Tlp) {
        self.observed_count += 1;
        self.consume(now, direction, tlp);
        let limits = &self.limits;
        self.outstanding
            .follow(now, direction, tlp, limits, &mut Vec::new());
    }

    /// A request sent in `direction` will not be answered, on purpose: it is not missed at the
    /// end, and its tag may be used again from `reusable_from` on.
    pub fn lose(&mut self, direction: Direction, requester: Bdf, tag: u8, reusable_from: u64) {
        let key = (direction, requester, tag);
        self.outstanding.lose(key, reusable_from);
    }

    /// Whether a request sent in `direction` is not complete, a lost one included.
    pub fn is_outstanding(&self, direction: Direction, requester: Bdf, tag: u8) -> bool {
        self.outstanding.is_in_use((direction, requester, tag))
    }

    /// The link or the function was reset: a new epoch, in which no completion of an earlier
    /// request may be seen.
    ///
    /// A completion from before is recognised by its requester and tag, until a request of the new
    /// epoch uses the same ones: from then on nothing on the wire distinguishes the two.
    pub fn reset(&mut self) {
        self.outstanding.reset();
    }

    /// The link was down: credits are as advertised again, both ways (section 2.6.1).
    pub fn reset_flow_control(&mut self) {
        for flow in self.flows.iter_mut().flatten() {
            flow.reset();
        }
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
        let open = self.outstanding.take_open();
        for &(direction, tag, owed) in &open {
            let violation = Violation::RequestNotCompleted { tag, owed };
            self.record(now, direction, None, violation);
        }
        open.len()
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
        self.outstanding.count(direction)
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

    // Counts the credits of a packet; those it lacked.
    fn consume(&mut self, now: u64, direction: Direction, tlp: &Tlp) -> Vec<Violation> {
        let Some(flow) = &mut self.flows[direction as usize] else {
            return Vec::new();
        };
        let named = |shortage: Shortage| Violation::CreditsExceeded {
            class: shortage.class,
            kind: shortage.kind,
            needed: shortage.needed,
            available: shortage.available,
        };
        let shortages = flow.consume(now, &tlp.header);
        shortages.into_iter().map(named).collect()
    }
}
