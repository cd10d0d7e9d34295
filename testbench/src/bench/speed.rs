//! Simulated cycles a second, and where the time goes.
//!
//! A busy run is recorded: the inputs of every cycle. The same inputs are then played into the bare
//! model (evaluation only), and through the exchange of ports without any bench logic. The
//! differences between the three times are what exchange and bench cost.

use crate::bench::load::{frames, Pattern};
use crate::bench::rig::Rig;
use serde::Serialize;
use std::time::Instant;

const FRAME_OCTETS: usize = 1518;
const FRAMES: usize = 1_500;
/// Each time is the best of so many.
const REPEATS: usize = 5;

/// How fast the simulation is.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct Speed {
    /// Cycles of the run.
    pub cycles: u64,
    /// Cycles a second of the whole bench.
    pub cycles_per_second: f64,
    /// Cycles a second of the bare evaluation loop with the same inputs.
    pub bare_cycles_per_second: f64,
    /// Part of the bench's time that is evaluation of the model, in percent.
    pub evaluation_percent: f64,
    /// ... exchange of ports.
    pub exchange_percent: f64,
    /// ... everything else: wire, root complex, memory, events.
    pub bench_percent: f64,
    /// Time beyond the bare loop, in percent of the bare loop's.
    pub overhead_percent: f64,
}

/// Measure with full frames on one connection at the pace of the wire.
pub fn measure(rig: &mut Rig) -> Speed {
    let mut whole = f64::MAX;
    let mut recording = Vec::new();
    // The first run records; recording costs time, so it is not among those that count.
    for repeat in 0..=REPEATS {
        let load = frames(&mut rig.streams[0], Pattern::Aligned, FRAME_OCTETS, FRAMES);
        let mut simulation = rig.simulation.borrow_mut();
        let octets = simulation.frames_mut().beat_octets() as u32;
        simulation.frames_mut().set_rate(1, octets);
        load.into_iter()
            .for_each(|frame| simulation.push_frame(frame, false));
        if repeat == 0 {
            simulation.core_mut().record();
        }
        let start = Instant::now();
        let first = simulation.now();
        while simulation.frames_waiting() > 0 {
            simulation.step();
        }
        let seconds = start.elapsed().as_secs_f64() / (simulation.now() - first) as f64;
        match repeat {
            0 => recording = simulation.core_mut().take_recording(),
            _ => whole = whole.min(seconds),
        }
        simulation.run(1_000);
        while simulation.next_segment().is_some() || simulation.next_fpdu().is_some() {}
    }
    report(rig, &recording, whole)
}

/// `whole`: seconds a cycle of the bench.
fn report(rig: &Rig, recording: &[u32], whole: f64) -> Speed {
    let mut simulation = rig.simulation.borrow_mut();
    let core = simulation.core_mut();
    let (mut bare, mut exchange, mut cycles) = (f64::MAX, f64::MAX, 1);
    for _ in 0..REPEATS {
        let start = Instant::now();
        cycles = core.replay(recording).max(1);
        bare = bare.min(start.elapsed().as_secs_f64() / cycles as f64);
        let start = Instant::now();
        core.replay_with_outputs(recording);
        exchange = exchange.min(start.elapsed().as_secs_f64() / cycles as f64);
    }
    let percent = |part: f64| (part / whole * 100.0).max(0.0);
    Speed {
        cycles,
        cycles_per_second: 1.0 / whole,
        bare_cycles_per_second: 1.0 / bare,
        evaluation_percent: percent(bare),
        exchange_percent: percent(exchange - bare),
        bench_percent: percent(whole - exchange),
        overhead_percent: (whole / bare - 1.0) * 100.0,
    }
}
