//! A small world of streams, queues and regions, and the FPDUs that peers send into it.
use super::bench::Bench;
use super::model::{Read, Record};
use crate::messages::FpduKind;
use rnic_abi::tables::*;

/// Streams of `PD`: two of version 1, one of version 0; and one of another PD.
pub const STREAM: u64 = 5;
pub const SIBLING: u64 = 1023;
pub const OLD: u64 = 3;
pub const STRANGER: u64 = 9;
pub const PD: u32 = 0xbeef;

/// Number of the first read: the fourth one begins at 0 again.
const FIRST_READ: u32 = 0xffff_fffd;

/// A memory region in plain integers.
#[derive(Clone, Copy)]
pub struct Region {
    pub number: u32,
    pub stag: u32,
    pub rights: u32,
    pub pd: u32,
    pub connection: u64,
    pub base: u64,
    pub octets: u64,
    pub bus_offset: u64,
}

/// The region most tests write into: all rights, 0x200 octets from TO 0x1_0000_1003 on.
pub const SINK: Region = Region {
    number: 17,
    stag: 0xabc1_235a,
    rights: RIGHT_REMOTE_WRITE | RIGHT_READ_SINK | RIGHT_REMOTE_INVALIDATE,
    pd: PD,
    connection: STREAM,
    base: 0x1_0000_1003,
    octets: 0x200,
    bus_offset: 0xffff_f000_0000_0000,
};

/// The words of table SINK for `region`.
pub fn region_words(region: &Region, valid: bool) -> [u32; 8] {
    [
        u32::from(valid) << 31 | (region.stag & 0xff) << 8 | region.rights,
        region.pd | (region.connection as u32) << 16,
        region.base as u32,
        (region.base >> 32) as u32,
        region.octets as u32,
        (region.octets >> 32) as u32,
        region.bus_offset as u32,
        (region.bus_offset >> 32) as u32,
    ]
}

/// Index of table STAG for `stag` in `way`, hashed as a driver would.
pub fn stag_slot(stag: u32, way: usize) -> u64 {
    let hash = crc32c::crc32c(&stag.to_be_bytes()[..3]);
    (way << 9 | hash_slot(hash, way)) as u64
}

impl Bench {
    /// Registers `region` with its STag in `way`.
    pub fn register(&mut self, region: &Region, way: usize) {
        let slot = stag_slot(region.stag, way);
        self.write(STAG, slot, &[1 << 31 | region.number, region.stag >> 8]);
        self.write(
            REGION,
            u64::from(region.number),
            &region_words(region, true),
        );
    }

    /// Opens queue `qn` of `connection`: entries `first..first + 2^log2`, `posted` of them posted.
    pub fn open(&mut self, connection: u64, qn: u64, first: u32, log2: u32, msn: u32, posted: u32) {
        let index = connection << 2 | qn;
        self.write(QUEUE, index, &[1 << 31 | log2 << 16 | first, msn]);
        self.write(QUEUE_TAIL, index, &[msn.wrapping_add(posted) & 0xffff]);
    }

    /// Gives pool entry `entry` a buffer.
    pub fn buffer(&mut self, entry: u64, address: u64, octets: u32) {
        self.write(
            RECEIVE_POOL,
            entry,
            &[address as u32, (address >> 32) as u32, octets],
        );
    }

    /// Opens the queue of reads of `connection` at pool entries `first` to `first + 7` and posts
    /// reads, each of so many octets to `to` in a region.
    pub fn post_reads(&mut self, connection: u64, first: u32, reads: &[(&Region, u64, u32)]) {
        self.open(connection, 3, first, 3, FIRST_READ, 0);
        for (index, (region, to, octets)) in reads.iter().enumerate() {
            let read = Read {
                stag: region.stag,
                to: *to,
                octets: *octets,
            };
            let entry = first + FIRST_READ.wrapping_add(index as u32) % 8;
            self.write(RECEIVE_POOL, u64::from(entry), &read.words());
        }
        let tail = FIRST_READ.wrapping_add(reads.len() as u32);
        self.write(QUEUE_TAIL, connection << 2 | 3, &[tail & 0xffff]);
    }

    /// A world in which `STREAM` has posted `reads`.
    pub fn reading(reads: &[(&Region, u64, u32)]) -> Self {
        let mut bench = Self::world();
        bench.post(reads);
        bench
    }

    /// `STREAM` posts `reads`.
    pub fn post(&mut self, reads: &[(&Region, u64, u32)]) {
        self.post_reads(STREAM, 192, reads);
    }

    /// A world of its own ([`Self::furnish`]).
    pub fn world() -> Self {
        let mut bench = Self::new();
        bench.furnish();
        bench
    }

    /// Four streams; `STREAM` has all queues open with four buffers of 256 octets each. All their
    /// entries are written, whatever was in them.
    pub fn furnish(&mut self) {
        self.set_completion_queue(0, 16);
        for (connection, pd, version) in [
            (STREAM, PD, 1),
            (SIBLING, PD, 1),
            (OLD, PD, 0),
            (STRANGER, 7, 1),
        ] {
            self.write(DDP, connection, &[pd | version << 16]);
        }
        for qn in 0..3 {
            self.open(STREAM, qn, 64 * qn as u32, 3, 1, 4);
            for entry in 0..8 {
                let address = 0x8_0000_0000 + qn * 0x1_0000 + entry * 0x1000;
                self.buffer(64 * qn + entry, address, 256);
            }
        }
        self.register(&SINK, 2);
        self.drain();
    }

    /// What one record gives in a fresh world.
    pub fn alone(record: &Record) -> super::model::Outcome {
        Self::world().send(record)
    }
}

/// An FPDU of `STREAM` with the given control octets, 18 header octets' rest, and payload octets.
pub fn record(control: [u8; 2], rest: &[u8], payload: u64) -> Record {
    let mut header = [0xa5; 20];
    let ulpdu_length = 2 + rest.len() as u64 + payload;
    header[0..2].copy_from_slice(&(ulpdu_length as u16).to_be_bytes());
    header[2..4].copy_from_slice(&control);
    header[4..4 + rest.len()].copy_from_slice(rest);
    Record {
        kind: FpduKind::Normal,
        connection: STREAM,
        span: 0,
        unproven: false,
        marker_seen: false,
        sequence: 0xffff_ff00,
        sequence_end: 0x0000_0123,
        ulpdu_length,
        crc_good: true,
        marker_good: true,
        header,
        beats: 1 + (ulpdu_length + 5) / 16,
        head_page: 0x155,
        tail_page: 0x0aa,
    }
}

/// A tagged segment of version 1.
pub fn tagged(opcode: u8, last: bool, stag: u32, to: u64, payload: u64) -> Record {
    let mut rest = stag.to_be_bytes().to_vec();
    rest.extend(to.to_be_bytes());
    record([0x81 | u8::from(last) << 6, 0x40 | opcode], &rest, payload)
}

/// A whole write of eight octets to the first ones of the sink.
pub fn sink_write() -> Record {
    tagged(0, true, SINK.stag, SINK.base, 8)
}

/// An untagged segment of version 1; `stag` is the Invalidate STag.
pub fn untagged(opcode: u8, last: bool, stag: u32, place: [u32; 3], payload: u64) -> Record {
    let mut rest = stag.to_be_bytes().to_vec();
    place
        .iter()
        .for_each(|word| rest.extend(word.to_be_bytes()));
    record([0x01 | u8::from(last) << 6, 0x40 | opcode], &rest, payload)
}
