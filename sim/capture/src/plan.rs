//! Who plays what: each receiving host of a capture is a device of its own, and what its flows
//! share there.
//!
//! ```text
//!  frames --> destination address --> device 0: flows, Protection Domains, regions
//!                                     device 1: ...
//! ```
//!
//! STags are names that a host gives. So two hosts may use the same ones, flows of one host that
//! use the same STag at a time write to the same memory (their Protection Domain is one), and a
//! stag_index that comes again with another key was registered again.

use crate::segment::datagram;
use crate::{Capture, Flow, RegionUse};
use etherparse::ether_type;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// What one device plays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Its flows, in the order of their start.
    pub flows: Vec<usize>,
    /// Its frames, in the order of the capture.
    pub frames: Vec<usize>,
    /// Protection Domain of each flow.
    pub domains: BTreeMap<usize, u16>,
    /// The regions.
    pub regions: Vec<SharedRegion>,
}

/// A region of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRegion {
    /// What all its flows do with it together; `initial` and `renewals` are those of the device.
    pub region: RegionUse,
    /// The flows that use it.
    pub flows: BTreeSet<usize>,
    /// Frames from its first flow's start to its last flow's end.
    frames: Range<usize>,
}

/// The devices that play `capture`: one for each receiving host, or one for all.
pub fn devices(capture: &Capture, flows: &[Flow], one_device: bool) -> Vec<Plan> {
    let mut hosts: Vec<IpAddr> = Vec::new();
    let mut plans = vec![Plan::default()];
    for (number, flow) in flows.iter().enumerate() {
        let address = flow.destination.ip();
        let known = hosts.iter().position(|&host| host == address || one_device);
        let host = known.unwrap_or_else(|| {
            hosts.push(address);
            hosts.len() - 1
        });
        plans.resize(hosts.len(), Plan::default());
        plans[host].flows.push(number);
    }
    for (frame, octets) in capture.frames.iter().enumerate() {
        // What is for no receiving host (ARP, multicast) is for the first one.
        let address = destination(octets);
        let host = hosts.iter().position(|&host| Some(host) == address);
        plans[host.unwrap_or(0)].frames.push(frame);
    }
    for plan in &mut plans {
        plan.regions = regions(&plan.flows, flows);
        plan.domains = domains(&plan.flows, &plan.regions);
    }
    plans
}

/// Destination address of a frame of IP.
fn destination(frame: &[u8]) -> Option<IpAddr> {
    match datagram(frame)? {
        (ether_type::IPV4, octets) => {
            let octets: [u8; 4] = octets.get(16..20)?.try_into().ok()?;
            Some(Ipv4Addr::from(octets).into())
        }
        (_, octets) => {
            let octets: [u8; 16] = octets.get(24..40)?.try_into().ok()?;
            Some(Ipv6Addr::from(octets).into())
        }
    }
}

/// The regions of the flows `numbers`: flows that are there at the same time share an STag.
fn regions(numbers: &[usize], flows: &[Flow]) -> Vec<SharedRegion> {
    let mut regions: Vec<SharedRegion> = Vec::new();
    for &number in numbers {
        let flow = &flows[number];
        for region in &flow.regions {
            let frames = flow.first_frame..flow.last_frame.saturating_add(1);
            let same = regions
                .iter_mut()
                .find(|known| known.region.stag == region.stag && frames.start < known.frames.end);
            match same {
                Some(known) => known.join(number, region, frames),
                None => regions.push(SharedRegion {
                    region: region.clone(),
                    flows: BTreeSet::from([number]),
                    frames,
                }),
            }
        }
    }
    follow_keys(&mut regions);
    regions
}

impl SharedRegion {
    /// Another flow uses it.
    fn join(&mut self, flow: usize, region: &RegionUse, frames: Range<usize>) {
        self.flows.insert(flow);
        self.frames.end = self.frames.end.max(frames.end);
        let own = &mut self.region;
        own.rights |= region.rights;
        own.initial |= region.initial;
        own.renewals.extend(&region.renewals);
        own.uses.extend(&region.uses);
        own.uses.sort_unstable();
        if region.octets > 0 {
            own.widen(region.base, region.octets);
        }
    }
}

/// Where flows of one time use a stag_index with different keys, the one used first is registered
/// when its flow starts, the others when they are used, and again whenever the key changes.
fn follow_keys(regions: &mut [SharedRegion]) {
    let mut by_index: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (number, known) in regions.iter().enumerate() {
        by_index
            .entry(known.region.stag >> 8)
            .or_default()
            .push(number);
    }
    for numbers in by_index.values() {
        let overlaps = |a: &usize, b: &usize| {
            let (a, b) = (&regions[*a], &regions[*b]);
            let of_one_flow = !a.flows.is_disjoint(&b.flows);
            a.frames.start < b.frames.end && b.frames.start < a.frames.end && !of_one_flow
        };
        let crossed = |a: &usize| numbers.iter().any(|b| a != b && overlaps(a, b));
        let crossing: Vec<usize> = numbers.iter().copied().filter(crossed).collect();
        let used = |&number: &usize| {
            let uses = regions[number].region.uses.iter();
            uses.map(move |&frame| (frame, number)).collect::<Vec<_>>()
        };
        let mut uses: Vec<(usize, usize)> = crossing.iter().flat_map(used).collect();
        uses.sort_unstable();
        let Some(&(_, first)) = uses.first() else {
            continue;
        };
        for &number in &crossing {
            regions[number].region.initial = number == first;
        }
        let mut current = first;
        for (frame, number) in uses {
            if current != number {
                regions[number].region.renewals.push(frame);
            }
            current = number;
        }
    }
}

/// A domain for each flow; flows that share a region share it. Its number is that of the first
/// one.
fn domains(numbers: &[usize], regions: &[SharedRegion]) -> BTreeMap<usize, u16> {
    let mut domains: BTreeMap<usize, u16> =
        numbers.iter().map(|&flow| (flow, flow as u16)).collect();
    loop {
        let mut changed = false;
        for shared in regions {
            let lowest = shared.flows.iter().map(|flow| domains[flow]).min();
            let lowest = lowest.expect("a region has a flow");
            for flow in &shared.flows {
                changed |= domains.insert(*flow, lowest) != Some(lowest);
            }
        }
        if !changed {
            return domains;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(frames: Range<usize>, regions: Vec<RegionUse>) -> Flow {
        let [source, destination] =
            ["10.0.0.1:1", "10.0.0.2:2"].map(|end| end.parse().expect("an address"));
        Flow {
            first_frame: frames.start,
            last_frame: frames.end,
            regions,
            ..Flow::between(source, destination)
        }
    }

    fn region(stag: u32, base: u64, octets: u64, uses: &[usize]) -> RegionUse {
        RegionUse {
            stag,
            base,
            octets,
            rights: 1,
            initial: true,
            renewals: Vec::new(),
            uses: uses.to_vec(),
        }
    }

    #[test]
    fn flows_of_one_time_share_what_they_name_alike_and_their_domain() {
        let flows = [
            flow(0..50, vec![region(0x101, 100, 10, &[1])]),
            flow(10..60, vec![region(0x101, 90, 5, &[20])]),
            flow(70..90, vec![region(0x101, 0, 1, &[71])]),
        ];
        let found = regions(&[0, 1, 2], &flows);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].region.base, found[0].region.octets), (90, 20));
        let domains = domains(&[0, 1, 2], &found);
        assert_eq!(domains.into_values().collect::<Vec<_>>(), [0, 0, 2]);
    }

    #[test]
    fn a_key_that_changes_between_flows_is_followed() {
        let flows = [
            flow(0..90, vec![region(0x101, 0, 8, &[5, 40])]),
            flow(10..90, vec![region(0x102, 0, 8, &[20, 30])]),
        ];
        let found = regions(&[0, 1], &flows);
        assert!(found[0].region.initial && !found[1].region.initial);
        assert_eq!(found[0].region.renewals, [40]);
        assert_eq!(found[1].region.renewals, [20]);
    }
}
