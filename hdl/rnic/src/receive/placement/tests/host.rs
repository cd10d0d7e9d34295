//! The host in plain Rust: memory as octets, a strict reader of TLPs, BAR accesses.
use pcie_sim::check::{check, Direction};
use pcie_sim::{Header, Kind, Limits, Tlp, TransferSize};
use rnic_hdl_tools::testkit::Random;
use std::collections::{HashMap, VecDeque};

/// Device id in these tests.
pub const DEVICE_ID: u16 = 0x0318;
/// The requester id of BAR accesses.
const HOST_ID: u32 = 0x0200;

/// One register access.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Access {
    Write(u32, u32),
    Read(u32),
}

/// Host memory, and the accesses it makes.
pub struct Host {
    /// Every octet ever written.
    pub memory: HashMap<u64, u8>,
    /// Octets written so far, each time counted.
    pub octets_written: u64,
    /// Accesses to make, oldest first.
    pub accesses: VecDeque<Access>,
    /// The read that has no answer yet.
    waiting: Option<(u32, u8)>,
    tag: u8,
    limits: Limits,
    max_payload_octets: u64,
    payload: Vec<u8>,
    header: Option<[u32; 4]>,
    pub tlps: u64,
}

/// Kind of a finished TLP.
pub enum Event {
    /// A write of one span of octets.
    Write { address: u64, octets: usize },
    /// The answer to the read of a register.
    Answer { offset: u32, value: u32 },
}

impl Host {
    pub fn new(max_payload: u32) -> Self {
        let limits = Limits {
            max_payload: TransferSize::from_encoding(max_payload).expect("0 to 2"),
            ..Default::default()
        };
        Self {
            memory: HashMap::new(),
            octets_written: 0,
            accesses: VecDeque::new(),
            waiting: None,
            tag: 0,
            limits,
            max_payload_octets: 128 << max_payload,
            payload: Vec::new(),
            header: None,
            tlps: 0,
        }
    }

    /// No access is pending.
    pub fn idle(&self) -> bool {
        self.accesses.is_empty() && self.waiting.is_none()
    }

    /// Inside a TLP.
    pub fn in_tlp(&self) -> bool {
        self.header.is_some()
    }

    /// The request to offer now, as header and data; it must be `requested` when it is taken.
    pub fn request(&self) -> Option<([u32; 4], u32)> {
        if self.waiting.is_some() {
            return None;
        }
        let id = HOST_ID << 16 | u32::from(self.tag) << 8 | 0xf;
        // BAR0 lies above 4 GiB here, so both header forms occur.
        Some(match *self.accesses.front()? {
            Access::Write(offset, value) => ([0x6000_0001, id, 0x12, 0x3400_0000 | offset], value),
            Access::Read(offset) => ([0x0000_0001, id, 0x5600_0000 | offset, 0], 0),
        })
    }

    /// The device has taken the request.
    pub fn requested(&mut self) {
        if let Some(Access::Read(offset)) = self.accesses.pop_front() {
            self.waiting = Some((offset, self.tag));
            self.tag = self.tag.wrapping_add(1);
        }
    }

    /// Takes a beat; at the end of a TLP returns what it was.
    pub fn beat(&mut self, header: [u32; 4], data: &[u8], keep: u32, last: bool) -> Option<Event> {
        let lanes = data.len() / 4;
        let kept = keep.trailing_ones() as usize;
        assert_eq!(
            u64::from(keep),
            (1u64 << kept) - 1,
            "lanes are kept from lane 0 on"
        );
        assert!(last || kept == lanes, "a beat before the last is full");
        assert_eq!(
            *self.header.get_or_insert(header),
            header,
            "the header holds"
        );
        self.payload.extend_from_slice(&data[..4 * kept]);
        if !last {
            assert!(self.payload.len() < 4096, "a TLP that does not end");
            return None;
        }
        self.header = None;
        self.tlps += 1;
        let count = if header[0] >> 29 & 1 == 1 { 4 } else { 3 };
        assert!(count == 4 || header[3] == 0, "no doubleword 3");
        let parsed = Header::parse(&header[..count]).unwrap_or_else(|error| panic!("{error}"));
        let tlp = Tlp {
            header: parsed,
            payload: std::mem::take(&mut self.payload),
        };
        check(&tlp, Direction::Upstream, &self.limits, |violation| {
            panic!("{violation}")
        });
        Some(self.take(&tlp))
    }

    fn take(&mut self, tlp: &Tlp) -> Event {
        match tlp.header.kind {
            Kind::MWr(write) => {
                assert_eq!(write.requester.bits(), DEVICE_ID);
                let length = tlp.header.length;
                let span = write.enables.span(length);
                assert!(write.enables.contiguous(length), "one span");
                let first = write.address + span.start as u64;
                let end = write.address + span.end as u64 - 1;
                assert_eq!(
                    first / self.max_payload_octets,
                    end / self.max_payload_octets,
                    "{first:#x} to {end:#x} crosses a line"
                );
                assert!(
                    span.start < 4 && tlp.payload.len() - span.end < 4,
                    "no spare doubleword"
                );
                for offset in span.clone() {
                    self.memory
                        .insert(write.address + offset as u64, tlp.payload[offset]);
                }
                self.octets_written += span.len() as u64;
                Event::Write {
                    address: first,
                    octets: span.len(),
                }
            }
            Kind::CplD(completion) => {
                let (offset, tag) = self.waiting.take().expect("a read was asked for");
                assert_eq!(completion.tag, tag);
                assert_eq!(u32::from(completion.requester.bits()), HOST_ID);
                assert_eq!(completion.completer.bits(), DEVICE_ID);
                assert_eq!(completion.byte_count, 4);
                assert_eq!(u32::from(completion.lower_address), offset & 0x7f);
                let value =
                    u32::from_le_bytes(tlp.payload[..4].try_into().expect("one doubleword"));
                Event::Answer { offset, value }
            }
            other => panic!("the device never sends {other:?}"),
        }
    }

    /// `octets` octets of memory from `address`; panics if one was never written.
    pub fn read(&self, address: u64, octets: usize) -> Vec<u8> {
        (0..octets as u64)
            .map(|i| {
                *self
                    .memory
                    .get(&(address + i))
                    .unwrap_or_else(|| panic!("octet {:#x} was never written", address + i))
            })
            .collect()
    }

    /// The same as little-endian doublewords.
    pub fn words(&self, address: u64, octets: usize) -> Vec<u32> {
        self.read(address, octets)
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("whole doublewords")))
            .collect()
    }
}

/// Random octets.
pub fn octets(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.bits() as u8).collect()
}
