//! Which MAC address has the next hop, and packets that wait for it. No formats, no clock.
//!
//! ```text
//!              resolve                 learn
//!   nothing ----------> asked for -------------> known -- FRESH_US, then used --> known, asked for
//!      ^                   |                        ^                                 |     |
//!      +-- ASKS times -----+                        +------------ learn --------------+     |
//!      +------------------------------------------------------------ ASKS times ------------+
//! ```
//!
//! Times and counts are those of RFC 4861 section 10, for ARP as for NDP.

use super::link::Mac;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// Next hops that are known or asked for, at most.
pub(super) const NEIGHBOURS_MAX: usize = 512;
/// Packets that wait for one of them.
pub(super) const WAITING_MAX: usize = 4;
/// How long an answer holds.
pub(super) const FRESH_US: u64 = 30_000_000;
/// Between two questions.
pub(super) const ASK_US: u64 = 1_000_000;
/// Questions without an answer.
pub(super) const ASKS: u32 = 3;

/// What is known of a next hop.
#[derive(Debug, Default)]
struct Neighbour {
    mac: Option<Mac>,
    /// When the answer is old.
    fresh_until: u64,
    /// Questions since the last answer, and when the next one is due, if one is.
    asks: u32,
    ask_at: Option<u64>,
    /// When it was last looked up: the order of forgetting.
    used: u64,
    waiting: VecDeque<Vec<u8>>,
}

impl Neighbour {
    /// Where it is; if that is not known, or was long ago, it is asked for, which is `due` now.
    fn look_up(&mut self, now: u64, due: &mut Option<u64>) -> Hop {
        self.used = now;
        let is_fresh = self.mac.is_some() && now < self.fresh_until;
        if !is_fresh && self.ask_at.is_none() {
            self.ask_at = Some(now);
            *due = Some(now);
        }
        self.mac.map_or(Hop::Asked, Hop::Known)
    }
}

/// A question that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// Who is asked for.
    pub address: IpAddr,
    /// Whom it goes to; everybody, if nobody is known.
    pub to: Option<Mac>,
}

/// Where a packet can go now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hop {
    /// To this station.
    Known(Mac),
    /// It is being asked for.
    Asked,
    /// It cannot be asked for: the table is full of hops that packets wait for.
    Full,
}

/// What was done where the table was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NeighbourCounts {
    /// Hops that were forgotten for another one.
    pub forgotten: u64,
    /// Times that there was no room for another one: packets wait for every hop.
    pub full: u64,
}

/// The table.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    table: BTreeMap<IpAddr, Neighbour>,
    counts: NeighbourCounts,
    /// When the next question is due, or earlier.
    due: Option<u64>,
}

impl Neighbours {
    /// Where `address` is; if that is not known, or was long ago, it is asked for.
    pub(super) fn resolve(&mut self, address: IpAddr, now: u64) -> Hop {
        // Every frame asks: one look at the table for a hop that is in it.
        if let Some(neighbour) = self.table.get_mut(&address) {
            return neighbour.look_up(now, &mut self.due);
        }
        match self.make_room(address) {
            true => {
                let neighbour = self.table.entry(address).or_default();
                neighbour.look_up(now, &mut self.due)
            }
            false => Hop::Full,
        }
    }

    /// `packet` waits until `address`, which is being asked for, is known; gives back the one that
    /// must go for it.
    pub(super) fn wait(&mut self, address: IpAddr, packet: Vec<u8>) -> Option<Vec<u8>> {
        let Some(neighbour) = self.table.get_mut(&address) else {
            return Some(packet);
        };
        neighbour.waiting.push_back(packet);
        let is_full = neighbour.waiting.len() > WAITING_MAX;
        is_full.then(|| neighbour.waiting.pop_front()).flatten()
    }

    /// `address` is at `mac`; what has waited for it. One that is not in the table is entered only
    /// if it `speaks_to_us`: what strangers say to each other takes no room.
    pub(super) fn learn(
        &mut self,
        address: IpAddr,
        mac: Mac,
        now: u64,
        speaks_to_us: bool,
    ) -> VecDeque<Vec<u8>> {
        let is_known = self.table.contains_key(&address);
        let may_enter = is_known || speaks_to_us && self.make_room(address);
        if !may_enter {
            return VecDeque::new();
        }
        let neighbour = self.table.entry(address).or_default();
        neighbour.mac = Some(mac);
        neighbour.fresh_until = now.saturating_add(FRESH_US);
        neighbour.asks = 0;
        let was_asked = neighbour.ask_at.take().is_some();
        let waiting = std::mem::take(&mut neighbour.waiting);
        if was_asked {
            self.find_due();
        }
        waiting
    }

    /// The next question that is due. Who has not answered [`ASKS`] of them is forgotten; `lost`
    /// grows by what has waited for it.
    pub(super) fn ask(&mut self, now: u64, lost: &mut u64) -> Option<Question> {
        if self.due.is_none_or(|due| due > now) {
            return None;
        }
        let is_silent = |neighbour: &Neighbour| {
            neighbour.asks == ASKS && neighbour.ask_at.is_some_and(|at| at <= now)
        };
        self.table.retain(|_, neighbour| {
            let is_silent = is_silent(neighbour);
            *lost += if is_silent {
                neighbour.waiting.len() as u64
            } else {
                0
            };
            !is_silent
        });
        let mut all = self.table.iter_mut();
        let due = all.find(|(_, neighbour)| neighbour.ask_at.is_some_and(|at| at <= now));
        let Some((&address, neighbour)) = due else {
            self.find_due();
            return None;
        };
        neighbour.asks += 1;
        neighbour.ask_at = Some(now.saturating_add(ASK_US));
        let to = neighbour.mac;
        Some(Question { address, to })
    }

    fn find_due(&mut self) {
        let neighbours = self.table.values();
        self.due = neighbours.filter_map(|neighbour| neighbour.ask_at).min();
    }

    /// When [`Neighbours::ask`] has something to do.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.due
    }

    /// What was done where the table was full.
    pub(super) fn counts(&self) -> NeighbourCounts {
        self.counts
    }

    /// Room for `address`: the one that was not used for longest goes, but for those that packets
    /// wait for.
    fn make_room(&mut self, address: IpAddr) -> bool {
        if self.table.contains_key(&address) || self.table.len() < NEIGHBOURS_MAX {
            return true;
        }
        let idle = self
            .table
            .iter()
            .filter(|(_, neighbour)| neighbour.waiting.is_empty());
        let oldest = idle.min_by_key(|(_, neighbour)| neighbour.used);
        let Some(oldest) = oldest.map(|(&address, _)| address) else {
            self.counts.full += 1;
            return false;
        };
        self.counts.forgotten += 1;
        self.table.remove(&oldest);
        true
    }
}

#[cfg(test)]
mod tests;
