//! A connection as a driver writes it: context by context, in any order, again and again.
//!
//! ```text
//!  LOOKUP -> key      TCP -> order      MPA -> stream      DDP -> checks      QUEUE -> buffers
//! ```
//!
//! A context that was never written is all zero, as after a reset: nothing is accepted by it.

use super::ddp::{Buffer, DdpReceiver, Outcome, Read};
use super::mpa::{Fpdu, MpaReceiver};
use super::stag::Regions;
use super::stream::Stream;
use super::tcp::TcpReceiver;
use super::Model;
use rnic_abi::counters::Counter;
use rnic_abi::errors::StreamError;
use rnic_abi::limits::READ_QUEUE;
use rnic_driver::{ConnectionId, ConnectionKey, Event, QueueId, Reasons};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

/// TCP's context (`rnic_abi::tables::TCP`).
#[derive(Copy, Clone, Debug)]
pub struct TcpContext {
    /// RCV.NXT.
    pub rcv_nxt: u32,
    /// Receive window in octets.
    pub window: u32,
    /// SEG.ACK of the last acceptable segment.
    pub seg_ack: u32,
    /// SEG.WND of that segment, unscaled.
    pub seg_wnd: u16,
    /// A FIN with payload has arrived.
    pub fin_seen: bool,
}

/// MPA's context (`rnic_abi::tables::MPA`).
#[derive(Copy, Clone, Debug)]
pub struct MpaContext {
    /// Sequence number of the first octet of full operation.
    pub sequence_start: u32,
    /// Markers are expected.
    pub markers: bool,
    /// CRC32C is checked.
    pub crc: bool,
}

impl Model {
    /// Keep no notes of FPDUs beyond a gap: nobody compares memory with the hardware's.
    pub fn forget_out_of_order(&mut self) {
        self.notes_out_of_order = false;
    }

    /// Segments of `key` belong to `connection`, or to the host.
    pub fn set_lookup(&mut self, key: ConnectionKey, connection: Option<u16>) {
        match connection {
            Some(connection) => {
                self.context(connection).key = key;
                self.lookup.insert(key, connection);
            }
            None => {
                self.lookup.remove(&key);
            }
        }
    }

    /// Write TCP's context. Returns whether octets beyond a gap were held, which are dropped.
    pub fn write_tcp(&mut self, connection: u16, context: &TcpContext) -> bool {
        let held = self.release_ranges(connection);
        let tcp = &mut self.context(connection).tcp;
        *tcp = TcpReceiver::new(context.rcv_nxt, context.window);
        (tcp.seg_ack, tcp.seg_wnd) = (context.seg_ack, context.seg_wnd);
        tcp.fin = context.fin_seen.then_some(context.rcv_nxt);
        held
    }

    /// Write the window alone.
    pub fn write_window(&mut self, connection: u16, window: u32) {
        self.context(connection).tcp.window = window;
    }

    /// Write MPA's context, which starts an empty stream.
    pub fn write_mpa(&mut self, connection: u16, context: &MpaContext) {
        let stream = self.context(connection);
        stream.mpa = MpaReceiver::new(context.sequence_start, context.markers, context.crc);
        stream.ddp.first_seen = false;
    }

    /// Write DDP's context, which ends an error.
    pub fn write_ddp(
        &mut self,
        connection: u16,
        protection_domain: u16,
        version: u8,
        queue: QueueId,
    ) {
        let stream = self.context(connection);
        stream.completion_queue = queue;
        stream.ddp.protection_domain = protection_domain;
        stream.ddp.version = version;
        stream.ddp.stopped = false;
    }

    /// Empty queue `qn`, that of reads included; with a first MSN it is open.
    pub fn write_queue(&mut self, connection: u16, qn: u32, first_msn: Option<u32>) {
        let ddp = &mut self.context(connection).ddp;
        match first_msn {
            None if (qn as usize) < READ_QUEUE => ddp.queues[qn as usize] = None,
            first_msn => ddp.open_queue_at(qn, first_msn.unwrap_or_default()),
        }
    }

    /// Post a buffer to queue `qn`, which is open.
    pub fn write_buffer(&mut self, connection: u16, qn: u32, buffer: Buffer) {
        self.context(connection).ddp.post(qn, buffer);
    }

    /// A read is outstanding.
    pub fn write_read(&mut self, connection: u16, read: Read) {
        self.context(connection).ddp.post_read(read);
    }

    /// Buffers posted to queue `qn`, or reads outstanding.
    pub fn posted(&self, connection: u16, qn: u32) -> usize {
        let stream = self.streams.get(&connection);
        stream.map_or(0, |stream| match stream.ddp.queues.get(qn as usize) {
            Some(queue) => queue.as_ref().map_or(0, |queue| queue.buffers.len()),
            None => stream.ddp.reads.len(),
        })
    }

    /// Drop what was received beyond a gap; whether there was any.
    pub fn release_ranges(&mut self, connection: u16) -> bool {
        let Some(stream) = self.streams.get_mut(&connection) else {
            return false;
        };
        let held = stream.tcp.out_of_order.octets() > 0;
        stream.tcp.out_of_order.clear(&mut self.ooo_pool);
        held
    }

    /// Drop the octets of an FPDU that is not whole.
    pub fn release_stream(&mut self, connection: u16) {
        if let Some(stream) = self.streams.get_mut(&connection) {
            stream.mpa = MpaReceiver::new(0, false, false);
        }
    }

    /// TCP's state of every connection that was written since the last reset.
    pub fn receivers(&self) -> impl Iterator<Item = (u16, &TcpReceiver)> {
        let streams = self.streams.iter();
        streams.map(|(&connection, stream)| (connection, &stream.tcp))
    }

    /// The connection whose segment was judged last, once.
    pub fn take_touched(&mut self) -> Option<u16> {
        self.touched.take()
    }

    /// What there is to report of a connection since the last call.
    pub fn take_event(&mut self, connection: u16) -> Option<Event> {
        let tcp = &mut self.streams.get_mut(&connection)?.tcp;
        let event = tcp.event(ConnectionId(connection));
        tcp.reasons = Reasons::default();
        tcp.acknowledged = None;
        event
    }

    /// What an event of the connection would report now.
    pub fn reasons(&self, connection: u16) -> Reasons {
        let stream = self.streams.get(&connection);
        stream.map_or_else(Reasons::default, |stream| stream.tcp.reasons)
    }

    /// One counter.
    pub fn counter(&self, counter: Counter) -> u32 {
        self.counters[counter.index()]
    }

    /// Count what happens outside of the receiver.
    pub fn count_outside(&mut self, counter: Counter) {
        self.count(counter);
    }

    /// After a reset: every table is empty; counters go on.
    pub fn reset(&mut self) {
        let handed_on = self.memory.handed_on.as_ref().map(|_| Vec::new());
        let fresh = Self::new(0);
        *self = Self {
            counters: self.counters,
            notes_out_of_order: self.notes_out_of_order,
            ..fresh
        };
        self.memory.handed_on = handed_on;
    }

    fn context(&mut self, connection: u16) -> &mut Stream {
        self.streams.entry(connection).or_insert_with(Stream::empty)
    }
}

impl Stream {
    /// Of contexts that are all zero.
    fn empty() -> Self {
        let nobody = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let ddp = DdpReceiver::new(0, 0);
        Self {
            key: ConnectionKey {
                remote: nobody,
                local: nobody,
            },
            completion_queue: QueueId::default(),
            tcp: TcpReceiver::new(0, 0),
            mpa: MpaReceiver::new(0, false, false),
            ddp_when_idle: ddp.clone(),
            ddp,
            contradicted: None,
            delivered: None,
            out_of_order: BTreeMap::new(),
        }
    }
}

impl DdpReceiver {
    /// Does the FPDU complete a message or a read now? Nothing is changed.
    pub(super) fn completes(&self, connection: u16, fpdu: &Fpdu, regions: &Regions) -> bool {
        let mut trial = self.clone();
        let outcome = trial.receive(connection, fpdu, &mut regions.clone());
        outcome.completion.is_some()
    }

    /// Its completion queue has no room for the entry: nothing of the FPDU is done.
    pub(super) fn overflow(&mut self) -> Outcome {
        self.stopped = true;
        self.first_seen = true;
        Outcome {
            error: Some(StreamError::CqOverflow),
            ..Outcome::default()
        }
    }
}
