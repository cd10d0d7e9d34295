//! What a model is trained with before a long run: every pattern of the bench, in short.
//!
//! Counts of branches are what remains of it (`rnic_sim::library::guide`), so a few frames of each
//! kind are enough, and other workloads gain as well.

use crate::bench::load::{frames, Pattern};
use crate::bench::rig::{Rig, CONNECTIONS};
use crate::play::rtl::BringUpError;
use rnic_sim::SimError;

const FRAMES: usize = 60;
/// Each on the first stream that sends it so.
const LOADS: [(Pattern, usize); 5] = [
    (Pattern::Aligned, 1518),
    (Pattern::Markers, 1518),
    (Pattern::Packed, 1518),
    (Pattern::Unaligned, 1518),
    (Pattern::Acknowledgement, 64),
];
/// Cycles after each load.
const REST_CYCLES: usize = 1_000;

/// Guide the cores of `width` that this process loads from now on; returns whether they are.
pub fn guide(width: usize) -> Result<bool, SimError> {
    rnic_sim::library::guide(width, &|| {
        // A core that does not come up shows in the run proper, which reports it.
        let _ = train(width);
    })
}

fn train(width: usize) -> Result<(), BringUpError> {
    let mut rig = Rig::new(width)?;
    for (pattern, octets) in LOADS {
        let first = if pattern.markers() { CONNECTIONS } else { 0 };
        let load = frames(&mut rig.streams[first], pattern, octets, FRAMES);
        let mut simulation = rig.simulation.borrow_mut();
        let beat_octets = simulation.frames_mut().beat_octets() as u32;
        simulation.frames_mut().set_rate(1, beat_octets);
        load.into_iter()
            .for_each(|frame| simulation.push_frame(frame, false));
        while simulation.frames_waiting() > 0 {
            simulation.step();
        }
        simulation.run(REST_CYCLES);
    }
    Ok(())
}
