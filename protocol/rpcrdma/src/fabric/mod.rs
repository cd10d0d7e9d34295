//! Hosts and connections in memory, with what hardware does to them: a provider for tests.
//!
//! ```text
//!   side 0   posted --deliver--> receives, memory     side 1
//!            unacked <-'    place: a Write, early
//!            completions <--acknowledge
//!            reads   <--deliver--  (a Read at the peer) --respond--> memory of side 0
//! ```
//!
//! Every step is one [`Choice`]: a Write is placed ahead of what was posted before it, the oldest
//! request of a side is delivered, a delivered one is reported complete, a Read is answered.
//! [`Fabric::run`] takes them in order until nothing is left, [`Fabric::step`] by the seed,
//! [`Fabric::take`] as the caller says. Sends are delivered in order and after the Writes before
//! them; Writes are placed in any order, and completions come late.
//!
//! A handle that is not valid, is another connection's, lacks the right or ends before the access
//! refuses it, and the connection ends, as it does for a Send without a receive or longer than
//! the receive, and for Reads beyond [`Settings::reads`].
//!
//! Octets of Sends, Writes and Reads are moved by the fabric, which stands for the hardware;
//! those that software copies are counted apart ([`Counters`]).
mod id;
mod choice;
mod counters;
mod end;
mod host;
mod link;
mod random;
mod steps;

#[cfg(test)]
mod tests;

pub use choice::Choice;
pub use counters::Counters;
pub use end::End;
pub use id::{EndId, HostId};

use crate::place::MemoryId;
use crate::verbs::Memory;
use host::Host;
use link::{Link, Side};
use random::Random;
use std::hash::{Hash, Hasher};

/// What goes wrong, each once in so many on average; 0 is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// Steps of [`Fabric::step`] after which the connection they belong to ends.
    pub cut_in: u32,
    /// Exposures that are refused as [`VerbsError::Collision`](crate::verbs::VerbsError).
    pub collision_in: u32,
}

/// Sizes of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// For orders and faults.
    pub seed: u64,
    /// Reads that each end may have outstanding: ORD of one, IRD of the other.
    pub reads: u32,
    /// Sends, Writes and Reads that an end may have outstanding.
    pub sends: u32,
    /// Receives that an end may have posted.
    pub receives: u32,
    /// STags of a host.
    pub entries: u32,
    /// Octets of Writes and Reads are moved. Without, they are checked and counted only, for
    /// measuring the software around them.
    pub moves_payload: bool,
    /// Sources of Sends and Writes are compared, when they complete, with what was delivered.
    pub watches_sources: bool,
    /// What goes wrong.
    pub faults: Faults,
}

impl Default for Settings {
    /// ORD 8, 128 requests, 128 receives, 1,024 STags, no faults.
    fn default() -> Self {
        Self {
            seed: 0,
            reads: 8,
            sends: 128,
            receives: 128,
            entries: 1_024,
            moves_payload: true,
            watches_sources: false,
            faults: Faults::default(),
        }
    }
}

/// Hosts and connections between them.
#[derive(Clone, Debug)]
pub struct Fabric {
    settings: Settings,
    hosts: Vec<Host>,
    links: Vec<Link>,
    random: Random,
    /// Reused by [`Fabric::step`].
    choices: Vec<Choice>,
}

impl Fabric {
    /// A fabric without hosts.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            hosts: Vec::new(),
            links: Vec::new(),
            random: Random::new(settings.seed),
            choices: Vec::new(),
        }
    }

    /// Another host.
    pub fn host(&mut self) -> HostId {
        self.hosts.push(Host::new(self.settings.entries));
        HostId(self.hosts.len() - 1)
    }

    /// Registered memory of a host, without rights for anyone.
    pub fn allocate(&mut self, host: HostId, octets: usize) -> MemoryId {
        self.hosts[host.0].allocate(octets)
    }

    /// A connection of two different hosts: its ends at `first` and at `second`.
    pub fn connect(&mut self, first: HostId, second: HostId) -> (EndId, EndId) {
        let Settings {
            sends,
            receives,
            reads,
            ..
        } = self.settings;
        let side = |host: HostId| Side::new(host.0, sends as usize, receives as usize, reads);
        self.links.push(Link {
            is_open: true,
            sides: [side(first), side(second)],
        });
        let end = EndId((self.links.len() as u32 - 1) << 1);
        (end, end.peer())
    }

    /// Let `end` have fewer Reads outstanding than [`Settings::reads`]: a smaller ORD than the IRD
    /// of its peer.
    pub fn limit_reads(&mut self, end: EndId, reads: u32) {
        let (link, side) = end.parts();
        self.links[link].sides[side].reads_max = reads.min(self.settings.reads);
    }

    /// Connect the hosts of `end` and its peer again. The old connection is closed; its
    /// completions are gone.
    pub fn reconnect(&mut self, end: EndId) {
        let link = &mut self.links[end.parts().0];
        link.sides.iter_mut().for_each(Side::clear);
        link.is_open = true;
    }

    /// The memory of a host.
    pub fn memory(&mut self, host: HostId) -> &mut impl Memory {
        &mut self.hosts[host.0]
    }

    /// The connection of `end` is open.
    pub fn is_open(&self, end: EndId) -> bool {
        self.links[end.parts().0].is_open
    }

    /// What a host has done.
    pub fn counters(&self, host: HostId) -> Counters {
        self.hosts[host.0].counters()
    }

    /// STags of a host that are valid.
    pub fn valid_stags(&self, host: HostId) -> u32 {
        self.hosts[host.0].valid_stags()
    }

    /// Change what goes wrong from here on.
    pub fn set_faults(&mut self, faults: Faults) {
        self.settings.faults = faults;
    }

    fn host_of(&self, id: EndId) -> usize {
        let (link, side) = id.parts();
        self.links[link].sides[side].host
    }
}

/// What another step depends on, for searches through states: what is in flight and which STags
/// are valid, not counters nor the octets of memory.
impl Hash for Fabric {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.hosts, &self.links).hash(state);
    }
}
