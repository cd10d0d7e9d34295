//! What was played, as a table for a terminal and as JSON.

use crate::play::conditions::{Condition, Met};
use crate::play::hostile::{self, HostileAction};
use crate::play::Report;
use crate::workload::{Injected, Summary};
use rnic_capture::finding::grouped;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Sums over all runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Totals {
    /// Runs played.
    pub runs: u64,
    /// TCP connections.
    pub connections: u64,
    /// Messages sent.
    pub messages: u64,
    /// FPDUs sent.
    pub fpdus: u64,
    /// FPDUs that arrived whole, with right CRC and markers, before anything ended their stream.
    pub fpdus_received: u64,
    /// Frames.
    pub frames: u64,
    /// Octets of frames.
    pub frame_octets: u64,
    /// Segments with FPDU octets, each as often as it was sent.
    pub segments: u64,
    /// Octets written to application memory.
    pub placed_octets: u64,
    /// Segments that the hardware had no room for at first, and that were sent again.
    pub resent: u64,
    /// Connections closed because their FPDUs took more pages than the device's reserve has.
    pub closed_for_room: u64,
    /// Streams that an error ended.
    pub stopped_streams: u64,
    /// Faults by kind.
    #[serde(serialize_with = "by_kind")]
    pub faults: Injected,
    /// Hostile actions, by kind.
    #[serde(flatten, serialize_with = "hostile::actions")]
    pub actions: BTreeMap<HostileAction, u64>,
    /// Conditions on the receiving side that were met, by kind.
    pub conditions: Met,
    /// Counters of the device.
    pub counters: BTreeMap<&'static str, u64>,
    /// Differences between hardware and model, and all else that makes a run fail.
    pub mismatches: u64,
    /// Cycles of the hardware.
    pub cycles: u64,
    /// Seconds that generation and playback took, of a wall clock.
    pub wall_s: f64,
}

fn by_kind<S: Serializer>(faults: &Injected, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(faults.by_kind())
}

impl Totals {
    /// Add what a run sent.
    pub fn add_sent(&mut self, summary: &Summary, frame_octets: u64) {
        self.runs += 1;
        self.connections += summary.connections as u64;
        self.messages += summary.messages as u64;
        self.fpdus += summary.fpdus as u64;
        self.frames += summary.frames as u64;
        self.frame_octets += frame_octets;
        self.segments += summary.segments as u64;
        self.faults.add(&summary.faults);
    }

    /// Add what was made of it.
    pub fn add_received(&mut self, report: &Report) {
        for flow in &report.flows {
            self.fpdus_received += flow.fpdus;
            self.placed_octets += flow.placed_octets;
            self.resent += flow.resent;
            self.closed_for_room += u64::from(flow.closed_for_room);
            self.stopped_streams += u64::from(flow.error.is_some());
        }
        sum_by_kind(&mut self.actions, &report.actions);
        sum_by_kind(&mut self.conditions, &report.conditions);
        for (&name, &count) in &report.counters {
            *self.counters.entry(name).or_default() += u64::from(count);
        }
        self.cycles += report.cycles;
    }

    /// Add other runs.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.connections += other.connections;
        self.messages += other.messages;
        self.fpdus += other.fpdus;
        self.fpdus_received += other.fpdus_received;
        self.frames += other.frames;
        self.frame_octets += other.frame_octets;
        self.segments += other.segments;
        self.placed_octets += other.placed_octets;
        self.resent += other.resent;
        self.closed_for_room += other.closed_for_room;
        self.stopped_streams += other.stopped_streams;
        self.faults.add(&other.faults);
        sum_by_kind(&mut self.actions, &other.actions);
        sum_by_kind(&mut self.conditions, &other.conditions);
        sum_by_kind(&mut self.counters, &other.counters);
        self.mismatches += other.mismatches;
        self.cycles += other.cycles;
        self.wall_s += other.wall_s;
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut rows = vec![
            ("runs".to_owned(), self.runs),
            ("connections".to_owned(), self.connections),
            ("messages".to_owned(), self.messages),
            ("FPDUs sent".to_owned(), self.fpdus),
            ("FPDUs received whole".to_owned(), self.fpdus_received),
            (
                "segments sent again for want of room".to_owned(),
                self.resent,
            ),
            (
                "connections closed for want of room".to_owned(),
                self.closed_for_room,
            ),
            ("streams ended by an error".to_owned(), self.stopped_streams),
            ("frames".to_owned(), self.frames),
            ("octets of frames".to_owned(), self.frame_octets),
            ("segments".to_owned(), self.segments),
            ("octets placed".to_owned(), self.placed_octets),
        ];
        let faults = self.faults.by_kind();
        rows.extend(faults.into_iter().map(|(k, n)| (format!("fault: {k}"), n)));
        let actions = self.actions.iter();
        rows.extend(actions.map(|(action, n)| (format!("action: {}", action.name()), *n)));
        let met = |condition: Condition| self.conditions.get(&condition).copied().unwrap_or(0);
        let conditions = Condition::ALL.into_iter();
        rows.extend(conditions.map(|c| (format!("condition: {}", c.name()), met(c))));
        let counters = self.counters.iter().filter(|(_, count)| **count > 0);
        rows.extend(counters.map(|(name, count)| (format!("counter: {name}"), *count)));
        rows.push(("mismatches".to_owned(), self.mismatches));
        let mut text = String::new();
        for (name, count) in rows {
            writeln!(text, "{name:<34} {:>15}", grouped(count)).expect("a string takes all");
        }
        let rate = self.cycles as f64 / self.wall_s.max(1e-9);
        let cycles = grouped(self.cycles);
        writeln!(
            text,
            "{:.1} seconds, {cycles} cycles, {rate:.0} cycles/s",
            self.wall_s
        )
        .expect("a string takes all");
        text
    }
}

fn sum_by_kind<K: Ord + Copy>(sums: &mut BTreeMap<K, u64>, counts: &BTreeMap<K, u64>) {
    for (&kind, &count) in counts {
        *sums.entry(kind).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Oddity;

    #[test]
    fn digits_are_in_groups_of_three() {
        let known = [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
        ];
        for (number, text) in known {
            assert_eq!(grouped(number), text);
        }
    }

    /// Every kind of fault has a row, also one that never happened.
    #[test]
    fn a_kind_that_did_not_happen_is_shown_with_zero() {
        let text = Totals::default().text();
        let faults = text.lines().filter(|line| line.starts_with("fault: "));
        let rows: Vec<&str> = faults.collect();
        assert_eq!(rows.len(), 14 + Oddity::ALL.len(), "{text}");
        assert!(rows.iter().all(|row| row.ends_with(" 0")), "{text}");
    }
}
