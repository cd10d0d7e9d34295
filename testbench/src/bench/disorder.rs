//! What segments out of order cost: cycles, pages held, segments that found no room.
//!
//! One connection, aligned FPDUs with markers, frames without gaps. Two kinds of disorder: *loss*,
//! where a frame comes again a number of frames after its place, and *reordering*, where every
//! frame may come late by up to a number of frames. The same frames in order give the reference.

use crate::bench::load::{frames, Pattern};
use crate::bench::rig::{Rig, CONNECTIONS};
use crate::former_keys;
use crate::play::rtl::BringUpError;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::counters::Counter;
use rnic_abi::limits::PAGES;
use serde::{Serialize, Serializer};

/// Octets of a frame, FCS counted.
const FRAME_OCTETS: usize = 1518;
/// Frames of a run.
const FRAMES: usize = 4000;
/// Frames after its place that a lost frame comes again.
const RESEND_FRAMES: usize = 30;
/// Loss rates, in thousandths.
const LOSSES: [u32; 3] = [1, 10, 50];
/// Reordering windows, in frames.
const WINDOWS: [usize; 2] = [3, 30];
/// Seed of what is lost and what comes late.
const SEED: u64 = 1;
/// What in-order cycles may be multiplied by.
pub const GOAL_RATIO: f64 = 1.25;
/// Free pages below which the wire pauses: room for the longest frame.
const PAUSE_FREE_PAGES: u32 = 40;
/// Cycles after which a run that never goes idle is aborted.
const RUN_CYCLES_MAX: usize = 2_000_000;

/// One kind of disorder, measured.
#[derive(Clone, Debug, Serialize)]
pub struct DisorderRow {
    /// What was done to the order.
    pub disorder: String,
    /// Cycles a frame.
    pub cycles: f64,
    /// Cycles a frame against those of the same frames in order.
    pub ratio: f64,
    /// Segments accepted beyond a gap.
    #[serde(flatten, serialize_with = "out_of_order_segments")]
    pub ooo_segments: u64,
    /// Most pages of packet memory in use at one time.
    pub peak_pages: u32,
    /// Segments dropped since their pages, or their ranges, were too many.
    pub no_room: u64,
    /// Frames whose octets never came in order.
    pub lost: u64,
}

fn out_of_order_segments<S: Serializer>(segments: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    let keys = ["out_of_order_segments", "early_segments"];
    former_keys::serialize(keys, segments, serializer)
}

impl DisorderRow {
    /// Does the row meet its goal?
    pub fn good(&self) -> bool {
        self.ratio <= GOAL_RATIO && self.lost == 0
    }
}

/// Every row; the first one is the reference.
pub fn measure(width: usize) -> Result<Vec<DisorderRow>, BringUpError> {
    let mut orders = vec![("in order".to_owned(), (0..FRAMES).collect::<Vec<_>>())];
    for loss in LOSSES {
        let name = format!("{} % lost, {RESEND_FRAMES} later", f64::from(loss) / 10.0);
        orders.push((name, resent(loss)));
    }
    for window in WINDOWS {
        orders.push((format!("reordered within {window}"), reordered(window)));
    }
    let mut rows: Vec<DisorderRow> = Vec::new();
    for (name, order) in orders {
        let mut row = run(width, name, &order)?;
        let reference = rows.first().map_or(row.cycles, |first| first.cycles);
        row.ratio = row.cycles / reference;
        rows.push(row);
    }
    Ok(rows)
}

/// The order in which frames arrive if some are lost and come again.
fn resent(thousandths: u32) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let late = |frame: usize| match random.random_ratio(thousandths, 1000) {
        true => frame + RESEND_FRAMES,
        false => frame,
    };
    sorted_by_time(late)
}

/// The order in which frames arrive if each may come late.
fn reordered(window: usize) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    sorted_by_time(|frame| frame + random.random_range(0..=window))
}

fn sorted_by_time(mut time: impl FnMut(usize) -> usize) -> Vec<usize> {
    let mut order: Vec<(usize, usize)> = (0..FRAMES).map(|frame| (time(frame), frame)).collect();
    order.sort_by_key(|&(time, frame)| (time, frame));
    order.into_iter().map(|(_, frame)| frame).collect()
}

fn run(width: usize, disorder: String, order: &[usize]) -> Result<DisorderRow, BringUpError> {
    let mut rig = Rig::new(width)?;
    let load = frames(
        &mut rig.streams[CONNECTIONS],
        Pattern::Markers,
        FRAME_OCTETS,
        FRAMES,
    );
    let before = rig.counters();
    let mut simulation = rig.simulation.borrow_mut();
    let rest = simulation.free_pages();
    let octets = simulation.frames_mut().beat_octets() as u32;
    simulation.frames_mut().set_rate(0, octets);
    for &frame in order {
        simulation.push_frame(load[frame].clone(), false);
    }
    let (start, mut least) = (simulation.now(), rest);
    for _ in 0..RUN_CYCLES_MAX {
        let free = simulation.free_pages();
        least = least.min(free);
        simulation.frames_mut().set_paused(free < PAUSE_FREE_PAGES);
        simulation.step();
        if simulation.frames_waiting() == 0 && simulation.free_pages() == rest {
            break;
        }
    }
    let cycles = simulation.now() - start;
    drop(simulation);
    let after = rig.counters();
    let counted = |counter: Counter| u64::from(after[&counter].wrapping_sub(before[&counter]));
    Ok(DisorderRow {
        disorder,
        cycles: cycles as f64 / order.len() as f64,
        ratio: 1.0,
        ooo_segments: counted(Counter::TcpOutOfOrder),
        peak_pages: PAGES as u32 - least,
        no_room: counted(Counter::DropTcpNoRoom) + counted(Counter::DropTcpNoRange),
        lost: FRAMES as u64 - counted(Counter::Fpdus),
    })
}
