//! What the device sends: cycles a frame, cycles from a doorbell to the wire, and what sending
//! costs reception.
//!
//! The host answers reads after [`READ_LATENCY_CYCLES`]. For the frames see
//! [`sending`](crate::bench::sending).

use crate::bench::load::Pattern;
use crate::bench::rate::{goal_cycles, run, RateRow};
use crate::bench::rig::Rig;
use crate::bench::sending::{BESIDE_OCTETS, FCS_OCTETS, READ_LATENCY_CYCLES};
use crate::play::rtl::BringUpError;
use rnic_driver::{DriverError, TransmitRing};
use rnic_sim::{inner_width, SentFrame};
use serde::Serialize;

/// Most cycles allowed from a doorbell to the first beat, beyond two reads and the beats that the
/// frame takes into the store, which sends whole frames (W = 64).
pub const DOORBELL_GOAL_CYCLES: u64 = 100;
/// What reception may take while frames are sent, by what it takes alone.
pub const BESIDE_GOAL_RATIO: f64 = 1.01;
/// Cycles that a pure ACK may take.
const ACK_GOAL_CYCLES: f64 = 32.0;
/// What 256 octets may take, by the time of the wire.
const SHORT_GOAL_RATIO: f64 = 1.1;
/// A pure ACK with timestamps, its FCS counted.
const ACK_OCTETS: usize = 70;
/// Frames measured, and those before them that fill the device.
const FRAMES: usize = 120;
const FIRST_FRAMES: usize = 10;
/// Cycles after which a measurement is aborted.
const CYCLES_MAX: u64 = 1_000_000;
/// Frames of the doorbell's latency, and cycles waited between them: the device is idle then.
const DOORBELLS: usize = 16;
const GAP_CYCLES: usize = 4_000;

/// A kind of frame, sent back to back.
#[derive(Clone, Debug, Serialize)]
pub struct SendRow {
    /// What the frames are.
    pub pattern: &'static str,
    /// Octets of a frame, FCS counted.
    pub frame_octets: usize,
    /// Cycles a frame may take.
    pub goal_cycles: f64,
    /// Cycles a frame takes, sustained.
    pub cycles: f64,
    /// `cycles / goal_cycles`; at most 1 meets the goal.
    pub ratio: f64,
}

impl SendRow {
    /// Does the row meet its goal? Rounding of the wire's time to whole cycles is no miss.
    pub fn good(&self) -> bool {
        self.ratio <= 1.0005
    }
}

/// Cycles from the doorbell to the first beat on the wire.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct DoorbellLatency {
    /// Octets of the frame, FCS counted.
    pub frame_octets: usize,
    /// Most cycles.
    pub max_cycles: u64,
    /// Beats of the frame into the store, at the inner width.
    pub store_beats: u64,
    /// Most cycles beyond two reads and these beats.
    pub beyond_cycles: u64,
}

impl DoorbellLatency {
    /// Does it meet the goal for W = 64?
    pub fn good(&self) -> bool {
        self.beyond_cycles <= DOORBELL_GOAL_CYCLES
    }
}

/// A row of reception, alone and while frames are sent.
#[derive(Clone, Debug, Serialize)]
pub struct BesideRow {
    /// What is received.
    pub pattern: Pattern,
    /// Octets of a received frame, FCS counted.
    pub frame_octets: usize,
    /// Connections the received frames alternate between.
    pub connections: usize,
    /// Cycles a frame takes alone.
    pub alone_cycles: f64,
    /// Cycles a frame takes while frames are sent.
    pub cycles: f64,
    /// `cycles / alone_cycles`.
    pub ratio: f64,
    /// Frames or FPDUs lost at the wire's pace while frames are sent.
    pub lost: u64,
}

impl BesideRow {
    /// A row of two measurements of the same kind.
    pub fn new(alone: &RateRow, beside: &RateRow) -> Self {
        Self {
            pattern: beside.pattern,
            frame_octets: beside.frame_octets,
            connections: beside.connections,
            alone_cycles: alone.cycles,
            cycles: beside.cycles,
            ratio: beside.cycles / alone.cycles,
            lost: beside.lost,
        }
    }

    /// Does the row meet its goal?
    pub fn good(&self) -> bool {
        self.ratio <= BESIDE_GOAL_RATIO && self.lost == 0
    }
}

/// Reception and transmission while the host is short of credits.
#[derive(Clone, Debug, Serialize)]
pub struct StallRow {
    /// What finds no credits.
    pub blocked: &'static str,
    /// Cycles in which it finds none, in percent.
    pub percent: u32,
    /// Cycles a received frame takes.
    pub receive_cycles: f64,
    /// Cycles a sent frame takes.
    pub transmit_cycles: f64,
}

/// Cycles a frame for each kind.
///
/// # Errors
/// A refusal of the driver.
pub fn measure(rig: &mut Rig, width: usize) -> Result<Vec<SendRow>, DriverError> {
    let wire = |octets| goal_cycles(width, octets);
    let kinds = [
        ("ACK", TransmitRing::Control, ACK_OCTETS, ACK_GOAL_CYCLES),
        (
            "bulk",
            TransmitRing::Bulk,
            256,
            SHORT_GOAL_RATIO * wire(256),
        ),
        ("bulk", TransmitRing::Bulk, 1518, wire(1518)),
        ("bulk", TransmitRing::Bulk, 9018, wire(9018)),
    ];
    let row = |(pattern, ring, octets, goal)| {
        let cycles = rate(rig, ring, octets)?;
        Ok(SendRow {
            pattern,
            frame_octets: octets,
            goal_cycles: goal,
            cycles,
            ratio: cycles / goal,
        })
    };
    kinds.into_iter().map(row).collect()
}

fn rate(rig: &mut Rig, ring: TransmitRing, octets: usize) -> Result<f64, DriverError> {
    settle(rig);
    let mut sent = Vec::new();
    let end = rig.simulation.borrow().now() + CYCLES_MAX;
    while sent.len() < FRAMES + FIRST_FRAMES && rig.simulation.borrow().now() < end {
        rig.fill(ring, octets)?;
        rig.simulation.borrow_mut().run(100);
        take_sent(rig, octets, &mut sent);
    }
    settle(rig);
    Ok(cycles_a_frame(sent.get(FIRST_FRAMES..).unwrap_or_default()))
}

/// Let all that is on the rings leave.
fn settle(rig: &mut Rig) {
    let mut simulation = rig.simulation.borrow_mut();
    simulation.run_until_idle();
    while simulation.next_sent().is_some() {}
}

/// Frames that have left, which must be of `octets` octets, FCS counted.
fn take_sent(rig: &Rig, octets: usize, sent: &mut Vec<SentFrame>) {
    while let Some(frame) = rig.simulation.borrow_mut().next_sent() {
        assert!(!frame.error && frame.octets.len() + FCS_OCTETS == octets);
        sent.push(frame);
    }
}

/// Infinite if nothing leaves.
fn cycles_a_frame(sent: &[SentFrame]) -> f64 {
    let (Some(first), Some(last)) = (sent.first(), sent.last()) else {
        return f64::INFINITY;
    };
    (last.cycle - first.cycle) as f64 / (sent.len() - 1) as f64
}

/// Cycles from doorbell to wire, for the shortest and a full frame.
///
/// # Errors
/// A refusal of the driver.
pub fn measure_doorbell(rig: &mut Rig, width: usize) -> Result<Vec<DoorbellLatency>, DriverError> {
    let one = |octets| {
        let mut max_cycles = 0;
        settle(rig);
        for _ in 0..DOORBELLS {
            while rig.device.poll_transmitted()?.is_some() {}
            let start = rig.simulation.borrow().now();
            rig.push(TransmitRing::Control, octets)?;
            rig.simulation.borrow_mut().run(GAP_CYCLES);
            let mut sent = Vec::new();
            take_sent(rig, octets, &mut sent);
            let beat = rig.simulation.borrow_mut().frames_mut().beat_octets();
            let beats = (octets - FCS_OCTETS).div_ceil(beat) as u64;
            let last = sent.last().map_or(u64::MAX, |frame| frame.cycle);
            max_cycles = max_cycles.max(last - (beats - 1) - start);
        }
        let store_beats = (octets - FCS_OCTETS).div_ceil(inner_width(width) / 8) as u64;
        Ok(DoorbellLatency {
            frame_octets: octets,
            max_cycles,
            store_beats,
            beyond_cycles: max_cycles.saturating_sub(2 * READ_LATENCY_CYCLES + store_beats),
        })
    };
    [ACK_OCTETS, BESIDE_OCTETS].into_iter().map(one).collect()
}

/// Both directions at once, frames of 1518 octets, with credits of one kind short.
///
/// # Errors
/// The device cannot be brought up, or the driver refuses something.
pub fn measure_stalls(width: usize) -> Result<Vec<StallRow>, BringUpError> {
    const POSTED: &str = "posted writes and completions";
    let mut rows = Vec::new();
    for blocked in [POSTED, "read requests"] {
        for percent in [0, 5, 20] {
            let mut rig = Rig::sending(width)?;
            let stall = f64::from(percent) / 100.0;
            match blocked {
                POSTED => rig.simulation.borrow_mut().set_stall(stall),
                _ => rig.simulation.borrow_mut().set_read_stall(stall),
            }
            let received = run(&mut rig, Pattern::Aligned, BESIDE_OCTETS, 1, FRAMES, None)?;
            let mut sent = Vec::new();
            take_sent(&rig, BESIDE_OCTETS, &mut sent);
            rows.push(StallRow {
                blocked,
                percent,
                receive_cycles: received.cycles as f64 / received.frames as f64,
                transmit_cycles: cycles_a_frame(sent.get(FIRST_FRAMES..).unwrap_or_default()),
            });
        }
    }
    Ok(rows)
}
