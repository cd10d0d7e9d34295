//! A flow's connection: opened with its regions, queues and buffers, attended to, and closed.

use super::{each, Player};
use crate::capture::RegionUse;
use crate::play::dut::Buffer;
use crate::play::tally::Place;
use rnic_abi::limits::{MAX_RECEIVE_WINDOW, RECEIVE_POOL};
use rnic_driver::{Connection, ConnectionConfig, ConnectionKey, DriverError, Posted, RegionConfig};
use std::collections::BTreeMap;

/// Unmapped octets between pieces: a write past an end is seen.
const GUARD_OCTETS: u64 = 4096;
/// Entries of the receive pool left for the queues of Read Requests and Terminates.
const POOL_FOR_SENDS: usize = RECEIVE_POOL / 2;

/// A message that a flow will bring, and its buffer.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) first_frame: usize,
    pub(super) buffer: Buffer,
    pub(super) posted: bool,
}

/// A region of a flow.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) config: RegionConfig,
    /// Registered with the connection.
    pub(super) initial: bool,
    /// Frames before which it must be made valid again.
    pub(super) renewals: Vec<usize>,
    /// Taken away by a hostile deed.
    pub(super) revoked: bool,
}

/// A flow while its connection is offloaded.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) connection: Connection,
    /// Messages by queue, in order of their MSN.
    pub(super) queues: BTreeMap<u32, Vec<Expected>>,
    pub(super) regions: Vec<Region>,
    /// No buffers are posted before this frame.
    pub(super) withheld_until: usize,
}

impl Player<'_> {
    fn allocate(&mut self, name: &str, octets: u64) -> u64 {
        // An odd distance from page starts, so that placements meet every alignment of the bus.
        let address = self.next_address + (self.next_address >> 12) % 64;
        self.next_address = (address + octets + GUARD_OCTETS).next_multiple_of(GUARD_OCTETS);
        for dut in &mut self.duts {
            dut.map(name, address, octets.max(1) as usize);
        }
        address
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
            window: MAX_RECEIVE_WINDOW,
            markers: known.markers,
            crc: known.crc,
            version: known.revision.min(1),
            // Flows do not share regions: each has a Protection Domain of its own.
            protection_domain: flow as u16,
        };
        let connection = each(&mut self.duts, |dut| dut.open(&config))?;
        self.tallies
            .iter_mut()
            .for_each(|tally| tally.open(flow, connection));
        let regions = self.map_regions(flow);
        for region in regions.iter().filter(|region| region.initial) {
            each(&mut self.duts, |dut| dut.register(&region.config))?;
        }
        let queues = self.map_messages(flow);
        for (&qn, messages) in &queues {
            let log2 = queue_log2(qn, messages.len(), self.flows.len());
            each(&mut self.duts, |dut| dut.open_queue(connection, qn, log2))?;
        }
        self.active.insert(
            flow,
            Active {
                connection,
                queues,
                regions,
                withheld_until: 0,
            },
        );
        Ok(())
    }

    fn map_regions(&mut self, flow: usize) -> Vec<Region> {
        let learned = self.flows[flow].regions.clone();
        let mut regions = Vec::new();
        for known in learned {
            let mut region = known;
            let replaced = self.options.regions.as_ref();
            let mut domain = flow as u16;
            if let Some(overrides) = replaced {
                // A file names all regions there are; others do not exist.
                let Some(given) = overrides
                    .iter()
                    .find(|given| given.applies(flow, region.stag))
                else {
                    continue;
                };
                given.apply(&mut region, &mut domain);
            }
            let address = self.allocate("region", region.octets);
            for tally in &mut self.tallies {
                let (base, octets) = (region.base, region.octets);
                tally.region(
                    flow,
                    region.stag,
                    Place {
                        address,
                        base,
                        octets,
                    },
                );
            }
            let config = RegionConfig {
                stag: region.stag,
                rights: region.rights,
                protection_domain: domain,
                connection: None,
                tagged_offset: region.base,
                octets: region.octets,
                address,
            };
            let RegionUse {
                initial, renewals, ..
            } = region;
            regions.push(Region {
                config,
                initial,
                renewals,
                revoked: false,
            });
        }
        regions
    }

    fn map_messages(&mut self, flow: usize) -> BTreeMap<u32, Vec<Expected>> {
        let mut queues: BTreeMap<u32, Vec<Expected>> = (0..3).map(|qn| (qn, Vec::new())).collect();
        let mut messages = self.flows[flow].messages.clone();
        messages.sort_by_key(|message| (message.qn, message.msn.wrapping_sub(1)));
        for message in messages {
            let Some(queue) = queues.get_mut(&message.qn) else {
                continue;
            };
            queue.push(Expected {
                first_frame: message.first_frame,
                buffer: Buffer {
                    address: 0,
                    octets: message.octets,
                },
                posted: false,
            });
        }
        for (&qn, queue) in &mut queues {
            for (position, expected) in queue.iter_mut().enumerate() {
                let octets = expected.buffer.octets;
                expected.buffer.address = self.allocate("receive buffer", u64::from(octets));
                for tally in &mut self.tallies {
                    let address = expected.buffer.address;
                    tally.buffer(flow, qn, position as u32 + 1, address);
                }
            }
        }
        queues
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
        let posts = frame >= active.withheld_until;
        let due = active
            .regions
            .iter()
            .filter(|region| region.renewals.contains(&frame) && !region.revoked);
        let due: Vec<RegionConfig> = due.map(|region| region.config).collect();
        if !due.is_empty() {
            self.settle();
        }
        for config in due {
            each(&mut self.duts, |dut| dut.renew(&config))?;
        }
        if posts && self.post(flow, frame)? {
            // The queue is full of buffers that were used already: let the driver see them.
            self.settle();
            self.post(flow, frame)?;
        }
        Ok(())
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
                    match dut.post(active.connection, qn, message.buffer, posted) {
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
        let Some(active) = self.active.remove(&flow) else {
            return Ok(());
        };
        self.collect(flow, active.connection);
        self.moved = true;
        each(&mut self.duts, |dut| dut.close(active.connection))?;
        let held = |region: &&Region| region.initial && !region.revoked;
        for region in active.regions.iter().filter(held) {
            each(&mut self.duts, |dut| dut.deregister(region.config.stag))?;
        }
        self.tallies
            .iter_mut()
            .for_each(|tally| tally.close(active.connection));
        Ok(())
    }
}

/// log2 of the entries of a queue: what the messages need, within this flow's share of the pool.
fn queue_log2(qn: u32, messages: usize, flows: usize) -> u32 {
    let share = if qn == 0 {
        POOL_FOR_SENDS
    } else {
        POOL_FOR_SENDS / 4
    } / flows.max(1);
    let share_log2 = share.max(1).ilog2();
    messages.max(1).next_power_of_two().ilog2().min(share_log2)
}
