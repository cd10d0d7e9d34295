//! What the room must do, in plain integers, from the tables of ARCHITECTURE.md and `rnic_abi`.
use crate::messages::{FPDU_CHECK, FPDU_HOST, PLACE_DISCARD, PLACE_HOST, PLACE_WRITE};
use rnic_abi::errors::StreamError::{self, *};
use rnic_abi::{cqe, tables};
use std::collections::HashMap;

/// An `FpduRecord` in plain integers.
#[derive(Clone, Debug, Default)]
pub struct Record {
    pub kind: u64,
    pub connection: u64,
    pub sequence: u32,
    pub sequence_end: u32,
    pub ulpdu_length: u64,
    pub crc_good: bool,
    pub marker_good: bool,
    /// ULPDU_Length and up to 18 octets of ULPDU.
    pub header: [u8; 20],
    pub beats: u64,
    pub head_page: u64,
    pub tail_page: u64,
}

/// A `PlaceCommand` in plain integers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    pub kind: u64,
    pub beats: u64,
    pub skip_words: u64,
    pub address: u64,
    pub octets: u64,
    pub complete: bool,
    pub cqe: [u32; 6],
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
}

/// All that the room says of one record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub command: Option<Command>,
    pub stopped: Option<u64>,
    pub event: Option<Event>,
    pub counted: bool,
    pub error: u64,
}

#[derive(Clone, Copy, Default)]
struct Context {
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

/// The tables, and the rules over them. What was never written is zero.
#[derive(Default)]
pub struct Model {
    contexts: HashMap<u64, Context>,
    queues: HashMap<u64, Queue>,
    pool: HashMap<u64, (u64, u32)>,
    stags: HashMap<u64, (u32, u64)>,
    regions: HashMap<u64, Region>,
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

impl Model {
    /// A table write takes effect.
    pub fn write(&mut self, table: u32, index: u64, words: &[u32; 10]) {
        match table {
            tables::DDP => {
                let context = Context {
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
                self.pool
                    .insert(index, (pair(words[0], words[1]), words[2]));
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

    /// What a table read gives: words 0 to 3 of a region, zero of all other tables.
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

    /// The region of `stag`, if it is known, valid and has this key.
    fn region(&self, stag: u32) -> Option<(u64, Region)> {
        let known = self.stags.values().find(|(index, _)| *index == stag >> 8)?;
        let region = self.regions.get(&known.1).copied().unwrap_or_default();
        (region.valid && region.key == stag as u8).then_some((known.1, region))
    }

    fn associated(&self, connection: u64, region: &Region) -> bool {
        let bound = region.rights & tables::RIGHT_STREAM_BOUND != 0;
        region.pd == self.context(connection).pd && (!bound || region.connection == connection)
    }

    fn context(&self, connection: u64) -> Context {
        self.contexts.get(&connection).copied().unwrap_or_default()
    }

    fn queue(&self, connection: u64, qn: u64) -> Queue {
        let queue = self.queues.get(&(connection << 2 | qn));
        queue.copied().unwrap_or_default()
    }

    /// The header, or why there is none (0: a zero-length FPDU that is allowed).
    fn header(&self, record: &Record) -> Result<Header, u64> {
        let octets = &record.header;
        let tagged = octets[2] & 0x80 != 0;
        let header_octets = if tagged { 14 } else { 18 };
        let first = self.context(record.connection).first;
        if !record.crc_good {
            return Err(MpaCrc as u64);
        }
        if !record.marker_good {
            return Err(MpaMarker as u64);
        }
        if record.ulpdu_length == 0 {
            return Err(if first { 0 } else { MpaZeroLength as u64 });
        }
        if record.ulpdu_length < header_octets {
            return Err(DdpShortHeader as u64);
        }
        Ok(Header {
            tagged,
            last: octets[2] & 0x40 != 0,
            opcode: u64::from(octets[3] & 15),
            stag: number(&octets[4..8]) as u32,
            to: number(&octets[8..16]),
            qn: number(&octets[8..12]),
            msn: number(&octets[12..16]) as u32,
            mo: number(&octets[16..20]),
            payload: record.ulpdu_length - header_octets,
        })
    }

    /// The first failing test of a segment with a header.
    fn refusal(&self, record: &Record, header: &Header) -> Option<StreamError> {
        let version = self.context(record.connection).version;
        if record.header[2] & 3 != version {
            return Some(if header.tagged {
                DdpTaggedVersion
            } else {
                DdpUntaggedVersion
            });
        }
        if record.header[3] >> 6 != version {
            return Some(RdmapVersion);
        }
        if header.tagged {
            self.tagged_refusal(record, header)
        } else {
            self.untagged_refusal(record, header)
        }
    }

    fn tagged_refusal(&self, record: &Record, header: &Header) -> Option<StreamError> {
        let right = match header.opcode {
            0 => tables::RIGHT_REMOTE_WRITE,
            2 => tables::RIGHT_READ_SINK,
            _ => return Some(RdmapOpcode),
        };
        if header.payload == 0 {
            return None;
        }
        let Some((_, region)) = self.region(header.stag) else {
            return Some(DdpStag);
        };
        let (base, to) = (u128::from(region.base), u128::from(header.to));
        let (end, to_end) = (
            base + u128::from(region.octets),
            to + u128::from(header.payload),
        );
        if !self.associated(record.connection, &region) {
            Some(DdpAssociation)
        } else if region.rights & right == 0 {
            Some(RdmapAccess)
        } else if to_end >= 1 << 64 {
            Some(DdpWrap)
        } else if to < base || to_end > end {
            Some(DdpBounds)
        } else {
            None
        }
    }

    fn untagged_refusal(&self, record: &Record, header: &Header) -> Option<StreamError> {
        if header.qn > 2 || !self.queue(record.connection, header.qn).open {
            return Some(DdpQn);
        }
        let fits = match header.qn {
            0 => (3..=6).contains(&header.opcode),
            1 => header.opcode == 1,
            _ => header.opcode == 7,
        };
        if !fits {
            return Some(RdmapOpcode);
        }
        let queue = self.queue(record.connection, header.qn);
        let distance = header.msn.wrapping_sub(queue.expected);
        let posted = queue.tail.wrapping_sub(queue.expected as u16);
        let octets = u64::from(self.buffer(&queue, header.msn).1 .1);
        if (distance as i32) < 0 {
            Some(DdpMsn)
        } else if distance >= u32::from(posted) {
            Some(DdpNoBuffer)
        } else if distance != 0 {
            Some(DdpMsn)
        } else if header.mo > octets || (header.payload > 0 && header.mo == octets) {
            Some(DdpMo)
        } else if header.mo + header.payload > octets {
            Some(DdpTooLong)
        } else if header.last && matches!(header.opcode, 4 | 6) {
            let region = self.region(header.stag).map(|(_, region)| region);
            let allowed = region.is_some_and(|region| {
                self.associated(record.connection, &region)
                    && region.rights & tables::RIGHT_REMOTE_INVALIDATE != 0
            });
            (!allowed).then_some(RdmapInvalidate)
        } else {
            None
        }
    }

    fn buffer(&self, queue: &Queue, msn: u32) -> (u64, (u64, u32)) {
        let entry = (queue.first + msn % (1 << queue.entries_log2)) & 0x7ff;
        let buffer = self.pool.get(&u64::from(entry));
        (u64::from(entry), buffer.copied().unwrap_or_default())
    }

    /// The record is checked, and the tables change as it says.
    pub fn judge(&mut self, record: &Record) -> Outcome {
        let mut outcome = Outcome::default();
        let mut command = Command {
            kind: PLACE_DISCARD,
            beats: if record.kind == FPDU_CHECK {
                0
            } else {
                record.beats
            },
            ..Command::default()
        };
        if record.kind == FPDU_HOST {
            command.kind = PLACE_HOST;
            command.octets = record.ulpdu_length;
            command.cqe[0] = (record.head_page | record.tail_page << 16) as u32;
            outcome.command = Some(command);
            return outcome;
        }
        let is_check = record.kind == FPDU_CHECK;
        let context = self.context(record.connection);
        if context.in_error {
            outcome.command = (!is_check).then_some(command);
            return outcome;
        }
        let header = self.header(record);
        let error = match &header {
            Ok(header) => self.refusal(record, header).map_or(0, |error| error as u64),
            Err(error) => *error,
        };
        let is_last_word = Context {
            first: false,
            in_error: error != 0,
            ..context
        };
        self.contexts.insert(record.connection, is_last_word);
        outcome.error = error;
        outcome.counted = !is_check && record.crc_good && record.marker_good;
        let mut event = Event {
            connection: record.connection,
            sequence: record.sequence,
            ulpdu_length: record.ulpdu_length,
            error,
            opcode: header.as_ref().map_or(0, |header| header.opcode),
            opcode_valid: header.is_ok(),
            placed_octets: 0,
        };
        if error != 0 {
            self.stop(record, &header, error, &mut command);
            outcome.stopped = Some(record.connection);
            outcome.command = Some(command);
            outcome.event = Some(event);
        } else if !is_check {
            if let Ok(header) = &header {
                self.accept(record, header, &mut command);
            }
            event.placed_octets = command.octets;
            outcome.command = Some(command);
            outcome.event = Some(event);
        }
        outcome
    }

    fn stop(
        &self,
        record: &Record,
        header: &Result<Header, u64>,
        error: u64,
        command: &mut Command,
    ) {
        let known = rnic_abi::errors::ALL
            .iter()
            .find(|known| **known as u64 == error);
        let (layer, error_type, code) = known.expect("a known error").terminate();
        let (opcode, qn) = match header {
            Ok(header) if header.tagged => (header.opcode, 0),
            Ok(header) => (header.opcode, header.qn & 3),
            Err(_) => (0, 0),
        };
        command.complete = true;
        command.cqe[0] = cqe::KIND_ERROR | (opcode << 4 | qn << 8 | record.connection << 16) as u32;
        command.cqe[1] = layer | error_type << 4 | code << 8 | (record.ulpdu_length << 16) as u32;
        command.cqe[2] = record.sequence;
        command.cqe[4] = record.sequence_end;
    }

    fn accept(&mut self, record: &Record, header: &Header, command: &mut Command) {
        let head = |kind: u32, qn: u64| {
            kind | (header.opcode << 4 | qn << 8 | record.connection << 16) as u32
        };
        if header.payload > 0 {
            command.kind = PLACE_WRITE;
            command.octets = header.payload;
            command.skip_words = if header.tagged { 4 } else { 5 };
        }
        if header.tagged {
            if header.payload > 0 {
                let region = self.region(header.stag).expect("checked").1;
                command.address = header.to.wrapping_add(region.bus_offset);
            }
            if header.last && header.opcode == 2 {
                let end = header.to.wrapping_add(header.payload);
                command.complete = true;
                command.cqe = [
                    head(cqe::KIND_READ_RESPONSE, 0),
                    header.stag,
                    end as u32,
                    (end >> 32) as u32,
                    record.sequence_end,
                    0,
                ];
            }
            return;
        }
        let queue = self.queue(record.connection, header.qn);
        let (entry, (address, _)) = self.buffer(&queue, header.msn);
        if header.payload > 0 {
            command.address = address.wrapping_add(header.mo);
        }
        if header.last {
            let invalidates = matches!(header.opcode, 4 | 6);
            command.complete = true;
            command.cqe = [
                head(cqe::KIND_RECEIVE, header.qn),
                header.msn,
                (header.mo + header.payload) as u32,
                if invalidates { header.stag } else { 0 },
                record.sequence_end,
                entry as u32,
            ];
            let queue = self.queues.get_mut(&(record.connection << 2 | header.qn));
            queue.expect("an open queue").expected = header.msn.wrapping_add(1);
            if invalidates {
                let region = self.region(header.stag).expect("checked").0;
                self.regions.get_mut(&region).expect("checked").valid = false;
            }
        }
    }
}
