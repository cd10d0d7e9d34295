//! Model of the room in plain integers, from the tables of ARCHITECTURE.md and `rnic_abi`.
use crate::messages::*;
use rnic_abi::errors::StreamError::{self, *};
use rnic_abi::{cqe, tables};
use std::collections::HashMap;

mod ooo;
mod judge;
mod rules;

/// An `FpduRecord` in plain integers.
#[derive(Clone, Debug, Default)]
pub struct Record {
    pub kind: FpduKind,
    pub connection: u64,
    pub span: u64,
    pub unproven: bool,
    pub sequence: u32,
    pub sequence_end: u32,
    pub ulpdu_length: u64,
    pub crc_good: bool,
    pub marker_good: bool,
    pub marker_seen: bool,
    /// ULPDU_Length and up to 18 octets of ULPDU.
    pub header: [u8; 20],
    pub beats: u64,
    pub head_page: u64,
    pub tail_page: u64,
}

/// A `PlaceCommand` in plain integers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    pub kind: PlaceKind,
    pub beats: u64,
    pub skip_words: u64,
    pub address: u64,
    pub octets: u64,
    pub complete: bool,
    /// 0 without an entry.
    pub queue: u64,
    pub cqe: [u32; 8],
}

/// An `FpduEvent` in plain integers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    pub connection: u64,
    pub sequence: u32,
    pub ulpdu_length: u64,
    pub error: u64,
    pub opcode: u64,
    pub opcode_valid: bool,
    pub placed_octets: u64,
    pub placed_ooo: bool,
}

/// All outputs of the room for one record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub command: Option<Command>,
    /// The connection, if this is its first FPDU and passes all tests (START-014).
    pub first: Option<u64>,
    pub stopped: Option<u64>,
    pub event: Option<Event>,
    pub counted: bool,
    pub error: u64,
    /// The result of an FPDU out of order.
    pub ooo: Option<OutOfOrder>,
    /// What its completion queue has come to.
    pub report: Option<Report>,
}

/// An `OutOfOrderResult` in plain integers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OutOfOrder {
    pub good: bool,
    pub sequence_end: u32,
}

/// A completion queue.
#[derive(Clone, Copy, Default)]
pub struct CompletionQueue {
    pub entries_log2: u32,
    pub numbered: u32,
    pub consumed: u32,
}

impl CompletionQueue {
    fn is_full(&self) -> bool {
        self.entries_log2 == 0 || self.numbered - self.consumed >= 1 << self.entries_log2
    }

    /// Word 7 of the next entry.
    fn word_7(&self) -> u32 {
        let first = self.numbered >> self.entries_log2 & 1 == 0;
        self.numbered | if first { cqe::PHASE } else { 0 }
    }
}

/// A `CqReport` in plain integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Report {
    /// Queue and entries numbered so far.
    Numbered(u64, u64),
    /// Queue.
    Lost(u64),
}

#[derive(Clone, Copy, Default)]
struct Context {
    completion_queue: usize,
    pd: u32,
    version: u8,
    first: bool,
    in_error: bool,
}

#[derive(Clone, Copy, Default)]
struct Queue {
    open: bool,
    entries_log2: u32,
    first: u32,
    expected: u32,
    tail: u16,
}

#[derive(Clone, Copy, Default)]
struct Region {
    valid: bool,
    key: u8,
    rights: u32,
    pd: u32,
    connection: u64,
    base: u64,
    octets: u64,
    bus_offset: u64,
}

/// The tables, and the rules over them. An entry that was never written is zero.
#[derive(Default)]
pub struct Model {
    pub completion_queues: [CompletionQueue; 16],
    contexts: HashMap<u64, Context>,
    queues: HashMap<u64, Queue>,
    pool: HashMap<u64, [u32; 4]>,
    stags: HashMap<u64, (u32, u64)>,
    regions: HashMap<u64, Region>,
    /// Records stored, by span.
    spans: HashMap<u64, Vec<Record>>,
    /// Span and end of the last FPDU out of order, if it was bad.
    bad: Option<(u64, u32)>,
}

/// Numbers in network byte order.
fn number(octets: &[u8]) -> u64 {
    octets
        .iter()
        .fold(0, |value, &octet| (value << 8) | u64::from(octet))
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | (u64::from(high) << 32)
}

/// A segment of an FPDU whose header may be read.
struct Header {
    tagged: bool,
    last: bool,
    opcode: u64,
    stag: u32,
    to: u64,
    qn: u64,
    msn: u32,
    mo: u64,
    payload: u64,
}

/// What is left of an outstanding read, as the pool holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Read {
    pub stag: u32,
    pub to: u64,
    pub octets: u32,
}

/// Bits of a Tagged Offset that an outstanding read holds.
pub const TO_BITS: u64 = (1 << 35) - 1;

impl Read {
    /// As the words of a pool entry.
    pub fn words(&self) -> [u32; 4] {
        let high = (self.to & TO_BITS) >> 32;
        [self.to as u32, self.stag, self.octets, high as u32]
    }

    fn of(words: [u32; 4]) -> Self {
        Self {
            stag: words[1],
            to: pair(words[0], words[3] & 7),
            octets: words[2],
        }
    }
}

impl Model {
    /// The oldest outstanding read of `connection`, with its pool entry.
    pub fn oldest_read(&self, connection: u64) -> Option<(u64, Read)> {
        let queue = self.queue(connection, 3);
        let is_posted = queue.open && queue.tail != queue.expected as u16;
        let (entry, words) = self.entry(&queue, queue.expected);
        is_posted.then(|| (entry, Read::of(words)))
    }

    /// A table write takes effect.
    pub fn write(&mut self, table: u32, index: u64, words: &[u32; 10]) {
        match table {
            tables::DDP => {
                let context = Context {
                    completion_queue: (words[0] >> 17 & 0xf) as usize,
                    pd: words[0] & 0xffff,
                    version: (words[0] >> 16 & 1) as u8,
                    first: true,
                    in_error: false,
                };
                self.contexts.insert(index, context);
            }
            tables::QUEUE => {
                let queue = Queue {
                    open: words[0] >> 31 == 1,
                    entries_log2: words[0] >> 16 & 15,
                    first: words[0] & 0x7ff,
                    expected: words[1],
                    tail: words[1] as u16,
                };
                self.queues.insert(index, queue);
            }
            tables::QUEUE_TAIL => self.queues.entry(index).or_default().tail = words[0] as u16,
            tables::RECEIVE_POOL => {
                let entry = [words[0], words[1], words[2], words[3]];
                self.pool.insert(index, entry);
            }
            tables::STAG => {
                self.stags.remove(&index);
                if words[0] >> 31 == 1 {
                    let region = u64::from(words[0] & 0x3ff);
                    self.stags.insert(index, (words[1] & 0xff_ffff, region));
                }
            }
            tables::REGION => {
                let region = Region {
                    valid: words[0] >> 31 == 1,
                    key: (words[0] >> 8) as u8,
                    rights: words[0] & 0x1f,
                    pd: words[1] & 0xffff,
                    connection: u64::from(words[1] >> 16 & 0x3ff),
                    base: pair(words[2], words[3]),
                    octets: pair(words[4], words[5]) & 0xffff_ffff_ffff,
                    bus_offset: pair(words[6], words[7]),
                };
                self.regions.insert(index, region);
            }
            _ => panic!("table {table} is not of this room"),
        }
    }

    /// Result of a table read: words 0 to 3 of a region, zero for all other tables.
    pub fn read(&self, table: u32, index: u64) -> [u32; 4] {
        if table != tables::REGION {
            return [0; 4];
        }
        let region = self.regions.get(&index).copied().unwrap_or_default();
        [
            u32::from(region.valid) << 31 | u32::from(region.key) << 8 | region.rights,
            region.pd | (region.connection as u32) << 16,
            region.base as u32,
            (region.base >> 32) as u32,
        ]
    }
}
