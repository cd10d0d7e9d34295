//! What becomes of frames between the ports of a hub, and when. No I/O and no clock: time is in
//! microseconds, of the caller.
//!
//! ```text
//!  enter --> lost? --> room in the port's queue? --> twice? --> late? --> due at a time --> leave
//!              |                  |                              |
//!           dropped            dropped          held until 1 to 3 others of the port have left,
//!                                               or HOLD_US longer
//! ```
//!
//! The fate of a port's frame number N depends on the seed, the port and N alone: a run of which
//! only the times differ loses the same frames. A held frame leaves with the one that is the last
//! to overtake it, at the latest [`HOLD_US`] after it was due, so that the last frame of all does
//! not stay.

use super::{Rate, Settings};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter;

/// Longest time that a frame waits for others to overtake it.
pub const HOLD_US: u64 = 20_000;
/// Frames that overtake one that is late: 1 to this.
const OVERTAKERS_MAX: u32 = 3;
/// Octets that wait at a port of limited speed; a frame beyond is dropped.
pub const QUEUE_OCTETS_MAX: usize = 1 << 20;
/// Octets that are on their way between all ports; a frame beyond is dropped.
pub const WAY_OCTETS_MAX: usize = 256 << 20;
/// What a frame takes on the wire beside its octets: preamble, FCS and gap (IEEE 802.3).
const WIRE_OCTETS: u64 = 8 + 4 + 12;

/// What has become of the frames of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Came in.
    pub received: u64,
    /// Octets of these.
    pub octets: u64,
    /// Were lost on purpose.
    pub lost: u64,
    /// Found the queue full.
    pub full: u64,
    /// Were copied.
    pub duplicated: u64,
    /// Were held, to be overtaken; copies, too.
    pub late: u64,
    /// Went out at this port.
    pub sent: u64,
    /// Did not go out: nobody was there, or did not read.
    pub unread: u64,
}

/// A frame on its way; the order is that of leaving.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    due: u64,
    serial: u64,
    from: usize,
    /// Frames of its port that overtake it; 0 if it is on time.
    overtakers: u32,
    frame: Vec<u8>,
}

/// A port: what comes in, and what has become of all its frames.
#[derive(Debug)]
struct Inlet {
    random: ChaCha8Rng,
    counts: Counts,
    /// When the last octet that waits will have gone in, in nanoseconds.
    busy_ns: u64,
    /// Frames that were due and wait to be overtaken, with the time at which they wait no longer.
    held: Vec<Way>,
}

/// What is between the ports.
#[derive(Debug)]
pub struct Medium {
    settings: Settings,
    inlets: Vec<Inlet>,
    ways: BinaryHeap<Reverse<Way>>,
    serial: u64,
    /// Octets of frames that have entered and not left.
    octets: usize,
}

impl Medium {
    /// For `ports` ports, with nothing on its way.
    pub fn new(settings: Settings, ports: usize) -> Self {
        let inlet = |port: usize| {
            let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
            random.set_stream(port as u64);
            Inlet {
                random,
                counts: Counts::default(),
                busy_ns: 0,
                held: Vec::new(),
            }
        };
        Self {
            settings,
            inlets: (0..ports).map(inlet).collect(),
            ways: BinaryHeap::new(),
            serial: 0,
            octets: 0,
        }
    }

    /// What has become of the frames of `port`.
    ///
    /// # Panics
    /// There is no such port.
    pub fn counts(&self, port: usize) -> Counts {
        self.inlets[port].counts
    }

    /// A frame that left was offered to the other end of `port`, and taken or not.
    ///
    /// # Panics
    /// There is no such port.
    pub fn note_sent(&mut self, port: usize, is_taken: bool) {
        let counts = &mut self.inlets[port].counts;
        counts.sent += u64::from(is_taken);
        counts.unread += u64::from(!is_taken);
    }

    /// A frame comes in at port `from`; gives it back if it is dropped.
    ///
    /// # Panics
    /// There is no such port.
    pub fn enter(&mut self, from: usize, now: u64, frame: Vec<u8>) -> Option<Vec<u8>> {
        let settings = self.settings;
        let inlet = &mut self.inlets[from];
        inlet.counts.received += 1;
        inlet.counts.octets += frame.len() as u64;
        // As many draws for each frame, whatever becomes of it.
        let mut draw = |rate: Rate| inlet.random.random_bool(rate.probability());
        let [is_lost, is_copied] = [settings.loss, settings.duplicate].map(&mut draw);
        let are_late = [settings.reorder; 2].map(&mut draw);
        let overtakers = are_late.map(|is_late| {
            let count = inlet.random.random_range(1..=OVERTAKERS_MAX);
            count * u32::from(is_late)
        });
        if is_lost {
            inlet.counts.lost += 1;
            return Some(frame);
        }
        let copies = 1 + usize::from(is_copied);
        let octets = self.octets + copies * frame.len();
        let has_way = octets <= WAY_OCTETS_MAX;
        let admit = || inlet.admit(now, frame.len(), settings.megabits);
        let Some(in_us) = has_way.then(admit).flatten() else {
            inlet.counts.full += 1;
            return Some(frame);
        };
        self.octets = octets;
        inlet.counts.duplicated += u64::from(is_copied);
        let late = overtakers[..copies].iter().filter(|&&count| count > 0);
        inlet.counts.late += late.count() as u64;
        let copy = is_copied.then(|| frame.clone());
        for (frame, overtakers) in iter::once(frame).chain(copy).zip(overtakers) {
            self.serial += 1;
            self.ways.push(Reverse(Way {
                due: in_us + settings.delay_us,
                serial: self.serial,
                from,
                overtakers,
                frame,
            }));
        }
        None
    }

    /// When [`Medium::leave`] will have a frame, if none comes in before.
    pub fn due(&self) -> Option<u64> {
        let held = self.inlets.iter().flat_map(|inlet| &inlet.held);
        let held = held.map(|way| way.due);
        held.chain(self.ways.peek().map(|Reverse(way)| way.due))
            .min()
    }

    /// The next frame that is due, and the port at which it came in: it leaves at all others.
    pub fn leave(&mut self, now: u64) -> Option<(usize, Vec<u8>)> {
        let Way { from, frame, .. } = self.next(now)?;
        self.octets -= frame.len();
        Some((from, frame))
    }

    fn next(&mut self, now: u64) -> Option<Way> {
        loop {
            if let Some(way) = self.released(now) {
                return Some(way);
            }
            let next = self.ways.peek();
            next.filter(|Reverse(way)| way.due <= now)?;
            let Reverse(mut way) = self.ways.pop()?;
            let inlet = &mut self.inlets[way.from];
            if way.overtakers == 0 {
                inlet.held.iter_mut().for_each(|held| held.overtakers -= 1);
                return Some(way);
            }
            way.due += HOLD_US;
            inlet.held.push(way);
        }
    }

    /// A held frame that has been overtaken often enough, or has waited long enough.
    fn released(&mut self, now: u64) -> Option<Way> {
        self.inlets.iter_mut().find_map(|inlet| {
            let is_free = |way: &Way| way.overtakers == 0 || way.due <= now;
            let place = inlet.held.iter().position(is_free)?;
            Some(inlet.held.remove(place))
        })
    }
}

impl Inlet {
    /// When the last octet of a frame will have come in, in microseconds; none if too much waits.
    fn admit(&mut self, now: u64, octets: usize, megabits: u32) -> Option<u64> {
        if megabits == 0 {
            return Some(now);
        }
        let nanoseconds = |octets: u64| octets * 8 * 1_000 / u64::from(megabits);
        let begin = self.busy_ns.max(now * 1_000);
        if begin - now * 1_000 > nanoseconds(QUEUE_OCTETS_MAX as u64) {
            return None;
        }
        self.busy_ns = begin + nanoseconds(octets as u64 + WIRE_OCTETS);
        Some(self.busy_ns.div_ceil(1_000))
    }
}

#[cfg(test)]
mod tests;
