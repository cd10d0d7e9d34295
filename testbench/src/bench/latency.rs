//! Cycles from the last octet of an aligned, in-order segment to its last memory write, and to its
//! event.

use crate::bench::load::{frames, Pattern};
use crate::bench::rig::Rig;
use rnic_sim::{Event, TlpKind};
use serde::Serialize;

/// Most cycles allowed beyond one read of the segment (W = 64).
pub const GOAL_CYCLES: u64 = 64;
/// Frame sizes measured, in octets with FCS.
const SIZES: [usize; 7] = [128, 256, 512, 1024, 1518, 4096, 9018];
/// Segments of each size.
const SEGMENTS: usize = 32;
const HEADER_AND_FCS_OCTETS: usize = 58;
/// Cycles waited between two segments: the core is idle then.
const GAP_CYCLES: usize = 2_500;

/// Latency of one frame size, beyond the beats of one read of the segment.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct Latency {
    /// Octets of a frame, FCS counted.
    pub frame_octets: usize,
    /// Beats of one read of the segment's payload at the width of the frame path.
    pub read_beats: u64,
    /// Fewest cycles beyond them.
    pub min_cycles: u64,
    /// Median.
    pub median_cycles: u64,
    /// Most.
    pub max_cycles: u64,
}

impl Latency {
    /// Does it meet the goal for W = 64?
    pub fn good(&self) -> bool {
        self.max_cycles <= GOAL_CYCLES
    }
}

/// Measure every size.
pub fn measure(rig: &mut Rig, width: usize) -> Vec<Latency> {
    SIZES.iter().map(|&size| one(rig, width, size)).collect()
}

fn one(rig: &mut Rig, width: usize, size: usize) -> Latency {
    let read_beats = (size - HEADER_AND_FCS_OCTETS).div_ceil(width / 8) as u64;
    let load = frames(&mut rig.streams[0], Pattern::Aligned, size, SEGMENTS);
    let mut simulation = rig.simulation.borrow_mut();
    let mut cycles: Vec<u64> = load
        .into_iter()
        .map(|frame| {
            simulation.push_frame(frame, false);
            simulation.run(GAP_CYCLES);
            let taken = simulation.last_write() - simulation.last_frame_end();
            taken.saturating_sub(read_beats)
        })
        .collect();
    cycles.sort_unstable();
    Latency {
        frame_octets: size,
        read_beats,
        min_cycles: cycles[0],
        median_cycles: cycles[SEGMENTS / 2],
        max_cycles: cycles[SEGMENTS - 1],
    }
}

/// Most cycles from a segment's last octet to the TLP of its event.
pub const EVENT_GOAL_CYCLES: u64 = 40;

/// Cycles from a segment's last octet to its event in the event ring.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct EventLatency {
    /// Octets of a frame, FCS counted.
    pub frame_octets: usize,
    /// Fewest cycles.
    pub min_cycles: u64,
    /// Median.
    pub median_cycles: u64,
    /// Most.
    pub max_cycles: u64,
}

impl EventLatency {
    /// Does it meet the goal?
    pub fn good(&self) -> bool {
        self.max_cycles <= EVENT_GOAL_CYCLES
    }
}

/// Measure the latency of events for every size.
///
/// # Panics
/// If a segment raises no event.
pub fn measure_events(rig: &mut Rig) -> Vec<EventLatency> {
    SIZES.iter().map(|&size| one_event(rig, size)).collect()
}

fn one_event(rig: &mut Rig, size: usize) -> EventLatency {
    let load = frames(&mut rig.streams[0], Pattern::Aligned, size, SEGMENTS);
    let mut simulation = rig.simulation.borrow_mut();
    let ring = simulation.complex().memory().region("event ring");
    let ring = ring.expect("the driver has allocated it");
    let ring = ring.base()..ring.base() + ring.bytes().len() as u64;
    let mut cycles: Vec<u64> = load
        .into_iter()
        .map(|frame| {
            simulation.start_record();
            simulation.push_frame(frame, false);
            simulation.run(GAP_CYCLES);
            let events = simulation.take_record().events;
            let written = events.iter().find(|(_, event)| {
                let Event::FromDevice { kind, address, .. } = event else {
                    return false;
                };
                *kind == TlpKind::Write && ring.contains(address)
            });
            let (cycle, _) = written.expect("each segment raises an event");
            cycle - simulation.last_frame_end()
        })
        .collect();
    cycles.sort_unstable();
    EventLatency {
        frame_octets: size,
        min_cycles: cycles[0],
        median_cycles: cycles[SEGMENTS / 2],
        max_cycles: cycles[SEGMENTS - 1],
    }
}
