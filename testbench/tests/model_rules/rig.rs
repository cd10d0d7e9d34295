//! A model with one connection, one region and some receive buffers, and a sender at its other end.

use rnic_abi::counters::{Counter, FIRST_REFUSAL};
use rnic_abi::errors::{StreamError, ALL};
use rnic_abi::tables::{RIGHT_READ_SINK, RIGHT_REMOTE_INVALIDATE, RIGHT_REMOTE_WRITE};
use rnic_driver::{Completion, ConnectionId, RegionConfig};
use rnic_model::{ddp, Entry, Model};
use rnic_testbench::play::bus::HEADER_OCTETS_COMPARED;
use rnic_testbench::traffic::frame::FLAG_ACK;
use rnic_testbench::traffic::{Endpoint, FrameBuilder, Sender, StreamConfig};

/// Payload octets of a TCP segment.
pub const MSS: usize = 1448;
/// Longest frame that the host ring takes.
pub const HOST_FRAME_OCTETS_MAX: usize = 2032;
/// Receive window.
pub const WINDOW: u32 = 1 << 20;
/// The connection.
pub const CONNECTION: ConnectionId = ConnectionId(5);
/// Its Protection Domain.
pub const DOMAIN: u16 = 7;
/// STag of the region.
pub const STAG: u32 = 0x00a1_b2c3;
/// Tagged Offset of its first octet.
pub const REGION_TO: u64 = 0x1_0000_0003;
/// Its octets.
pub const REGION_OCTETS: usize = 5000;
/// Rights of the region.
pub const RIGHTS: u32 = RIGHT_REMOTE_WRITE | RIGHT_READ_SINK | RIGHT_REMOTE_INVALIDATE;
/// Octets of each receive buffer.
pub const BUFFER_OCTETS: usize = 3000;
/// Receive buffers posted to each queue.
pub const BUFFERS: usize = 3;
/// A stream with markers and CRC that goes past the end of sequence space.
pub const MARKED: StreamConfig = StreamConfig {
    markers: true,
    crc: true,
    version: 1,
    sequence_start: 0xffff_ff00,
    mulpdu: 4096,
};

/// Pool entry before those of reads.
const FIRST_READ_ENTRY: u32 = 1000;
const REGION_ADDRESS: u64 = 0x10_0001;
const BUFFER_ADDRESS: u64 = 0x20_0000;
const BUFFER_DISTANCE: u64 = 0x1_0000;
const QUEUE_DISTANCE: u64 = 0x100_0000;

/// Model and sender.
pub struct Rig {
    /// The model.
    pub model: Model,
    /// What the connection's peer sends.
    pub sender: Sender,
    /// Frames of the peer.
    pub builder: FrameBuilder,
    delivered: usize,
    reads: u32,
}

impl Rig {
    /// A rig whose stream is as `stream` says.
    pub fn new(stream: StreamConfig) -> Self {
        let builder = FrameBuilder::new(Endpoint::host(1, 40_000), Endpoint::host(2, 4420));
        let mut model = Model::new(HOST_FRAME_OCTETS_MAX);
        model.open_connection(CONNECTION, &builder.connection(&stream, WINDOW, DOMAIN));
        model.memory.map(REGION_ADDRESS, REGION_OCTETS);
        model.register(&region());
        let mut rig = Self {
            model,
            sender: Sender::new(stream),
            builder,
            delivered: 0,
            reads: 0,
        };
        for qn in 0..3 {
            rig.model.open_queue(CONNECTION, qn);
            (1..=BUFFERS as u32).for_each(|msn| rig.post(qn, msn));
        }
        rig
    }

    /// Map and post the buffer for message `msn` of queue `qn`.
    pub fn post(&mut self, qn: u32, msn: u32) {
        let address = buffer_address(qn, msn);
        self.model.memory.map(address, BUFFER_OCTETS);
        let octets = BUFFER_OCTETS as u32;
        let buffer = ddp::Buffer {
            address,
            octets,
            pool_entry: msn,
        };
        self.model.post_receive(CONNECTION, qn, buffer);
    }

    /// Make a read outstanding; gives its pool entry.
    pub fn read(&mut self, stag: u32, offset: u64, octets: usize) -> u32 {
        self.reads += 1;
        let pool_entry = FIRST_READ_ENTRY + self.reads;
        let octets = octets as u32;
        let read = ddp::Read {
            stag,
            offset,
            octets,
            pool_entry,
        };
        self.model.post_read(CONNECTION, read);
        pool_entry
    }

    /// A read of `data`, and its response.
    pub fn read_and_respond(&mut self, stag: u32, offset: u64, data: &[u8]) -> u32 {
        self.sender.read_response(stag, offset, data);
        self.read(stag, offset, data.len())
    }

    /// Everything the sender has made and that was not sent yet, in full segments.
    pub fn deliver(&mut self) {
        let end = self.sender.stream().len();
        for start in (self.delivered..end).step_by(MSS) {
            self.segment(start, end.min(start + MSS));
        }
        self.delivered = end;
    }

    /// Octets `start` to `end` of the stream in one segment.
    pub fn segment(&mut self, start: usize, end: usize) {
        let sequence = self.sender.sequence(start);
        let octets = &self.sender.stream()[start..end];
        let frame = self.builder.segment(sequence, 1, FLAG_ACK, octets);
        self.model.receive(&frame, false);
    }

    /// The region's octets.
    pub fn region(&self) -> Vec<u8> {
        self.model
            .memory
            .read(REGION_ADDRESS, REGION_OCTETS)
            .expect("mapped")
    }

    /// The octets of the buffer for message `msn` of queue `qn`.
    pub fn buffer(&self, qn: u32, msn: u32) -> Vec<u8> {
        let address = buffer_address(qn, msn);
        self.model
            .memory
            .read(address, BUFFER_OCTETS)
            .expect("mapped")
    }

    /// Is all memory as it was mapped?
    pub fn untouched(&self) -> bool {
        let zero = |octets: &[u8]| octets.iter().all(|&octet| octet == 0);
        let queues = (0..3).flat_map(|qn| (1..=BUFFERS as u32).map(move |msn| (qn, msn)));
        zero(&self.region())
            && queues
                .into_iter()
                .all(|(qn, msn)| zero(&self.buffer(qn, msn)))
    }

    /// A counter.
    pub fn counter(&self, counter: Counter) -> u32 {
        self.model.counters()[counter.index()].1
    }

    /// Every counter that is not zero, `frames` excepted.
    pub fn counted(&self) -> Vec<(Counter, u32)> {
        let mut counters = self.model.counters();
        counters.retain(|&(counter, count)| count > 0 && counter != Counter::Frames);
        counters
    }

    /// The error that stopped the connection, from counters, trace and completion alike.
    pub fn stopped(&self) -> Option<StreamError> {
        assert_eq!(
            self.model.memory.violations,
            [],
            "no write leaves mapped memory"
        );
        let counters = self.model.counters();
        let counted: Vec<StreamError> = ALL
            .into_iter()
            .filter(|&error| counters[FIRST_REFUSAL + error as usize - 1].1 > 0)
            .collect();
        let traced: Vec<u8> = self
            .model
            .fpdus
            .iter()
            .map(|fpdu| fpdu.error)
            .filter(|&error| error > 0)
            .collect();
        assert!(counted.len() <= 1, "a connection stops once: {counted:?}");
        let error = counted.first().copied();
        assert_eq!(
            traced,
            error
                .map(|error| error as u8)
                .into_iter()
                .collect::<Vec<_>>()
        );
        let reported: Vec<_> = self
            .completions()
            .into_iter()
            .filter_map(|completion| match completion {
                Completion::Error {
                    layer,
                    error_type,
                    code,
                    ..
                } => Some((layer, error_type, code)),
                _ => None,
            })
            .collect();
        assert_eq!(
            reported,
            error
                .map(StreamError::terminate)
                .into_iter()
                .collect::<Vec<_>>()
        );
        error
    }

    /// All completions.
    pub fn completions(&self) -> Vec<Completion> {
        let decode = |entry: &Entry| {
            let [a, b, c, d, e, f, g] = entry.words;
            Completion::decode([a, b, c, d, e, f, g, 0])
        };
        self.model.completions.iter().map(decode).collect()
    }

    /// The frames given to the host, after the headers of their slots.
    pub fn host_frames(&self) -> Vec<Vec<u8>> {
        let slots = self.model.host_slots.iter();
        slots
            .map(|slot| slot[HEADER_OCTETS_COMPARED..].to_vec())
            .collect()
    }
}

/// Bus address of the buffer for message `msn` of queue `qn`.
pub fn buffer_address(qn: u32, msn: u32) -> u64 {
    BUFFER_ADDRESS + QUEUE_DISTANCE * u64::from(qn) + BUFFER_DISTANCE * u64::from(msn & 0xff)
}

/// The region as it is registered.
pub fn region() -> RegionConfig {
    RegionConfig {
        stag: STAG,
        rights: RIGHTS,
        protection_domain: DOMAIN,
        connection: None,
        tagged_offset: REGION_TO,
        octets: REGION_OCTETS as u64,
        address: REGION_ADDRESS,
    }
}

/// `octets` octets, none of which is zero.
pub fn pattern(octets: usize) -> Vec<u8> {
    (0..octets).map(|at| (at % 251 + 1) as u8).collect()
}
