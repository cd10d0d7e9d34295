//! The software's side: two rings in host memory, and what must become of each frame in them.
use super::frames::Spec;
use rnic_abi::transmit_ring as abi;
use rnic_hdl_tools::testkit::Random;
use std::collections::{HashMap, VecDeque};

/// What must become of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Sent,
    Refused,
    ReadFails,
}

/// A frame in a ring that no report has passed.
#[derive(Debug)]
pub struct Pending {
    /// Index of its head.
    pub index: u32,
    pub units: u32,
    pub fate: Fate,
    pub first_address: u64,
    pub frame: Vec<u8>,
    /// Its octets are in the device, or its read has failed.
    pub answered: bool,
    pub status: Option<u32>,
}

/// One ring.
#[derive(Debug, Default)]
pub struct Ring {
    pub base: u64,
    pub report: u64,
    pub log2: u32,
    pub head: u32,
    /// Units written, and the last doorbell.
    pub written: u32,
    pub tail: u32,
    pub given_up: u32,
    pub stopped: bool,
    pub pending: VecDeque<Pending>,
    /// Whole frames, in the order in which they must leave.
    pub leaving: VecDeque<Vec<u8>>,
    pub reports: u64,
}

impl Ring {
    pub fn units(&self) -> u32 {
        1 << self.log2
    }

    fn unit_address(&self, index: u32) -> u64 {
        self.base + abi::UNIT_OCTETS as u64 * u64::from(index % self.units())
    }

    /// Puts a frame into the ring, if there is room.
    pub fn put(
        &mut self,
        memory: &mut HashMap<u64, u8>,
        spec: &Spec,
        fails: bool,
        random: &mut Random,
    ) -> bool {
        let units = spec.units() as u32;
        if self.log2 == 0 || self.written.wrapping_add(units) - self.head > self.units() {
            return false;
        }
        let fate = match spec.refusal() {
            Some(_) => Fate::Refused,
            None if fails => Fate::ReadFails,
            None => Fate::Sent,
        };
        for (offset, octet) in spec.encode(random).into_iter().enumerate() {
            let address = self.unit_address(self.written.wrapping_add(offset as u32 / 32));
            memory.insert(address + offset as u64 % 32, octet);
        }
        self.pending.push_back(Pending {
            index: self.written,
            units,
            fate,
            first_address: spec.elements.first().map_or(0, |element| element.0),
            frame: match fate {
                Fate::Sent => spec.frame(),
                _ => Vec::new(),
            },
            answered: false,
            status: None,
        });
        self.written = self.written.wrapping_add(units);
        true
    }

    /// The octets of the frame whose first element is at `address` are in the device, or not.
    pub fn answer(&mut self, address: u64, good: bool) {
        let mut reading = self
            .pending
            .iter_mut()
            .filter(|one| one.fate != Fate::Refused);
        let frame = reading
            .find(|one| !one.answered)
            .expect("a frame to be read");
        assert_eq!(frame.first_address, address, "frames are read in order");
        assert_eq!(good, frame.fate == Fate::Sent);
        frame.answered = true;
        if good {
            self.leaving.push_back(frame.frame.clone());
        }
    }

    /// A status is written.
    pub fn status(&mut self, address: u64, value: u32) {
        let base = self.base;
        let units = self.units();
        let place = |index: u32| base + 32 * u64::from(index % units) + 28;
        let waiting = self.pending.iter_mut().filter(|one| one.fate != Fate::Sent);
        let frame = waiting.into_iter().find(|one| one.status.is_none());
        let frame = frame.expect("a frame to be given up");
        assert_eq!(address, place(frame.index));
        let expected = match frame.fate {
            Fate::Refused => abi::STATUS_REFUSED,
            _ => abi::STATUS_READ_FAILED,
        };
        assert_eq!(value, expected, "{frame:?}");
        assert!(frame.fate == Fate::Refused || frame.answered);
        frame.status = Some(value);
    }

    /// A report is written: every frame that it passes is over.
    pub fn report(&mut self, words: [u32; 4]) {
        assert!(words[0].wrapping_sub(self.head) <= self.tail.wrapping_sub(self.head));
        while self.head != words[0] {
            let frame = self.pending.pop_front().expect("a frame that is over");
            assert_eq!(frame.index, self.head);
            match frame.fate {
                Fate::Sent => assert!(frame.answered, "passed before its octets came"),
                _ => {
                    assert!(frame.status.is_some(), "passed before its status");
                    self.given_up = self.given_up.wrapping_add(1);
                }
            }
            self.head = self.head.wrapping_add(frame.units);
        }
        assert_eq!(words[1], self.given_up);
        assert!(!self.stopped, "the report of the stop is the last one");
        assert!(words[2] <= abi::STOPPED);
        self.stopped = words[2] == abi::STOPPED;
        assert_eq!(words[3], 0);
        self.reports += 1;
    }

    /// Everything in the ring is forgotten; what is in the device still leaves.
    pub fn set_up(&mut self, base: u64, log2: u32) {
        *self = Self {
            base,
            log2,
            report: self.report,
            reports: self.reports,
            leaving: std::mem::take(&mut self.leaving),
            ..Self::default()
        };
    }
}
