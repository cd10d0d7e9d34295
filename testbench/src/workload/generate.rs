//! Connections in turns, the capture file, and what is in it.

use crate::traffic::Side;
use crate::workload::connection::{Connection, Direction, SIDES};
use crate::workload::describe::{Interleave, Workload, WorkloadError};
use crate::workload::faults::Injected;
use crate::workload::purpose::{generator, Purpose};
use rand::Rng;
use rnic_capture::pcap::capture_file;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A generated capture.
#[derive(Clone, Debug)]
pub struct Generation {
    /// The file: pcap.
    pub file: Vec<u8>,
    /// What is in it.
    pub summary: Summary,
    /// What each direction said, by connection, the initiator first.
    pub directions: Vec<Direction>,
}

/// What is in a generated capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Always `rnic`.
    pub tool: &'static str,
    /// Of this program.
    pub version: &'static str,
    /// Seed.
    pub seed: u64,
    /// TCP connections.
    pub connections: usize,
    /// Messages of all directions, the opening ones included.
    pub messages: usize,
    /// Messages by opcode.
    pub opcodes: BTreeMap<&'static str, u64>,
    /// Octets of messages.
    pub message_octets: u64,
    /// FPDUs.
    pub fpdus: usize,
    /// Segments with FPDU octets, each as often as it is in the file.
    pub segments: usize,
    /// Frames.
    pub frames: usize,
    /// Faults by kind.
    pub faults: Injected,
}

/// Make the capture that `workload` describes.
pub fn generate(workload: &Workload) -> Result<Generation, WorkloadError> {
    workload.check()?;
    let mut faults = Injected::default();
    let mut frames = Vec::new();
    let mut connections = Vec::new();
    let mut segments = 0;
    for number in 0..workload.connections {
        let mut connection = Connection::open(workload, number, &mut faults);
        // A responder sends no FPDU before it has received one (START-014).
        for side in SIDES {
            while connection.opens(side) {
                connection.send(side, &mut faults);
                segments += 1;
            }
        }
        frames.append(&mut connection.take_frames());
        connections.push(connection);
    }
    segments += take_turns(workload, &mut connections, &mut frames, &mut faults);
    for connection in &mut connections {
        connection.close();
        frames.append(&mut connection.take_frames());
    }
    let both = connections
        .into_iter()
        .flat_map(|connection| connection.directions);
    let directions: Vec<Direction> = both.collect();
    let messages = || directions.iter().flat_map(|direction| &direction.messages);
    let mut opcodes = BTreeMap::new();
    messages().for_each(|message| *opcodes.entry(message.opcode.name()).or_default() += 1);
    let summary = Summary {
        tool: "rnic",
        version: env!("CARGO_PKG_VERSION"),
        seed: workload.seed,
        connections: workload.connections,
        messages: messages().count(),
        opcodes,
        message_octets: messages().map(|message| message.data.len() as u64).sum(),
        fpdus: directions.iter().map(|direction| direction.fpdus).sum(),
        segments,
        frames: frames.len(),
        faults,
    };
    Ok(Generation {
        file: capture_file(&frames),
        summary,
        directions,
    })
}

/// All segments that wait, a random direction after another; how many they were.
fn take_turns(
    workload: &Workload,
    connections: &mut [Connection],
    frames: &mut Vec<Vec<u8>>,
    injected: &mut Injected,
) -> usize {
    let mut turns = generator(workload.seed, Purpose::Turns, 0);
    let all = (0..connections.len()).flat_map(|number| SIDES.map(|side| (number, side)));
    let mut left: Vec<(usize, Side)> = all.collect();
    left.retain(|&(number, side)| connections[number].waits(side));
    let mut segments = 0;
    while !left.is_empty() {
        let turn = turns.random_range(0..left.len());
        let (number, side) = left[turn];
        let connection = &mut connections[number];
        loop {
            let ended = connection.send(side, injected);
            segments += 1;
            frames.append(&mut connection.take_frames());
            let goes_on = workload.interleave == Interleave::Fpdu && !ended;
            if !goes_on || !connection.waits(side) {
                break;
            }
        }
        if !connection.waits(side) {
            left.swap_remove(turn);
        }
    }
    segments
}

impl Summary {
    /// For a terminal.
    pub fn text(&self) -> String {
        let mut text = format!(
            "seed {}: {} connections, {} messages of {} octets in all, {} FPDUs, {} segments, \
             {} frames\n",
            self.seed,
            self.connections,
            self.messages,
            self.message_octets,
            self.fpdus,
            self.segments,
            self.frames
        );
        let list = |counts: &mut dyn Iterator<Item = (String, u64)>| {
            let shown = counts.filter(|(_, count)| *count > 0);
            let words: Vec<String> = shown.map(|(name, n)| format!("{name} {n}")).collect();
            match words.is_empty() {
                true => "none".to_owned(),
                false => words.join(", "),
            }
        };
        let opcodes = &mut self
            .opcodes
            .iter()
            .map(|(name, &n)| ((*name).to_owned(), n));
        writeln!(text, "messages: {}", list(opcodes)).expect("a string takes all");
        let faults = &mut self.faults.by_kind().into_iter();
        writeln!(text, "faults: {}", list(faults)).expect("a string takes all");
        text
    }
}
