//! The model as a receiver under test.

use crate::play::dut::{Buffer, Dut, Entry, Observation, ReadSink, StreamState};
use crate::play::events::Acknowledgement;
use crate::play::rtl::is_looped;
use rnic_abi::counters::Counter;
use rnic_abi::host_ring::SLOT_HEADER_OCTETS;
use rnic_abi::limits::CONNECTIONS;
use rnic_driver::{
    Completion, Config, ConnectionConfig, ConnectionId, DriverError, Event, OutOfOrderRange,
    Posted, RegionConfig, WindowConfig,
};
use rnic_model::{self as model, ddp, Model, Room};
use std::collections::BTreeMap;
use std::ops::Range;

/// Alone, the model has no pool: its entries are all called 0.
const NO_POOL: Posted = Posted {
    msn: 0,
    pool_entry: 0,
};

/// The model with the driver's bookkeeping.
#[derive(Debug)]
pub struct Software {
    model: Model,
    /// Of each open connection SEG.ACK and SEG.WND as they were one after the other.
    open: BTreeMap<u16, Vec<Acknowledgement>>,
    loopback: bool,
}

impl Software {
    /// A model of the device as `config` sets it up, but for the reserve of pages in order: the
    /// model's memory has no end. With `loopback` the device itself sends the frames that it can.
    pub fn new(config: &Config, loopback: bool) -> Self {
        let slot = 1usize << config.host_slot_octets_log2;
        let mut model = Model::new(slot - SLOT_HEADER_OCTETS);
        model.ooo_pool.pages_max = config.out_of_order_pages;
        model.ooo_pool.share = config.out_of_order_share;
        model.host_ring_room = 1 << config.host_slots_log2;
        Self {
            model,
            open: BTreeMap::new(),
            loopback,
        }
    }
}

impl Software {
    /// Note what the connection of the segment judged last has kept of it.
    fn note_acknowledgement(&mut self) {
        let Some(connection) = self.model.take_touched() else {
            return;
        };
        let tcp = self.model.tcp(ConnectionId(connection));
        let (Some(tcp), Some(noted)) = (tcp, self.open.get_mut(&connection)) else {
            return;
        };
        let acknowledged = (tcp.seg_ack, tcp.seg_wnd);
        if noted.last() != Some(&acknowledged) {
            noted.push(acknowledged);
        }
    }
}

impl Dut for Software {
    fn map(&mut self, _name: &str, address: u64, octets: usize) -> bool {
        self.model.memory.map(address, octets);
        true
    }

    fn open(&mut self, config: &ConnectionConfig) -> Result<ConnectionId, DriverError> {
        let exhausted = DriverError::Exhausted {
            what: "connection",
            limit: CONNECTIONS,
        };
        let free = (0..CONNECTIONS as u16).find(|id| !self.open.contains_key(id));
        let connection = ConnectionId(free.ok_or(exhausted)?);
        self.model.open_connection(connection, config);
        let tcp = self.model.tcp(connection).expect("it is open");
        let first = (tcp.seg_ack, tcp.seg_wnd);
        self.open.insert(connection.0, vec![first]);
        Ok(connection)
    }

    fn close(&mut self, connection: ConnectionId) -> Result<(), DriverError> {
        self.open.remove(&connection.0);
        self.model.close_connection(connection);
        Ok(())
    }

    fn set_window(&mut self, connection: ConnectionId, window: u32) -> Result<(), DriverError> {
        self.model.set_window(connection, window);
        Ok(())
    }

    fn open_queue(
        &mut self,
        connection: ConnectionId,
        qn: u32,
        _log2: u32,
        first_msn: u32,
    ) -> Result<(), DriverError> {
        self.model.open_queue_at(connection, qn, first_msn);
        Ok(())
    }

    fn post(
        &mut self,
        connection: ConnectionId,
        qn: u32,
        buffer: Buffer,
        posted: Option<Posted>,
    ) -> Result<Posted, DriverError> {
        let posted = posted.unwrap_or(NO_POOL);
        let Buffer { address, octets } = buffer;
        let buffer = ddp::Buffer {
            address,
            octets,
            pool_entry: posted.pool_entry,
        };
        self.model.post_receive(connection, qn, buffer);
        Ok(posted)
    }

    fn post_read(
        &mut self,
        connection: ConnectionId,
        read: ReadSink,
        posted: Option<Posted>,
    ) -> Result<Posted, DriverError> {
        let posted = posted.unwrap_or(NO_POOL);
        let read = ddp::Read {
            stag: read.stag,
            offset: read.offset,
            octets: read.octets,
            pool_entry: posted.pool_entry,
        };
        self.model.post_read(connection, read);
        Ok(posted)
    }

    fn register(&mut self, config: &RegionConfig) -> Result<(), DriverError> {
        self.model.register(config);
        Ok(())
    }

    fn renew(&mut self, config: &RegionConfig) -> Result<(), DriverError> {
        self.model.register(config);
        Ok(())
    }

    fn deregister(&mut self, stag: u32) -> Result<(), DriverError> {
        self.model.deregister(stag);
        Ok(())
    }

    fn bind(&mut self, _window: &WindowConfig, config: &RegionConfig) -> Result<(), DriverError> {
        self.register(config)
    }

    fn unbind(&mut self, stag: u32) -> Result<(), DriverError> {
        self.deregister(stag)
    }

    fn state(&mut self, connection: ConnectionId) -> Option<StreamState> {
        let tcp = self.model.tcp(connection)?;
        let sequence = |position: u64| tcp.rcv_nxt.wrapping_add(position as u32);
        let ranges = tcp.out_of_order.ranges().map(|range| OutOfOrderRange {
            left: sequence(range.start),
            right: sequence(range.end),
        });
        Some(StreamState {
            rcv_nxt: tcp.rcv_nxt,
            seg_ack: tcp.seg_ack,
            seg_wnd: tcp.seg_wnd,
            fin_seen: tcp.fin.is_some(),
            ranges: ranges.collect(),
            pages: tcp.out_of_order.pages(),
            duplicate_acks: tcp.duplicate_acks,
        })
    }

    fn expected_events(&self, connection: ConnectionId) -> Option<Event> {
        self.model.tcp(connection)?.event(connection)
    }

    fn acknowledged(&self, connection: ConnectionId) -> Vec<Acknowledgement> {
        self.open.get(&connection.0).cloned().unwrap_or_default()
    }

    fn cut_at_window(&self, connection: ConnectionId) -> u64 {
        self.model
            .tcp(connection)
            .map_or(0, |tcp| tcp.cut_at_window)
    }

    fn push(&mut self, frame: &[u8], room: Room) -> Room {
        if self.loopback && is_looped(frame) {
            self.model.note_sent();
        }
        self.model.receive_with(frame, false, room);
        self.note_acknowledgement();
        self.model.refused
    }

    fn settle(&mut self) {
        self.model.mark_idle();
    }

    fn observe(&mut self) -> Observation {
        self.model.empty_host_ring();
        let entries = std::mem::take(&mut self.model.completions);
        let decode = |entry: &model::Entry| {
            let [a, b, c, d, e, f, g] = entry.words;
            Completion::decode([a, b, c, d, e, f, g, 0])
        };
        let entry = |entry: model::Entry| Entry {
            queue: entry.queue,
            words: entry.words,
            announced: entry.announced,
        };
        Observation {
            completions: entries.iter().map(decode).collect(),
            entries: entries.into_iter().map(entry).collect(),
            host_slots: std::mem::take(&mut self.model.host_slots),
            segments: std::mem::take(&mut self.model.segments),
            fpdus: std::mem::take(&mut self.model.fpdus),
            events: Vec::new(),
        }
    }

    fn read(&self, address: u64, octets: usize) -> Vec<u8> {
        let found = self.model.memory.read(address, octets);
        found.expect("the player reads only what it mapped")
    }

    fn written(&self, address: u64, octets: u64) -> Vec<Range<u64>> {
        self.model.memory.written(address, octets)
    }

    fn may_hold(&self) -> Vec<(u64, Vec<u8>)> {
        let placements = self.model.out_of_order_placements();
        placements
            .map(|placement| (placement.address, placement.data.clone()))
            .collect()
    }

    fn counters(&mut self) -> Vec<(Counter, u32)> {
        self.model.counters()
    }

    fn waits_beyond_gap(&self, connection: ConnectionId) -> bool {
        self.model.waits_beyond_gap(connection)
    }

    fn fpdu_begun(&self, connection: ConnectionId) -> Option<Range<u32>> {
        self.model.fpdu_begun(connection)
    }

    fn starts_disagree(&mut self, connection: ConnectionId, sequence: u32) {
        self.model.starts_disagree(connection, sequence);
    }

    fn violations(&self) -> Vec<String> {
        let outside = |&(address, octets): &(u64, usize)| {
            format!("model: {octets} octets at {address:#x} lie outside mapped memory")
        };
        self.model.memory.violations.iter().map(outside).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK, FLAG_FIN};
    use crate::traffic::StreamConfig;

    /// Each of what the state holds changes with one segment, so that comparing it says something.
    #[test]
    fn a_segment_more_shows_in_the_state() {
        let builder = FrameBuilder::new(Endpoint::host(1, 4000), Endpoint::host(2, 7174));
        let stream = StreamConfig::default();
        let start = stream.sequence_start;
        let segment = |offset: u32, acknowledgement: u32, flags: u8| {
            builder.segment(start + offset, acknowledgement, FLAG_ACK | flags, &[7; 100])
        };
        let state = |frames: &[Vec<u8>]| {
            let mut software = Software::new(&Config::default(), false);
            let config = builder.connection(&stream, 1000, 1);
            let connection = software.open(&config).expect("the first one");
            for frame in frames {
                software.push(frame, Room::Enough);
            }
            let state = software.state(connection).expect("it is open");
            (state, software.cut_at_window(connection))
        };
        let (before, cut) = state(&[segment(0, 5, 0)]);
        assert_eq!(
            (before.rcv_nxt, before.seg_ack, before.seg_wnd),
            (start + 100, 5, 0xffff)
        );
        assert_eq!(
            (before.fin_seen, before.pages, before.duplicate_acks, cut),
            (false, 0, 0, 0)
        );
        let (out_of_order, _) = state(&[segment(0, 5, 0), segment(200, 5, 0)]);
        let (left, right) = (start + 200, start + 300);
        assert_eq!(out_of_order.ranges, [OutOfOrderRange { left, right }]);
        assert_eq!((out_of_order.pages, out_of_order.duplicate_acks), (1, 1));
        let (again, _) = state(&[segment(0, 5, 0), segment(0, 6, 0)]);
        // A duplicate is not acceptable, so its SEG.ACK does not count.
        assert_eq!((again.duplicate_acks, again.seg_ack), (1, 5));
        let (finished, _) = state(&[segment(0, 5, FLAG_FIN)]);
        assert!(finished.fin_seen);
        let (edge, cut) = state(&[segment(0, 5, 0), segment(1050, 5, FLAG_FIN)]);
        assert_eq!(
            (edge.ranges[0].right, edge.fin_seen, cut),
            (start + 1100, false, 1)
        );
    }
}
