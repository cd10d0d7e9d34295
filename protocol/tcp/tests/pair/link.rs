//! A link between two ends: delay, bandwidth with a queue, loss, duplication and reordering, drawn
//! from a seed.
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_tcp::{Head, Segment};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Octets of Ethernet, IPv4 and TCP around the payload.
const HEADER_OCTETS: u64 = 54;

/// A segment with its octets.
#[derive(Clone, Debug, PartialEq)]
pub struct Wire {
    pub head: Head,
    pub payload: Vec<u8>,
}

impl Wire {
    pub fn segment(&self) -> Segment<'_> {
        Segment {
            head: self.head,
            payload: &self.payload,
        }
    }
}

/// What a link does to segments. Rates are in a million.
#[derive(Copy, Clone, Debug)]
pub struct Path {
    pub delay_us: u64,
    /// Up to so much more before the bottleneck, without reordering.
    pub jitter_us: u64,
    /// Octets a second; 0 for any number.
    pub octets_a_second: u64,
    /// Octets that wait for it, at most.
    pub queue_octets: u64,
    pub loss: u32,
    pub duplication: u32,
    pub reordering: u32,
    /// Up to so much later than what follows.
    pub late_us: u64,
}

impl Default for Path {
    fn default() -> Self {
        Self {
            delay_us: 50,
            jitter_us: 0,
            octets_a_second: 0,
            queue_octets: u64::MAX,
            loss: 0,
            duplication: 0,
            reordering: 0,
            late_us: 500,
        }
    }
}

/// What a script does with a segment.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Action {
    Pass,
    Drop,
}

type Script = Box<dyn FnMut(usize, &Wire) -> Action>;

pub struct Link {
    pub path: Path,
    random: ChaCha8Rng,
    /// By time and order of arrival: the end that it reaches.
    queue: BTreeMap<(u64, u64), (usize, Wire)>,
    order: u64,
    /// Shared by the links that pass one bottleneck.
    pub busy_until_us: Rc<RefCell<[u64; 2]>>,
    /// When the last segment reached the bottleneck.
    last_us: [u64; 2],
    pub script: Script,
    pub dropped: u64,
}

impl Link {
    pub fn new(path: Path, seed: u64) -> Self {
        Self {
            path,
            random: ChaCha8Rng::seed_from_u64(seed),
            queue: BTreeMap::new(),
            order: 0,
            busy_until_us: Rc::default(),
            last_us: [0; 2],
            script: Box::new(|_, _| Action::Pass),
            dropped: 0,
        }
    }

    fn happens(&mut self, rate: u32) -> bool {
        rate > 0 && self.random.random_range(0..1_000_000) < rate
    }

    /// End `from` sends.
    pub fn send(&mut self, from: usize, wire: Wire, now_us: u64) {
        let mut delay_us = self.path.delay_us;
        let mut copies = 1;
        match (self.script)(from, &wire) {
            Action::Pass => {}
            Action::Drop => copies = 0,
        }
        if copies > 0 && self.happens(self.path.loss) {
            copies = 0;
        }
        if copies > 0 && self.happens(self.path.duplication) {
            copies = 2;
        }
        if self.happens(self.path.reordering) {
            delay_us += self.random.random_range(1..=self.path.late_us);
        }
        if copies == 0 {
            self.dropped += 1;
        }
        let mut now_us = now_us;
        if self.path.jitter_us > 0 {
            now_us += self.random.random_range(0..=self.path.jitter_us);
            now_us = now_us.max(self.last_us[from]);
            self.last_us[from] = now_us;
        }
        for _ in 0..copies {
            let Some(leaves_us) = self.transmit(from, &wire, now_us) else {
                self.dropped += 1;
                continue;
            };
            self.order += 1;
            let at = (leaves_us + delay_us, self.order);
            self.queue.insert(at, (1 - from, wire.clone()));
        }
    }

    /// When the last octet has left; `None` if the queue is full.
    fn transmit(&mut self, from: usize, wire: &Wire, now_us: u64) -> Option<u64> {
        if self.path.octets_a_second == 0 {
            return Some(now_us);
        }
        let begins_us = self.busy_until_us.borrow()[from].max(now_us);
        let waiting = (begins_us - now_us) * self.path.octets_a_second / 1_000_000;
        let octets = HEADER_OCTETS + wire.payload.len() as u64;
        if waiting + octets > self.path.queue_octets {
            return None;
        }
        let takes_us = (octets * 1_000_000).div_ceil(self.path.octets_a_second);
        self.busy_until_us.borrow_mut()[from] = begins_us + takes_us;
        Some(begins_us + takes_us)
    }

    pub fn next_us(&self) -> Option<u64> {
        self.queue.keys().next().map(|key| key.0)
    }

    /// What arrives by now: the end, and the segment.
    pub fn arrive(&mut self, now_us: u64) -> Option<(usize, Wire)> {
        let (&key, _) = self.queue.first_key_value()?;
        (key.0 <= now_us).then(|| self.queue.remove(&key)).flatten()
    }
}
