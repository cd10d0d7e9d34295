//! A flow's connection: opened with its regions, queues and buffers, attended to, and closed.

use super::active::{Active, Expected, Posting};
use super::region::{Region, Shared};
use super::run::Player;
use crate::play::compare::Piece;
use crate::play::conditions::Condition;
use crate::play::difference::What;
use crate::play::dut::{each, Buffer, ReadSink};
use crate::play::tally::Place;
use rnic_abi::limits::{MAX_RECEIVE_WINDOW, READ_QUEUE, RECEIVE_POOL};
use rnic_driver::{
    ConnectionConfig, ConnectionId, ConnectionKey, DriverError, Posted, RegionConfig,
};
use std::collections::{BTreeMap, BTreeSet};

/// Unmapped octets between pieces: a write past an end is seen.
const GUARD_OCTETS: u64 = 4096;
/// Entries of the receive pool for Sends; the queues of Read Requests, Terminates and reads have a
/// quarter as many each.
const POOL_FOR_SENDS: usize = RECEIVE_POOL / 2;

/// Frames from one look at a queue that lacks a buffer to the next.
const OVERDUE_FRAMES: usize = 16;

impl Player<'_> {
    pub(super) fn allocate(&mut self, name: &str, octets: u64) -> Result<u64, DriverError> {
        // An odd distance from page starts, so that placements meet every alignment of the bus.
        let address = self.next_address + (self.next_address >> 12) % 64;
        self.next_address = (address + octets + GUARD_OCTETS).next_multiple_of(GUARD_OCTETS);
        for dut in &mut self.duts {
            if !dut.map(name, address, octets.max(1) as usize) {
                return Err(DriverError::OutOfMemory {
                    name: name.to_owned(),
                    octets: octets as usize,
                });
            }
        }
        Ok(address)
    }

    /// Open the connection of a flow, with the regions and queues that it will use.
    pub(super) fn open(&mut self, flow: usize, sequence_start: u32) -> Result<(), DriverError> {
        let known = &self.flows[flow];
        let config = ConnectionConfig {
            key: ConnectionKey {
                remote: known.source,
                local: known.destination,
            },
            sequence_start,
            window: self.options.conditions.window(flow),
            // What software has seen last; no segment here repeats it.
            seg_ack: sequence_start.rotate_left(16),
            seg_wnd: sequence_start as u16,
            markers: known.markers,
            crc: known.crc,
            version: known.revision.min(1),
            protection_domain: self.domain(flow),
            completion_queue: self.completion_queue(flow)?,
        };
        if config.window < MAX_RECEIVE_WINDOW {
            self.meet(Condition::SmallWindow);
        }
        let connection = each(&mut self.duts, |dut| dut.open(&config))?;
        self.tallies
            .iter_mut()
            .for_each(|tally| tally.open(flow, connection));
        self.note(|log, cycle| log.open(cycle, flow, connection, &config));
        let mut regions = self.map_regions(flow, connection)?;
        self.register_first(&mut regions)?;
        let mut queues = self.map_messages(flow)?;
        queues.insert(READ_QUEUE as u32, self.map_reads(flow));
        for (&qn, messages) in &queues {
            let conditions = &self.options.conditions;
            let needed = queue_log2(qn, messages.len(), self.flows.len());
            let log2 = needed.min(conditions.queue_entries_log2_max);
            let first_msn = self.first_msn(flow, qn);
            each(&mut self.duts, |dut| {
                dut.open_queue(connection, qn, log2, first_msn)
            })?;
            if log2 < needed {
                self.meet(Condition::SmallReceiveQueue);
            }
        }
        self.active.insert(
            flow,
            Active {
                connection,
                queues,
                regions,
                right_edge: sequence_start.wrapping_add(config.window),
                withheld_until: 0,
            },
        );
        Ok(())
    }

    /// The regions that a flow is the first one to use; those of other flows it shares.
    fn map_regions(
        &mut self,
        flow: usize,
        connection: ConnectionId,
    ) -> Result<Vec<Region>, DriverError> {
        let plan = self.plan;
        let of_flow = |place: &usize| plan.regions[*place].flows.contains(&flow);
        let places: Vec<usize> = (0..plan.regions.len()).filter(of_flow).collect();
        let mut regions = Vec::new();
        for &place in &places {
            if let Some(shared) = self.shared.get_mut(&place) {
                shared.users.insert(flow);
                let config = shared.config;
                self.place_own(flow, &config);
                continue;
            }
            let known = &plan.regions[place];
            let mut region = known.region.clone();
            let mut domain = self.domain(flow);
            if let Some(overrides) = &self.options.regions {
                // A file names all regions there are; others do not exist.
                let given = overrides
                    .iter()
                    .find(|given| given.applies(flow, region.stag));
                let Some(given) = given else {
                    continue;
                };
                given.apply(&mut region, &mut domain);
            }
            let index = region.stag >> 8;
            let same = plan.regions.iter().filter(|r| r.region.stag >> 8 == index);
            let alone = known.flows.len() == 1 && same.count() == 1;
            let region = self.map_region(flow, connection, region, domain, alone, place)?;
            if known.flows.len() == 1 {
                self.place(flow, region.config.stag, &region.config);
            } else {
                self.place_own(flow, &region.config);
                let shared = Shared {
                    config: region.config,
                    users: BTreeSet::from([flow]),
                };
                self.shared.insert(place, shared);
            }
            regions.push(region);
        }
        Ok(regions)
    }

    /// Protection Domain of a flow: its own, or that of the flows it shares regions with.
    fn domain(&self, flow: usize) -> u16 {
        let first = self.plan.domains.get(&flow).copied();
        let first = first.map_or(flow, usize::from);
        self.options.conditions.domain(first)
    }

    /// Of a shared region every tally knows the octets that the flow itself writes.
    fn place_own(&mut self, flow: usize, config: &RegionConfig) {
        let stag = config.stag;
        let mut own = self.flows[flow].regions.iter();
        let Some(own) = own.find(|region| region.stag == stag) else {
            return;
        };
        let place = RegionConfig {
            address: config.address + own.base.wrapping_sub(config.tagged_offset),
            tagged_offset: own.base,
            octets: own.octets,
            ..*config
        };
        self.place(flow, stag, &place);
    }

    /// Every tally knows where a region lies.
    pub(super) fn place(&mut self, flow: usize, stag: u32, config: &RegionConfig) {
        let place = Place {
            address: config.address,
            base: config.tagged_offset,
            octets: config.octets,
        };
        let tallies = self.tallies.iter_mut();
        tallies.for_each(|tally| tally.region(flow, stag, place));
        self.note(|log, cycle| log.region(cycle, flow, stag, place));
    }

    /// The MSN that a queue of a flow begins with: where the capture begins in mid-connection, what
    /// is seen first there.
    fn first_msn(&self, flow: usize, qn: u32) -> u32 {
        let seen = self.flows[flow].first_msns.get(&qn).copied();
        seen.unwrap_or(self.options.conditions.first_msn)
    }

    fn map_messages(&mut self, flow: usize) -> Result<BTreeMap<u32, Vec<Expected>>, DriverError> {
        let mut queues: BTreeMap<u32, Vec<(usize, u32)>> =
            (0..3).map(|qn| (qn, Vec::new())).collect();
        let mut messages = self.flows[flow].messages.clone();
        if self.options.conditions.first_msn > 1 {
            self.meet(Condition::MsnWrap);
        }
        messages.sort_by_key(|message| {
            let first_msn = self.first_msn(flow, message.qn);
            (message.qn, message.msn.wrapping_sub(first_msn))
        });
        for message in messages {
            let Some(queue) = queues.get_mut(&message.qn) else {
                continue;
            };
            let position = queue.len();
            let slack = self.options.conditions.buffer(flow, message.qn, position);
            match slack {
                1.. => self.meet(Condition::LargerBuffer),
                0 => {}
                _ => self.meet(Condition::ShorterBuffer),
            }
            let octets = message.octets.saturating_add_signed(slack as i32);
            queue.push((message.first_frame, octets));
        }
        let mut expected: BTreeMap<u32, Vec<Expected>> = BTreeMap::new();
        for (qn, queue) in queues {
            let messages = expected.entry(qn).or_default();
            for (position, (first_frame, octets)) in queue.into_iter().enumerate() {
                let address = self.allocate("receive buffer", u64::from(octets))?;
                messages.push(Expected {
                    first_frame,
                    posting: Posting::Buffer(Buffer { address, octets }),
                    posted: false,
                });
                let msn = self.first_msn(flow, qn).wrapping_add(position as u32);
                for tally in &mut self.tallies {
                    tally.buffer(flow, qn, msn, address);
                }
                self.note(|log, cycle| log.buffer(cycle, flow, (qn, msn), address));
                self.pieces.push(Piece {
                    address,
                    octets: octets.max(1) as usize,
                    flow,
                    what: What::Buffer { qn, msn },
                    cut_short: false,
                });
            }
        }
        Ok(expected)
    }

    /// The reads that a flow answers, as its receiver asked for them.
    fn map_reads(&mut self, flow: usize) -> Vec<Expected> {
        let flows = self.flows;
        let reads = flows[flow].reads.iter().enumerate();
        let expected = reads.map(|(position, read)| {
            let mut sink = ReadSink {
                stag: read.stag,
                offset: read.offset,
                octets: read.octets,
            };
            if self.options.conditions.read(flow, position, &mut sink) {
                self.meet(Condition::OtherRead);
            }
            Expected {
                first_frame: read.first_frame,
                posting: Posting::Read(sink),
                posted: false,
            }
        });
        expected.collect()
    }

    /// A region has to be renewed before frame `frame`, or a buffer may be posted.
    pub(super) fn needs_attention(&self, flow: usize, frame: usize) -> bool {
        let active = &self.active[&flow];
        let renewal = active
            .regions
            .iter()
            .any(|region| region.renewals.contains(&frame));
        let unposted = active
            .queues
            .values()
            .flatten()
            .any(|message| !message.posted);
        renewal || (unposted && frame >= active.withheld_until)
    }

    /// Renew regions that frame `frame` writes again, and post buffers: as many as fit, and those
    /// of this frame in any case.
    pub(super) fn attend(&mut self, flow: usize, frame: usize) -> Result<(), DriverError> {
        let active = &self.active[&flow];
        let posts = frame >= active.withheld_until && !self.is_over(flow);
        // A message without a buffer may be on its way through the device: it is refused there, as
        // it is in the model, before another one may be posted.
        let overdue = active
            .queues
            .values()
            .flatten()
            .any(|message| !message.posted && message.first_frame < frame);
        // It takes long to be sure, and there may be no such message at all, after a gap.
        let posts = posts && (!overdue || frame % OVERDUE_FRAMES == 0);
        let overdue = overdue && posts;
        let due = active
            .regions
            .iter()
            .filter(|region| region.renewals.contains(&frame) && !region.revoked);
        let due: Vec<RegionConfig> = due.map(|region| region.config).collect();
        if !due.is_empty() || overdue {
            self.settle();
        }
        if !due.is_empty() {
            self.retire_regions(frame)?;
        }
        for config in due {
            let index = config.stag >> 8;
            match self.registered.insert(index, config.stag) {
                Some(_) => each(&mut self.duts, |dut| dut.renew(&config))?,
                None => each(&mut self.duts, |dut| dut.register(&config))?,
            }
        }
        if posts && self.post(flow, frame)? {
            // The queue is full of buffers that were used already: let the driver see them.
            self.settle();
            self.post(flow, frame)?;
        }
        Ok(())
    }

    /// Has its stream stopped, so that no buffer will be used any more?
    fn is_over(&self, flow: usize) -> bool {
        self.tallies.iter().all(|tally| tally.flows[flow].is_over())
    }

    /// Post what fits; true if a buffer that `frame` needs did not.
    fn post(&mut self, flow: usize, frame: usize) -> Result<bool, DriverError> {
        let active = self
            .active
            .get_mut(&flow)
            .expect("attended flows are active");
        for (&qn, messages) in &mut active.queues {
            for message in messages.iter_mut().filter(|message| !message.posted) {
                let mut posted: Option<Posted> = None;
                for dut in &mut self.duts {
                    let result = match message.posting {
                        Posting::Buffer(buffer) => dut.post(active.connection, qn, buffer, posted),
                        Posting::Read(read) => dut.post_read(active.connection, read, posted),
                    };
                    match result {
                        Ok(place) => posted = Some(place),
                        Err(DriverError::QueueFull { .. }) if posted.is_none() => break,
                        Err(error) => return Err(error),
                    }
                }
                if posted.is_none() {
                    if message.first_frame <= frame {
                        return Ok(true);
                    }
                    break;
                }
                message.posted = true;
            }
        }
        Ok(false)
    }

    /// Read what a flow left in memory, then take its connection and regions away.
    pub(super) fn close(&mut self, flow: usize) -> Result<(), DriverError> {
        self.settle();
        let Some(active) = self.active.remove(&flow) else {
            return Ok(());
        };
        let connection = active.connection;
        self.collect(flow, connection);
        self.moved = true;
        each(&mut self.duts, |dut| dut.close(connection))?;
        self.note(|log, cycle| log.close(cycle, connection));
        self.close_regions(flow, active)?;
        self.tallies
            .iter_mut()
            .for_each(|tally| tally.close(connection));
        Ok(())
    }
}

/// log2 of the entries of a queue: what the messages need, within this flow's share of the pool.
pub(super) fn queue_log2(qn: u32, messages: usize, flows: usize) -> u32 {
    let share = if qn == 0 {
        POOL_FOR_SENDS
    } else {
        POOL_FOR_SENDS / 4
    } / flows.max(1);
    let share_log2 = share.max(1).ilog2();
    messages.max(1).next_power_of_two().ilog2().min(share_log2)
}
