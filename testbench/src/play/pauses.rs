//! Pauses of the wire while packet memory is nearly full, or many frames wait for TCP.
//!
//! A capture does not show when its sender would have been slowed down. The wire pauses before the
//! next frame until there is room, or the core is idle, so that what is played does not depend on
//! how fast the host side is; a core that stalls ends the playback. Units: pages, frames, cycles.

use rnic_sim::Simulation;

/// Free pages below which the wire pauses: room for the longest frame.
const PAUSE_FREE_PAGES: u32 = 40;
/// Stored frames above which the wire pauses: the queue holds 16, and those that end while one is
/// seen must find room.
const PAUSE_STORED_FRAMES: u32 = 8;
/// Cycles after which a pause ends in any case: the core then has to drop. Pages that wait for
/// octets to come are not freed by waiting, so that an idle core ends it too.
const PAUSE_CYCLES_MAX: u64 = 200_000;
/// Pauses of `PAUSE_CYCLES_MAX` in a playback. In one of them the slowest host takes more than
/// packet memory holds, so that a core that goes on needing them does not go on itself.
const LONG_PAUSES_MAX: u32 = 8;

/// Cycles between two looks whether enough pages are free.
const PATIENCE_STEP_CYCLES: usize = 100;

/// Pauses of the wire: a core that stalls must end a playback, not make it endless.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    long: u32,
}

impl Pauses {
    /// Wait until there is room, or the core is idle: then it waits for octets to come.
    pub(super) fn wait(&mut self, simulation: &mut Simulation) {
        let start = simulation.now();
        while simulation.now() - start < PAUSE_CYCLES_MAX {
            let has_pages = simulation.free_pages() >= PAUSE_FREE_PAGES || simulation.is_idle();
            if has_pages && simulation.stored_frames() <= PAUSE_STORED_FRAMES {
                break;
            }
            simulation.step();
        }
        let now = simulation.now();
        self.ended(now - start, now);
    }

    /// A pause of so many cycles has ended.
    ///
    /// # Panics
    /// If too many have come to their limit.
    fn ended(&mut self, cycles: u64, now: u64) {
        self.long += u32::from(cycles >= PAUSE_CYCLES_MAX);
        assert!(
            self.long <= LONG_PAUSES_MAX,
            "the core stalls: by cycle {now} the wire has paused {} times for {PAUSE_CYCLES_MAX} \
             cycles, and packet memory has not made room",
            self.long
        );
    }
}

/// What the wire waits before a frame while few pages are free, as peers do that a receiver slows
/// down.
#[derive(Debug)]
pub(super) struct Patience {
    cycles: usize,
    /// Cycle of the last memory write, if a wait saw no later one.
    in_vain: Option<u64>,
}

impl Patience {
    /// Waits of `cycles` cycles at most.
    pub(super) fn new(cycles: usize) -> Self {
        Self {
            cycles,
            in_vain: None,
        }
    }

    /// Wait until `enough` pages are free, or for as long as it may; true if they are. A wait in
    /// which nothing was written is not repeated before something is.
    pub(super) fn wait(&mut self, simulation: &mut Simulation, enough: u32) -> bool {
        let write = simulation.last_write();
        if self.in_vain != Some(write) {
            for _ in 0..self.cycles / PATIENCE_STEP_CYCLES {
                if simulation.free_pages() >= enough {
                    return true;
                }
                simulation.run(PATIENCE_STEP_CYCLES);
            }
            self.in_vain = (simulation.last_write() == write).then_some(write);
        }
        simulation.free_pages() >= enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_host_makes_no_stall() {
        let mut pauses = Pauses::default();
        for _ in 0..10_000 {
            pauses.ended(PAUSE_CYCLES_MAX - 1, 7);
        }
        for _ in 0..LONG_PAUSES_MAX {
            pauses.ended(PAUSE_CYCLES_MAX, 7);
        }
    }

    #[test]
    #[should_panic(expected = "the core stalls: by cycle 7 the wire has paused 9 times")]
    fn a_core_that_never_makes_room_ends_the_playback() {
        let mut pauses = Pauses::default();
        for _ in 0..=LONG_PAUSES_MAX {
            pauses.ended(PAUSE_CYCLES_MAX, 7);
        }
    }
}
