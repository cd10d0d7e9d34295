//! Log and record joined: each frame end is the next offer, each verdict belongs to the first
//! waiting segment of its flow with that sequence number and length.
//!
//! Verdicts come in the order of the frames, but a frame may be dropped without one; what a later
//! verdict passes over was dropped.

use super::building::Building;
use super::coverage::Coverage;
use super::log::{Action, Log, Offer};
use super::placements::{self, Writes};
use super::run::{Placement, Segment, SegmentKind, Stream, Timeline, TlpCount, TlpUse};
use crate::play::dut::RingAddresses;
use rnic_abi::events::{FpduTrace, SegmentTrace};
use rnic_abi::limits::PAGES;
use rnic_sim::{Event, Record, TlpKind};
use rnic_wire::mpa::fpdu::Framing;
use std::collections::{BTreeMap, HashMap, VecDeque};

#[derive(Debug)]
struct Builder<'a> {
    offers: &'a [Offer],
    rings: &'a RingAddresses,
    streams: Vec<Building>,
    /// The stream that a connection is now.
    by_connection: BTreeMap<u16, usize>,
    /// The newest stream of a flow.
    by_flow: BTreeMap<usize, usize>,
    frames: usize,
    pages: Vec<(u64, u32)>,
    tlps: BTreeMap<TlpUse, (u64, u64)>,
    writes: Writes,
    unmatched_verdicts: u64,
}

/// The timeline of a device.
pub fn build(log: Log, record: &Record, rings: &RingAddresses) -> Timeline {
    let Log { offers, actions } = log;
    let mut builder = Builder {
        offers: &offers,
        rings,
        streams: Vec::new(),
        by_connection: BTreeMap::new(),
        by_flow: BTreeMap::new(),
        frames: 0,
        pages: Vec::new(),
        tlps: BTreeMap::new(),
        writes: Writes::default(),
        unmatched_verdicts: 0,
    };
    let mut actions = actions.into_iter().peekable();
    for &(cycle, event) in &record.events {
        while let Some((at, action)) = actions.next_if(|&(at, _)| at <= cycle) {
            builder.act(at, action);
        }
        builder.take(cycle, event);
    }
    actions.for_each(|(at, action)| builder.act(at, action));
    let end_cycle = record.events.last().map_or(0, |&(cycle, _)| cycle + 1);
    builder.finish(end_cycle)
}

impl Builder<'_> {
    fn act(&mut self, cycle: u64, action: Action) {
        match action {
            Action::Open {
                flow,
                connection,
                sequence_start,
                window,
                markers,
            } => {
                self.by_connection.insert(connection, self.streams.len());
                self.by_flow.insert(flow, self.streams.len());
                self.streams.push(Building {
                    stream: Stream {
                        flow,
                        sequence_start,
                        segments: Vec::new(),
                        gaps: Vec::new(),
                        placements: Vec::new(),
                        startup_segments: 0,
                    },
                    window,
                    markers,
                    coverage: Coverage::default(),
                    arrived: Coverage::default(),
                    pending: VecDeque::new(),
                    regions: HashMap::new(),
                    buffers: HashMap::new(),
                    last_offer: 0,
                });
            }
            Action::Close { connection } => {
                if let Some(stream) = self.by_connection.remove(&connection) {
                    self.drop_pending(stream, usize::MAX);
                }
            }
            Action::Region { flow, stag, place } => {
                if let Some(building) = self.newest(flow) {
                    building.regions.insert(stag, place);
                }
            }
            Action::Buffer {
                flow,
                qn,
                msn,
                address,
            } => {
                if let Some(building) = self.newest(flow) {
                    building.buffers.insert((qn, msn), address);
                }
            }
            Action::GaveUp { flow } => {
                if let Some(building) = self.newest(flow) {
                    building.coverage.give_up(cycle);
                }
            }
            Action::TakenUpTo { flow, rcv_nxt } => {
                if let Some(building) = self.newest(flow) {
                    let position = building.position(rcv_nxt);
                    building.coverage.withdraw(building.last_offer, position);
                }
            }
        }
    }

    fn newest(&mut self, flow: usize) -> Option<&mut Building> {
        let stream = *self.by_flow.get(&flow)?;
        self.streams.get_mut(stream)
    }

    fn take(&mut self, cycle: u64, event: Event) {
        match event {
            Event::FrameEnd => {
                let index = self.frames;
                self.frames += 1;
                let flow = self.offers.get(index).and_then(|offer| offer.flow);
                if let Some(building) = flow.and_then(|flow| self.newest(flow)) {
                    building.pending.push_back((index, cycle));
                }
            }
            Event::Segment(trace) => self.take_verdict(&trace),
            Event::Fpdu(trace) => self.take_fpdu(&trace),
            Event::FromDevice {
                kind,
                address,
                octets,
            } => {
                let role = self.role(kind, address);
                self.count(role, octets);
                if role == TlpUse::Payload {
                    self.writes.add(cycle, address, octets);
                }
            }
            Event::ToDevice { kind, octets } => {
                let role = match kind {
                    TlpKind::Write => TlpUse::RegisterWrite,
                    TlpKind::Read => TlpUse::RegisterRead,
                    _ => TlpUse::Other,
                };
                self.count(role, octets);
            }
            Event::FreePages(free) => {
                self.pages
                    .push((cycle, (PAGES as u32).saturating_sub(free)));
            }
        }
    }

    fn is_completion(&self, address: u64) -> bool {
        let mut queues = self.rings.completions.iter();
        queues.any(|queue| queue.contains(&address))
    }

    fn role(&self, kind: TlpKind, address: u64) -> TlpUse {
        match kind {
            TlpKind::Write if self.is_completion(address) => TlpUse::CompletionEntry,
            TlpKind::Write if self.rings.host.contains(&address) => TlpUse::HostFrame,
            TlpKind::Write if self.rings.events.contains(&address) => TlpUse::Event,
            TlpKind::Write => TlpUse::Payload,
            TlpKind::Completion => TlpUse::RegisterValue,
            _ => TlpUse::Other,
        }
    }

    fn count(&mut self, role: TlpUse, octets: usize) {
        let (count, sum) = self.tlps.entry(role).or_default();
        *count += 1;
        *sum += octets as u64;
    }

    fn take_verdict(&mut self, trace: &SegmentTrace) {
        let stream = self.by_connection.get(&trace.connection).copied();
        let found = stream.and_then(|stream| {
            let mut pending = self.streams[stream].pending.iter();
            let place = pending.position(|&(offer, _)| {
                let offer = &self.offers[offer];
                let length = offer.payload.len() as u16;
                let same = (offer.sequence, length) == (trace.seg_seq, trace.seg_len);
                same && offer.checksum_good
            });
            Some((stream, place?))
        });
        let Some((stream, place)) = found else {
            self.unmatched_verdicts += 1;
            return;
        };
        self.drop_pending(stream, place);
        self.arrive(stream, SegmentKind::of(trace.verdict));
    }

    /// The first `count` segments that wait for a verdict get none.
    fn drop_pending(&mut self, stream: usize, count: usize) {
        for _ in 0..count.min(self.streams[stream].pending.len()) {
            self.arrive(stream, SegmentKind::Dropped);
        }
    }

    /// The first segment that waits for a verdict has it.
    fn arrive(&mut self, stream: usize, kind: SegmentKind) {
        let building = &mut self.streams[stream];
        let Some((index, cycle)) = building.pending.pop_front() else {
            return;
        };
        let offer = &self.offers[index];
        let position = building.position(offer.sequence);
        let octets = offer.payload.len() as u32;
        let end = position + i64::from(octets);
        if end <= 0 {
            building.stream.startup_segments += 1;
            return;
        }
        let is_new = building.arrived.is_new(position..end);
        let is_late = position < building.arrived.highest();
        building.arrived.accept(position..end, cycle, index);
        building.stream.segments.push(Segment {
            frame: offer.frame,
            cycle,
            kind,
            is_repeat: !is_new,
            is_late,
            sequence: offer.sequence,
            position,
            octets,
        });
        building.last_offer = index;
        if matches!(kind, SegmentKind::InOrder | SegmentKind::OutOfOrder) {
            let edge = building.coverage.prefix_end() + i64::from(building.window);
            let coverage = &mut building.coverage;
            coverage.accept(position..end.min(edge), cycle, index);
        }
    }

    fn take_fpdu(&mut self, trace: &FpduTrace) {
        if trace.placed_octets == 0 {
            return;
        }
        let Some(&stream) = self.by_connection.get(&trace.connection) else {
            return;
        };
        let building = &mut self.streams[stream];
        let position = building.position(trace.sequence);
        let framing = Framing {
            markers: building.markers,
            crc: true, // its field is there in any case
        };
        let length = usize::from(trace.ulpdu_length);
        let octets = framing.fpdu_octets(position.max(0) as u64, length) as u32;
        let positions = position..position + i64::from(octets);
        let ready = match trace.placed_out_of_order {
            true => building.coverage.whole_at(&positions),
            false => building.coverage.in_order_at(positions.end),
        };
        building.stream.placements.push(Placement {
            sequence: trace.sequence,
            position,
            octets,
            placed_octets: u32::from(trace.placed_octets),
            is_out_of_order: trace.placed_out_of_order,
            ready,
            writes: None,
        });
    }

    fn finish(mut self, end_cycle: u64) -> Timeline {
        for stream in 0..self.streams.len() {
            self.drop_pending(stream, usize::MAX);
        }
        placements::find_writes(&mut self.streams, self.offers, &mut self.writes);
        let count = |role: &TlpUse| {
            let (count, octets) = self.tlps.get(role).copied().unwrap_or_default();
            TlpCount {
                role: *role,
                count,
                octets,
            }
        };
        let tlps = TlpUse::ALL.iter().map(count).collect();
        let streams = self.streams.into_iter().map(|building| Stream {
            gaps: building.coverage.into_gaps(),
            ..building.stream
        });
        Timeline {
            streams: streams.collect(),
            pages: self.pages,
            tlps,
            end_cycle,
            unclaimed_writes: self.writes.left(),
            unmatched_verdicts: self.unmatched_verdicts,
        }
    }
}
