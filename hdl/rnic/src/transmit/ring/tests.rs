//! Units of a ring are read once each, in order, line by line; doorbells and set-ups at any time.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, settle, Random};
use std::collections::VecDeque;

/// What is known of the ring outside of it.
#[derive(Default)]
struct Model {
    log2: u64,
    tail: u32,
    head: u32,
    given_up: u32,
    fetched: u32,
    /// Units of reads under way that have not come.
    reads: VecDeque<u32>,
    jobs: VecDeque<u64>,
    buffered: u64,
    /// A read of units failed; and the last frame is over.
    failed: bool,
    stopped: bool,
    settles: bool,
    /// Cycles since a doorbell, and the tail that it must lead to.
    rung: Option<(u32, Option<u32>)>,
    ignored: u32,
}

const BASE: u64 = 0xffff_f000;

impl Model {
    fn units(&self) -> u32 {
        1 << self.log2
    }

    fn doorbell(&mut self, uut: &mut TransmitRing, random: &mut Random) {
        uut.tail_valid.next = false;
        if let Some((cycles, tail)) = &mut self.rung {
            *cycles += 1;
            if *cycles > 4 {
                match tail.take() {
                    Some(tail) => self.tail = tail,
                    None => self.ignored += 1,
                }
                self.rung = None;
            }
            return;
        }
        if !random.chance(1, 12) {
            return;
        }
        let room = self.units() - self.tail.wrapping_sub(self.head);
        let (delta, good) = match random.below(8) {
            0 => (self.units() + 1 + random.below(1 << 31) as u32, false),
            1 => (0u32.wrapping_sub(1 + random.below(100) as u32), false),
            2 => (room, true),
            _ => (random.below(u64::from(room) + 1) as u32, true),
        };
        let tail = self.tail.wrapping_add(delta);
        uut.tail.next = u64::from(tail).into();
        uut.tail_valid.next = true;
        self.rung = Some((0, (good && self.log2 >= 4).then_some(tail)));
    }

    fn fetch(&mut self, uut: &TransmitRing) {
        let fetch = uut.fetch.val();
        let place = u64::from(self.fetched % self.units());
        assert_eq!(fetch.address, BASE + 32 * place);
        let octets = fetch.octets.to_u64();
        assert!(octets > 0 && octets % 32 == 0 && fetch.address.to_u64() % 512 + octets <= 512);
        assert!(!fetch.more && !self.failed && !self.settles && self.reads.len() < 4);
        let units = (octets / 32) as u32;
        self.fetched = self.fetched.wrapping_add(units);
        // The doorbell under examination may have been taken.
        let rung = self.rung.and_then(|(_, tail)| tail).unwrap_or(self.tail);
        let tail = if self.tail.wrapping_sub(self.fetched) < 1 << 31 {
            self.tail
        } else {
            rung
        };
        assert!(
            tail.wrapping_sub(self.fetched) <= self.units(),
            "beyond the tail"
        );
        let coming: u32 = self.reads.iter().sum();
        assert!(
            u64::from(coming + units) + self.buffered <= 128,
            "no place for it"
        );
        self.reads.push_back(units);
    }

    fn answers(&mut self, uut: &mut TransmitRing, random: &mut Random) {
        uut.filled.next = false;
        uut.read_ends.next = false;
        uut.read_failed.next = false;
        let Some(units) = self.reads.front_mut().filter(|_| random.chance(1, 2)) else {
            return;
        };
        let drops = self.failed || self.settles;
        let fails = random.chance(1, 400);
        if *units > 0 && !fails {
            *units -= 1;
            uut.filled.next = true;
            self.buffered += u64::from(!drops);
        }
        if *units == 0 || fails {
            uut.read_ends.next = true;
            uut.read_failed.next = fails;
            self.failed |= fails && !drops;
            self.reads.pop_front();
        }
    }

    fn frames(&mut self, uut: &mut TransmitRing, random: &mut Random) {
        uut.take.next = false;
        uut.passes.next = false;
        if self.buffered > 0 && random.chance(1, 4) && self.jobs.len() < 30 {
            let units = 1 + random.below(self.buffered.min(9));
            uut.take.next = true;
            uut.take_units.next = units.into();
            self.jobs.push_back(units);
            self.buffered -= units;
        } else if !self.jobs.is_empty() && random.chance(1, 4) {
            let units = self.jobs.pop_front().expect("it was there");
            let gave_up = random.chance(1, 8);
            uut.passes.next = true;
            uut.pass_units.next = units.into();
            uut.gave_up.next = gave_up;
            if !self.settles {
                self.head = self.head.wrapping_add(units as u32);
                self.given_up += u32::from(gave_up);
            }
        }
    }
}

#[test]
fn every_unit_is_read_once() {
    let mut model = Model::default();
    let (mut now, mut total, mut stops, mut settled, mut ignored) = (0u64, 0u64, 0, 0, 0);
    lockstep!(
        "transmit_ring",
        TransmitRing::default(),
        30_000,
        |uut, random| {
            now += 1;
            uut.base.next = BASE.into();
            assert_eq!(uut.head.val(), u64::from(model.head));
            assert_eq!(uut.given_up.val(), u64::from(model.given_up));
            assert_eq!(uut.stopped.val(), model.stopped);
            if model.settles && !uut.settles.val() {
                assert!(model.reads.is_empty() && model.jobs.is_empty());
                settled += 1;
            }
            model.settles = uut.settles.val();
            if !model.settles {
                assert_eq!(uut.buffered.val(), model.buffered);
            }
            uut.deciding.next = model.buffered > 0;
            let last = model.failed && model.jobs.is_empty() && model.buffered == 0;
            // What is under way is no part of the ring as it was set up.
            model.doorbell(uut, random);
            model.answers(uut, random);
            model.frames(uut, random);
            uut.fetch_ready.next = random.chance(1, 2);
            uut.set_up.next = false;
            let again = if model.stopped { 60 } else { 1200 };
            if now == 3 || random.chance(1, again) {
                uut.set_up.next = true;
                let log2 = [4, 5, 9, 16, 0, 17][random.below(6) as usize];
                uut.units_log2.next = log2.into();
                uut.tail_valid.next = false;
                settle(uut);
                if uut.fetch_valid.val() && uut.fetch_ready.next {
                    model.fetch(uut);
                }
                ignored += model.ignored;
                model = Model {
                    log2: if (4..=16).contains(&log2) { log2 } else { 0 },
                    reads: std::mem::take(&mut model.reads),
                    jobs: std::mem::take(&mut model.jobs),
                    settles: true,
                    ..Model::default()
                };
                return;
            }
            settle(uut);
            if uut.fetch_valid.val() && uut.fetch_ready.next {
                model.fetch(uut);
                total += u64::from(model.reads[model.reads.len() - 1]);
            }
            assert_eq!(uut.stops.val(), last && !model.stopped);
            model.stopped |= last;
            stops += u32::from(uut.stops.val());
        }
    );
    assert!(
        total > 800 && stops > 3 && settled > 10 && ignored > 20,
        "{total} {stops} {ignored}"
    );
}

/// The last of several doorbells in a row counts; one is ignored and counted.
#[test]
fn doorbells_in_a_row() {
    use rnic_hdl_tools::testkit::simulate;
    let mut uut = simulate!(TransmitRing::default());
    uut.fetch_ready.next = true;
    uut.units_log2.next = 5.into();
    uut.pulse(|uut| &mut uut.set_up);
    uut.ticks(3);
    uut.tail_valid.next = true;
    for tail in [3u64, 40, 7] {
        uut.tail.next = tail.into();
        uut.tick();
    }
    uut.tail_valid.next = false;
    let cycles = uut.wait_for(20, |uut| uut.fetch_valid.val());
    assert_eq!(uut.fetch.val().octets, 7 * 32u64);
    assert!(cycles <= 8, "{cycles}");
}
