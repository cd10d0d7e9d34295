//! A fence waits for the records before it, wherever they are, and for no other.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random};
use std::collections::VecDeque;

/// Most records on their way from MPA, and in the FIFO and the checks.
const COMING_MAX: usize = 5;
const INSIDE_MAX: usize = 17;

/// The room around the fence: a number for each record, in the order of their beginnings; replayed
/// records begin when they enter.
#[derive(Default)]
struct Room {
    begun: u64,
    coming: VecDeque<u64>,
    inside: VecDeque<u64>,
    /// Its command or stream error has not been taken.
    output: Option<u64>,
    /// The fence at hand: it waits for all records with lower numbers.
    fence: Option<u64>,
    fences: usize,
    /// Fences that began with records on their way, inside, and with an output not taken.
    met: [usize; 3],
    /// Fences that ended with younger records inside.
    passed: usize,
}

impl Room {
    fn next_number(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    /// Sets the inputs of a cycle; `busy` of 8: how often records begin.
    fn drive(&mut self, uut: &mut RecordFence, busy: u64, random: &mut Random) {
        uut.begun.next = self.coming.len() < COMING_MAX && random.chance(busy, 8);
        let room = self.inside.len() < INSIDE_MAX;
        uut.record_valid.next = room && !self.coming.is_empty() && random.chance(1, 4);
        let replays = room && !uut.record_valid.next && random.chance(busy, 24);
        uut.enters.next = uut.record_valid.next || replays;
        uut.outputs_free.next = self.output.is_none();
        let may_load = self.output.is_none() && !self.inside.is_empty();
        uut.load.next = may_load && random.chance(1, 3);
        uut.fence.next = self.fence.is_some() || random.chance(1, 40);
        if self.fence.is_none() && uut.fence.next {
            self.fence = Some(self.begun + 1);
            self.met[0] += usize::from(!self.coming.is_empty());
            self.met[1] += usize::from(!self.inside.is_empty());
            self.met[2] += usize::from(self.output.is_some());
        }
    }

    /// What becomes of the inputs at the end of the cycle.
    fn advance(&mut self, uut: &RecordFence, random: &mut Random) {
        if random.chance(1, 4) {
            self.output = None;
        }
        if uut.load.next {
            let loaded = self.inside.pop_front();
            self.output = loaded.filter(|_| random.chance(1, 2));
        }
        if uut.record_valid.next {
            self.inside.extend(self.coming.pop_front());
        } else if uut.enters.next {
            let replayed = self.next_number();
            self.inside.push_back(replayed);
        }
        if uut.begun.next {
            let number = self.next_number();
            self.coming.push_back(number);
        }
    }

    /// In the cycle of `fence_done`, before its inputs take effect.
    fn check(&mut self, done: bool) {
        let Some(fence) = self.fence.filter(|_| done) else {
            assert!(!done, "no fence has begun");
            return;
        };
        let held = self.coming.iter().chain(&self.inside).chain(&self.output);
        let before = held.filter(|number| **number < fence).count();
        assert_eq!(before, 0, "records before fence {fence} have not left");
        self.passed += usize::from(!self.inside.is_empty());
        self.fence = None;
        self.fences += 1;
    }
}

#[test]
fn lockstep_with_verilog_and_no_earlier_record_is_left() {
    let (mut room, mut cycle) = (Room::default(), 0);
    let mut waits = 0;
    let uut = RecordFence::default();
    lockstep!("record_fence", uut, 12_000, |uut, random| {
        uut.reset.next = cycle == 0;
        cycle += 1;
        if uut.reset.next {
            return;
        }
        // `fence_done` depends on `outputs_free` of this cycle.
        let before = uut.leaving.q.val() && !uut.ahead.q.val().any();
        let busy = [6, 2, 0][cycle / 400 % 3];
        room.drive(uut, busy, random);
        let done = before && uut.outputs_free.next;
        room.check(done);
        room.advance(uut, random);
        waits = if room.fence.is_some() { waits + 1 } else { 0 };
        assert!(waits < 1000, "a fence has no end");
    });
    assert!(room.fences > 100 && room.passed > 30, "{}", room.passed);
    assert!(room.met.iter().all(|met| *met > 20), "{:?}", room.met);
}

#[test]
fn a_fence_of_an_idle_room_takes_two_cycles() {
    let mut uut = simulate!(RecordFence::default());
    uut.outputs_free.next = true;
    uut.fence.next = true;
    for cycle in 0..3 {
        uut.settle();
        assert_eq!(uut.fence_done.val(), cycle == 2, "cycle {cycle}");
        uut.tick();
    }
    uut.fence.next = false;
    for _ in 0..8 {
        uut.settle();
        assert!(!uut.fence_done.val(), "once");
        uut.tick();
    }
}

/// Records that begin after the fence do not keep it waiting, though there are always some.
#[test]
fn a_fence_ends_however_busy_the_room_is() {
    let mut uut = simulate!(RecordFence::default());
    uut.outputs_free.next = true;
    for cycle in 0..40 {
        uut.begun.next = true;
        uut.record_valid.next = cycle >= 3;
        uut.enters.next = cycle >= 3;
        uut.load.next = cycle >= 10;
        uut.fence.next = cycle >= 20;
        uut.settle();
        // The last of those begun before comes in cycle 22, and the six before it, or it
        // itself, leave in cycles 24 to 29.
        if uut.fence_done.val() {
            assert_eq!(cycle, 30);
            return;
        }
        uut.tick();
    }
    panic!("the fence did not end");
}

#[test]
fn a_reset_ends_the_fence() {
    let mut uut = simulate!(RecordFence::default());
    uut.begun.next = true;
    uut.tick();
    uut.begun.next = false;
    uut.outputs_free.next = true;
    uut.fence.next = true;
    for _ in 0..20 {
        uut.settle();
        assert!(!uut.fence_done.val(), "a record is on its way");
        uut.tick();
    }
    uut.fence.next = false;
    uut.pulse(|uut| &mut uut.reset);
    for _ in 0..8 {
        uut.settle();
        assert!(!uut.fence_done.val());
        uut.tick();
    }
    uut.fence.next = true;
    uut.tick();
    uut.tick();
    uut.settle();
    assert!(uut.fence_done.val(), "nothing is on its way any more");
}
