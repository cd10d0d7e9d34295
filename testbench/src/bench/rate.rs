//! Cycles a frame, sustained, against what the wire allows.
//!
//! Two runs for each row. *Saturated*: frames without any gap, paused only while packet memory is
//! nearly full; what the core then takes is its sustained rate. *Paced*: frames exactly as the wire
//! brings them, never paused; nothing may be lost.

use crate::bench::load::{frames, Pattern};
use crate::bench::rig::{losses, Rig, CONNECTIONS, FIRST_QUEUE_LOG2, OTHER_QUEUE_LOG2};
use crate::play::rtl::BringUpError;
use rnic_abi::counters::Counter;
use rnic_driver::DriverError;
use serde::Serialize;

/// Frame sizes measured, in octets with FCS.
pub const SIZES: [usize; 8] = [64, 82, 128, 256, 512, 1024, 1518, 9018];
/// Smallest frame of the packed and unaligned patterns.
const SMALLEST_MIXED: usize = 256;
/// Octets of preamble and gap that the wire adds to a frame with FCS.
const WIRE_GAP_OCTETS: usize = 20;
/// Cycles of the wire that a run lasts, about.
const RUN_CYCLES: f64 = 24_000.0;
/// Frames that a run has at least.
const FRAMES_MIN: usize = 64;
/// Free pages below which a saturated run pauses between two frames: what is left where 64
/// connections wait with 7 pages each for the rest of an FPDU, and one longest frame is stored.
const PAUSE_FREE_PAGES: u32 = 28;
/// Cycles after which a run that never goes idle is aborted.
const RUN_CYCLES_MAX: usize = 200_000;

/// What the device does meanwhile.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// It only receives.
    Alone,
    /// It sends full frames all the time.
    Sending,
}

impl Load {
    fn rig(self, width: usize) -> Result<Rig, BringUpError> {
        match self {
            Self::Alone => Rig::new(width),
            Self::Sending => Rig::sending(width),
        }
    }
}

/// One row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct RateRow {
    /// What the frames carry.
    pub pattern: Pattern,
    /// Octets of a frame, FCS counted.
    pub frame_octets: usize,
    /// Connections the frames alternate between.
    pub connections: usize,
    /// Cycles a frame may take.
    pub goal_cycles: f64,
    /// Cycles a frame takes, sustained.
    pub cycles: f64,
    /// `cycles / goal_cycles`; at most 1 meets the goal.
    pub ratio: f64,
    /// Frames or FPDUs lost when frames came as the wire brings them.
    pub lost: u64,
}

impl RateRow {
    /// Does the row meet its goal?
    pub fn good(&self) -> bool {
        self.ratio <= 1.0 && self.lost == 0
    }
}

/// Cycles that a frame may take at `width`: the wire's time for 64 and 128 (10 and 20 Gb/s at
/// 156.25 MHz); for 512 that of 100 Gb/s at 322 MHz from 256 octets up, and 6 cycles below.
pub fn goal_cycles(width: usize, frame_octets: usize) -> f64 {
    let wire = frame_octets + WIRE_GAP_OCTETS;
    match width {
        512 if frame_octets < 256 => 6.0,
        512 => wire as f64 * 8.0 * 322e6 / 100e9,
        _ => wire as f64 * 8.0 / width as f64,
    }
}

/// Every row, in the order of the table; `done` is called after each. A row that loses something
/// may leave streams broken, so the next one gets a fresh device.
pub fn measure(
    width: usize,
    load: Load,
    mut done: impl FnMut(&RateRow),
) -> Result<Vec<RateRow>, BringUpError> {
    let mut rows = Vec::new();
    let mut rig = load.rig(width)?;
    for connections in [1, CONNECTIONS] {
        for size in SIZES {
            for pattern in patterns(size) {
                let row = row(&mut rig, (width, load), *pattern, size, connections)?;
                done(&row);
                if row.lost > 0 {
                    rig = load.rig(width)?;
                }
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// Rows a full measurement has.
pub fn row_count() -> usize {
    2 * SIZES
        .iter()
        .map(|&size| patterns(size).len())
        .sum::<usize>()
}

fn patterns(size: usize) -> &'static [Pattern] {
    use Pattern::{Acknowledgement, Aligned, Markers, Packed, Send, Unaligned};
    match size {
        64 => &[Acknowledgement],
        82 => &[Send],
        _ if size < SMALLEST_MIXED => &[Aligned],
        _ => &[Aligned, Packed, Unaligned, Markers],
    }
}

fn row(
    rig: &mut Rig,
    (width, load): (usize, Load),
    pattern: Pattern,
    size: usize,
    connections: usize,
) -> Result<RateRow, BringUpError> {
    let goal = goal_cycles(width, size);
    let mut count = ((RUN_CYCLES / goal).ceil() as usize).max(FRAMES_MIN);
    if pattern == Pattern::Send {
        count = sends(connections);
    }
    let per_connection = count.div_ceil(connections).max(2);
    let alone = run(rig, pattern, size, 1, 2, None)?;
    let saturated = run(rig, pattern, size, connections, per_connection, None)?;
    let extra = (saturated.frames - alone.frames) as f64;
    let mut cycles = (saturated.cycles - alone.cycles) as f64 / extra;
    if saturated.lost > 0 {
        // Frames without gaps overrun the core: what it takes is found by trying paces.
        *rig = load.rig(width)?;
    }
    let paced = run(rig, pattern, size, connections, per_connection, Some(goal))?;
    if paced.lost > 0 {
        let frames = (pattern, size, connections, per_connection);
        cycles = goal * least_lossless_factor(rig, (width, load), frames, goal)?;
    } else if saturated.lost > 0 {
        cycles = goal;
    }
    Ok(RateRow {
        pattern,
        frame_octets: size,
        connections,
        goal_cycles: goal,
        cycles,
        ratio: cycles / goal,
        lost: paced.lost,
    })
}

/// The smallest of some multiples of `goal` at which nothing is lost; infinite if there is none.
fn least_lossless_factor(
    rig: &mut Rig,
    (width, load): (usize, Load),
    (pattern, size, connections, per_connection): (Pattern, usize, usize, usize),
    goal: f64,
) -> Result<f64, BringUpError> {
    for factor in SLOWER {
        *rig = load.rig(width)?;
        let slower = Some(goal * factor);
        if run(rig, pattern, size, connections, per_connection, slower)?.lost == 0 {
            return Ok(factor);
        }
    }
    Ok(f64::INFINITY)
}

/// Multiples of the goal that are tried where the goal is missed.
const SLOWER: [f64; 10] = [1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.6, 2.0, 2.5, 3.0];

/// Sends in one run: as many as there are buffers.
fn sends(connections: usize) -> usize {
    match connections {
        1 => (1 << FIRST_QUEUE_LOG2) - 1,
        _ => connections << OTHER_QUEUE_LOG2,
    }
}

/// What a run of frames took.
#[derive(Copy, Clone, Debug)]
pub struct Run {
    /// Frames put on the wire.
    pub frames: usize,
    /// Cycles until every page was free again.
    pub cycles: u64,
    /// Frames and FPDUs lost.
    pub lost: u64,
}

/// Play `per_connection` frames of each of `connections` connections, alternating; until every page
/// is free again.
///
/// # Errors
/// A refusal of the driver.
pub fn run(
    rig: &mut Rig,
    pattern: Pattern,
    size: usize,
    connections: usize,
    per_connection: usize,
    goal: Option<f64>,
) -> Result<Run, DriverError> {
    let first = if pattern.markers() { CONNECTIONS } else { 0 };
    if pattern == Pattern::Send {
        for stream in 0..connections {
            rig.post(stream, per_connection)?;
        }
    }
    rig.keep_sending()?;
    let streams = &mut rig.streams[first..first + connections];
    let loads = streams
        .iter_mut()
        .map(|stream| frames(stream, pattern, size, per_connection));
    let mut loads: Vec<_> = loads.map(Vec::into_iter).collect();
    let mut count = 0;
    let before = rig.counters();
    let mut simulation = rig.simulation.borrow_mut();
    let rest = simulation.free_pages();
    let octets = simulation.frames_mut().beat_octets() as u32;
    match goal {
        None => simulation.frames_mut().set_rate(0, octets),
        // In thousandths: `goal` cycles for the whole frame with its gap.
        Some(goal) => {
            let wire = (size + WIRE_GAP_OCTETS) as f64;
            simulation
                .frames_mut()
                .set_rate(1000, (wire / goal * 1000.0).round() as u32);
        }
    }
    loop {
        let round: Vec<Vec<u8>> = loads.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            break;
        }
        count += round.len();
        round
            .into_iter()
            .for_each(|frame| simulation.push_frame(frame, false));
    }
    let start = simulation.now();
    for _ in 0..RUN_CYCLES_MAX {
        let pause = goal.is_none() && simulation.free_pages() < PAUSE_FREE_PAGES;
        simulation.frames_mut().set_paused(pause);
        simulation.step();
        if simulation.frames_waiting() == 0 && simulation.free_pages() == rest {
            break;
        }
    }
    let cycles = simulation.now() - start;
    // What is still on the wire, or in pages that nothing will free, is lost as well.
    let stuck = simulation.frames_waiting() as u64 + u64::from(simulation.free_pages() != rest);
    simulation.frames_mut().set_paused(false);
    simulation.run(SETTLE_CYCLES);
    drop(simulation);
    rig.drain_completions();
    let after = rig.counters();
    let sent = after[&Counter::TxFrames].wrapping_sub(before[&Counter::TxFrames]);
    assert!(
        sent > 0 || !rig.is_sending() || cycles < SENDS_WITHIN,
        "nothing was sent meanwhile"
    );
    let lost = losses(&before, &after) + stuck;
    Ok(Run {
        frames: count,
        cycles,
        lost,
    })
}

/// Cycles within which a device that sends has sent something, amply.
const SENDS_WITHIN: u64 = 2_000;
/// Cycles from the last page given back to the last completion written, amply.
const SETTLE_CYCLES: usize = 300;
