//! One end of a connection: a queue pair of `rnic-iwarp` sends, a model receives.

use crate::frame::frame;
use rnic_abi::tables::{RIGHT_READ_SINK, RIGHT_REMOTE_INVALIDATE, RIGHT_REMOTE_WRITE};
use rnic_driver::{Completion, ConnectionConfig, ConnectionId, ConnectionKey};
use rnic_driver::{QueueId, Reason, RegionConfig};
use rnic_iwarp::framer::{Crc, Piece, Pieces, Record, Unreadable};
use rnic_iwarp::queue_pair::{Delivered, Host, Limits, QueuePair, ReadRefusal, Received};
use rnic_iwarp::startup::Agreed;
use rnic_iwarp::terminate::Refused;
use rnic_model::ddp::{Buffer, Read};
use rnic_model::Model;
use rnic_wire::ddp::errors::Cause;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::mpa::crc32c;
use std::net::SocketAddr;

/// STag that the peer writes.
pub const WRITE_STAG: u32 = 0x100;
/// STag that responses to our Reads write.
pub const SINK_STAG: u32 = 0x200;
/// STag of memory that the peer reads: the application's, of which no device knows.
pub const SOURCE_STAG: u32 = 0x300;
/// The first of the STags that the peer may invalidate; they are 256 apart.
pub const INVALIDATE_STAG: u32 = 0x1000;
/// How many there are of them.
pub const INVALIDATE_STAGS: u32 = 64;
/// Octets of each region, and of the source.
pub const REGION_OCTETS: usize = 200_000;
/// Octets of a receive buffer.
pub const BUFFER_OCTETS: u32 = 20_000;
/// Tagged Offset of the first octet of each region.
pub const REGION_TO: u64 = 0xffff_0000;
/// Receives of each end.
pub const RECEIVES: u64 = 40;

const CONNECTION: ConnectionId = ConnectionId(9);
const DOMAIN: u16 = 3;
const WRITE_ADDRESS: u64 = 0x1000_0000;
const SINK_ADDRESS: u64 = 0x2000_0000;
const BUFFERS_ADDRESS: u64 = 0x4000_0000;
const BUFFERS_DISTANCE: u64 = 0x1_0000;
const SEND_QUEUE: u32 = 0;
const READ_QUEUE: u32 = 1;
const TERMINATE_QUEUE: u32 = 2;

/// What the queue pair asks for: the device, which is a model, and the application's memory.
pub struct Device {
    pub model: Model,
    /// What is sent, written, and read by the peer.
    pub source: Vec<u8>,
    pub invalidated: Vec<u32>,
    buffers: u64,
    reads: u32,
}

impl Device {
    fn post(&mut self, qn: u32, octets: u32) {
        let address = BUFFERS_ADDRESS + self.buffers * BUFFERS_DISTANCE;
        self.buffers += 1;
        self.model.memory.map(address, octets as usize);
        let pool_entry = self.buffers as u32;
        let buffer = Buffer {
            address,
            octets,
            pool_entry,
        };
        self.model.post_receive(CONNECTION, qn, buffer);
    }

    fn register(&mut self, stag: u32, rights: u32, address: u64) {
        self.model.regions.register(&RegionConfig {
            stag,
            rights,
            protection_domain: DOMAIN,
            connection: Some(CONNECTION),
            tagged_offset: REGION_TO,
            octets: REGION_OCTETS as u64,
            address,
        });
    }

    /// The octets of the region that the peer writes, or of that of our Reads.
    pub fn region(&self, stag: u32) -> Vec<u8> {
        let address = match stag {
            WRITE_STAG => WRITE_ADDRESS,
            _ => SINK_ADDRESS,
        };
        let octets = self.model.memory.read(address, REGION_OCTETS);
        octets.expect("mapped")
    }
}

impl Host for Device {
    fn read(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Unreadable> {
        let from = piece.offset as usize;
        let octets = self.source.get(from..from + into.len());
        into.copy_from_slice(octets.ok_or(Unreadable)?);
        Ok(())
    }

    fn read_source(&mut self, stag: u32, to: u64, octets: u32) -> Result<Pieces, ReadRefusal> {
        if stag != SOURCE_STAG {
            return Err(ReadRefusal::Stag);
        }
        let piece = Piece {
            region: 0,
            offset: to,
            octets,
        };
        Ok(Pieces::new(&[piece]).expect("one piece"))
    }

    fn invalidated(&mut self, stag: u32) {
        self.invalidated.push(stag);
    }

    fn expect_read(&mut self, stag: u32, offset: u64, octets: u32) {
        self.reads += 1;
        let read = Read {
            stag,
            offset,
            octets,
            pool_entry: 1000 + self.reads,
        };
        self.model.post_read(CONNECTION, read);
    }

    fn repost_read_buffer(&mut self) {
        self.post(READ_QUEUE, 28);
    }
}

/// A queue pair, its device, and the way to the other end.
pub struct End {
    pub pair: QueuePair,
    pub device: Device,
    /// Messages of queue 0, and the Terminate of queue 2, as they were delivered.
    pub delivered: Vec<Vec<u8>>,
    pub terminate: Option<Vec<u8>>,
    /// Frames of this end.
    local: SocketAddr,
    remote: SocketAddr,
    sequence_start: u32,
    peer_sequence_start: u32,
    emss_octets: usize,
    completions_seen: usize,
    out: Vec<u8>,
}

impl End {
    /// An end in full operation; `sequence_starts` are SeqStart of what it sends and receives.
    pub fn new(
        agreed: &Agreed,
        emss_octets: usize,
        ends: [SocketAddr; 2],
        sequence_starts: [u32; 2],
        source: Vec<u8>,
    ) -> Self {
        let [local, remote] = ends;
        let mut model = Model::new(2048);
        let config = ConnectionConfig {
            key: ConnectionKey { remote, local },
            sequence_start: sequence_starts[1],
            window: 1 << 20,
            seg_ack: 0,
            seg_wnd: 0,
            markers: agreed.markers_in,
            crc: agreed.crc,
            version: agreed.version,
            protection_domain: DOMAIN,
            completion_queue: QueueId(0),
        };
        model.open_connection(CONNECTION, &config);
        (0..3).for_each(|qn| model.open_queue(CONNECTION, qn));
        model.memory.map(WRITE_ADDRESS, REGION_OCTETS);
        model.memory.map(SINK_ADDRESS, REGION_OCTETS);
        let mut device = Device {
            model,
            source,
            invalidated: Vec::new(),
            buffers: 0,
            reads: 0,
        };
        device.register(WRITE_STAG, RIGHT_REMOTE_WRITE, WRITE_ADDRESS);
        device.register(SINK_STAG, RIGHT_READ_SINK, SINK_ADDRESS);
        for n in 0..INVALIDATE_STAGS {
            let stag = INVALIDATE_STAG + n * 256;
            let rights = RIGHT_REMOTE_WRITE | RIGHT_REMOTE_INVALIDATE;
            device.register(stag, rights, WRITE_ADDRESS);
        }
        let mut pair = QueuePair::new(agreed, emss_octets, Limits::default());
        for id in 0..RECEIVES {
            pair.post_receive(1000 + id).expect("room");
            device.post(SEND_QUEUE, BUFFER_OCTETS);
        }
        (0..agreed.ird).for_each(|_| device.post(READ_QUEUE, 28));
        device.post(TERMINATE_QUEUE, 52);
        Self {
            pair,
            device,
            delivered: Vec::new(),
            terminate: None,
            local,
            remote,
            sequence_start: sequence_starts[0],
            peer_sequence_start: sequence_starts[1],
            emss_octets,
            completions_seen: 0,
            out: Vec::new(),
        }
    }

    /// The frames of the next record, and where it ends in the stream.
    pub fn transmit(&mut self) -> Option<(Vec<Vec<u8>>, u64)> {
        let record = self.pair.transmit(&mut self.device, &mut self.out)?;
        let octets = match record {
            Record::Copied { .. } => self.out.clone(),
            Record::Scatter(fpdu) => {
                let mut octets = fpdu.head.as_slice().to_vec();
                for piece in fpdu.payload.as_slice() {
                    let start = octets.len();
                    octets.resize(start + piece.octets as usize, 0);
                    let read = self.device.read(piece, &mut octets[start..]);
                    read.expect("it is not changed before it is acknowledged");
                }
                octets.extend_from_slice(fpdu.trailer.as_slice());
                if fpdu.crc == Crc::Device {
                    let covered = octets.len() - 4;
                    let crc = crc32c::field(&octets[..covered]);
                    octets[covered..].copy_from_slice(&crc);
                }
                octets
            }
        };
        let begin = record.end() - octets.len() as u64;
        let segments = octets.chunks(self.emss_octets).enumerate();
        let frames = segments.map(|(n, segment)| {
            let offset = begin as usize + n * self.emss_octets;
            let sequence = self.sequence_start.wrapping_add(offset as u32);
            frame(self.local, self.remote, sequence, segment)
        });
        Some((frames.collect(), record.end()))
    }

    /// The device receives frames, and the queue pair what the device says of them.
    pub fn receive(&mut self, frames: &[Vec<u8>]) {
        for frame in frames {
            self.device.model.receive(frame, false);
        }
        let event = self.device.model.take_event(CONNECTION.0);
        if event.is_some_and(|event| event.reasons.contains(Reason::FirstFpdu)) {
            let first = Received::FirstFpdu;
            self.pair.on_received(first, &mut self.device);
        }
        while let Some(entry) = self.device.model.completions.get(self.completions_seen) {
            self.completions_seen += 1;
            let mut words = [0; 8];
            words[..7].copy_from_slice(&entry.words);
            let announced = entry.announced.clone().unwrap_or_default();
            self.complete(Completion::decode(words), announced);
        }
    }

    fn complete(&mut self, completion: Completion, octets: Vec<u8>) {
        let payload = &octets;
        let received = match completion {
            Completion::Receive { qn, msn, .. } if qn == READ_QUEUE => {
                Received::ReadRequest { msn, payload }
            }
            Completion::Receive { qn, .. } if qn == TERMINATE_QUEUE => {
                self.terminate = Some(octets.clone());
                Received::Terminate { payload }
            }
            Completion::Receive {
                opcode,
                msn,
                length,
                invalidated_stag,
                ..
            } => {
                self.delivered.push(octets.clone());
                let opcode = Opcode::from(opcode as u8);
                let delivered = Delivered::new(opcode, msn, length, invalidated_stag);
                Received::Send(delivered.expect("a Send"))
            }
            Completion::ReadResponse { .. } => Received::ReadResponse,
            Completion::Error {
                layer,
                error_type,
                code,
                ulpdu_length,
                sequence,
                header,
                ..
            } => Received::Refused {
                cause: Cause {
                    layer: layer as u8,
                    error_type: error_type as u8,
                    code: code as u8,
                },
                stream_offset: u64::from(sequence.wrapping_sub(self.peer_sequence_start)),
                segment: header
                    .and_then(|header| Refused::new(ulpdu_length as u16, header.octets())),
            },
            Completion::Unknown(words) => panic!("{words:x?}"),
        };
        self.pair.on_received(received, &mut self.device);
    }
}
