//! Every history of the pair within bounds, each state once.
use crate::end::{Break, End, Finding};
use crate::space::{EndId, Space, Step, TimeId, WireId};
use rnic_tcp::{Connection, SeqNumber, Settings};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::{Duration, Instant};

/// How much may happen in one history: records each way, a segment each, and faults.
#[derive(Copy, Clone, Debug)]
pub struct Bounds {
    pub records: u32,
    pub losses: u8,
    pub duplications: u8,
    pub early_timers: u8,
    pub order: Order,
}

/// `faults`: losses, duplications, early timers.
pub const fn bounds(records: u32, faults: [u8; 3], order: Order) -> Bounds {
    let [losses, duplications, early_timers] = faults;
    Bounds {
        records,
        losses,
        duplications,
        early_timers,
        order,
    }
}

/// In which order segments arrive.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// In any.
    Any,
    /// As they were sent, each way, but for so many that overtake others.
    Sent { overtakings: u8 },
}

/// What stops a search before it is whole.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    pub states: usize,
    pub time: Duration,
}

/// What was explored.
#[derive(Debug)]
pub struct Report {
    /// States of the pair, whatever faults were left in them.
    pub states: usize,
    pub steps: u64,
    /// States of one end, and segments.
    pub parts: (usize, usize),
    pub is_whole: bool,
    pub finding: Option<Finding>,
}

/// ISS + 1 of both ends: the numbers wrap within the first records.
const FIRST: [SeqNumber; 2] = [SeqNumber(u32::MAX - 90), SeqNumber(u32::MAX - 30)];

/// Rests of a kind of faults: 0 to 2.
const FAULTS: u8 = 3;

/// Six records fit the window. Segments are the smallest possible, so that the congestion window
/// counts each.
pub fn settings() -> Settings {
    Settings {
        receive_octets: 400,
        records_max: 8,
        emss_octets: 64,
        ..Settings::default()
    }
}

/// Faults that are left: losses, duplications, early timers.
type Left = [u8; 3];

#[derive(Clone, Debug)]
struct Node {
    ends: [EndId; 2],
    now: TimeId,
    left: Left,
    order: Order,
    /// As they were sent; in the order of their numbers if they arrive in any.
    flight: Vec<WireId>,
}

impl Node {
    /// Another hash than the set's own: two products of 64 bits, of which 96 bits are kept.
    fn hash(&self) -> [u32; 3] {
        let [a, b] = self.ends.map(u64::from);
        let mut hash = (
            0x9e37_79b9_7f4a_7c15u64 ^ a << 32 ^ b,
            0xd6e8_feb8_6659_fd93u64 ^ u64::from(self.now),
        );
        let mut mix = |value: u64| {
            let first = u128::from(hash.0 ^ value) * 0xa076_1d64_78bd_642f;
            let second = u128::from(hash.1 ^ value ^ hash.0) * 0xe703_7ed1_a0b4_28db;
            hash.0 = (first >> 64) as u64 ^ first as u64;
            hash.1 = (second >> 64) as u64 ^ second as u64;
        };
        mix(1);
        for wires in self.flight.chunks(3) {
            let packed = wires
                .iter()
                .fold(1, |packed, &wire| packed << 16 | u64::from(wire));
            mix(packed);
        }
        mix(match self.order {
            Order::Any => 2,
            Order::Sent { overtakings } => 3 + u64::from(overtakings),
        });
        [hash.0 as u32, (hash.0 >> 32) as u32, hash.1 as u32]
    }

    fn send(&mut self, wires: &[WireId]) {
        for &wire in wires {
            let at = match self.order {
                Order::Any => self.flight.partition_point(|&other| other <= wire),
                Order::Sent { .. } => self.flight.len(),
            };
            self.flight.insert(at, wire);
        }
    }
}

/// Which of the 27 rests of faults are covered by one of them: those with no more of any kind.
fn covered(left: Left) -> u32 {
    let mut covered = 0;
    for rest in 0..FAULTS.pow(3) {
        let rest_left = [rest / 9, rest / 3 % 3, rest % 3];
        let is_less = rest_left.iter().zip(left).all(|(rest, left)| *rest <= left);
        covered |= u32::from(is_less) << rest;
    }
    covered
}

fn bit(left: Left) -> u32 {
    1 << (left[0] * 9 + left[1] * 3 + left[2])
}

/// The keys are hashes already.
#[derive(Default)]
struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, octets: &[u8]) {
        let mut half = [0; 8];
        half.copy_from_slice(&octets[..8]);
        self.0 = u64::from_le_bytes(half);
    }

    fn write_usize(&mut self, _: usize) {}
}

/// A search.
struct Search {
    space: Space,
    /// For each state, the rests of faults that it has been followed with.
    seen: HashMap<[u32; 3], u32, BuildHasherDefault<Ready>>,
    open: Vec<Node>,
    steps: u64,
}

impl Search {
    fn new(bounds: Bounds, settings: Settings, broken: Option<Break>) -> Result<Self, Finding> {
        let mut space = Space::new(settings, broken);
        let [mut client, server] = [0, 1].map(|side| End::new(side, FIRST[side], bounds.records));
        let tcp = Connection::connect(settings, FIRST[0] - 1, 0);
        client.tcp = Some(tcp.map_err(|error| error.to_string())?);
        let client = space.enter(&client, |end| end.pump(broken, 0))?;
        let server = space.enter(&server, |end| end.pump(broken, 0))?;
        let flight = space.leaving(client).to_vec();
        let node = Node {
            ends: [client.end, server.end],
            now: 0,
            left: [bounds.losses, bounds.duplications, bounds.early_timers],
            order: bounds.order,
            flight,
        };
        Ok(Self {
            space,
            seen: HashMap::default(),
            open: vec![node],
            steps: 0,
        })
    }

    /// Follow a state later, unless it was met with as many faults left.
    fn open(&mut self, node: Node) {
        self.steps += 1;
        let seen = self.seen.entry(node.hash()).or_default();
        if *seen & bit(node.left) == 0 {
            *seen |= covered(node.left);
            self.open.push(node);
        }
    }

    /// The ends that `step` leaves, with what they sent.
    fn after(&mut self, node: &Node, side: usize, step: Step) -> Result<Node, Finding> {
        let mut next = node.clone();
        next.ends[side] = step.end;
        let leaving = self.space.leaving(step);
        for &wire in leaving {
            let head = &self.space.wire(wire).head;
            self.space
                .end(step.end)
                .verify_sent(head, self.space.end(node.ends[1 - side]))?;
        }
        next.send(leaving);
        Ok(next)
    }

    /// All that can happen next: what needs no fault last, so that it is followed first.
    fn follow(&mut self, node: &Node) -> Result<(), Finding> {
        let [client, server] = node.ends.map(|end| self.space.end(end));
        client.verify_acked(server)?;
        server.verify_acked(client)?;
        let early_timers = node.left[2];
        let is_early = !node.flight.is_empty();
        match self.space.deadline(node.ends) {
            Some(now) if !is_early || early_timers > 0 => {
                let mut later = node.clone();
                later.left[2] -= u8::from(is_early);
                later.now = now;
                for side in [0, 1] {
                    let step = self.space.expire(later.ends[side], now)?;
                    later = self.after(&later, side, step)?;
                }
                self.open(later);
            }
            None if !is_early => {
                let [client, server] = node.ends.map(|end| self.space.end(end));
                client.verify_over(server)?;
                server.verify_over(client)?;
            }
            _ => {}
        }
        for index in 0..node.flight.len() {
            if let Some(node) = self.choose(node, index) {
                self.follow_segment(&node, index)?;
            }
        }
        Ok(())
    }

    /// The state before the segment at `index` is the next to arrive; `None` if it cannot be.
    fn choose(&self, node: &Node, index: usize) -> Option<Node> {
        let (before, wire) = (&node.flight[..index], node.flight[index]);
        if node.order == Order::Any {
            // The same segment twice, once is enough.
            return (before.last() != Some(&wire)).then(|| node.clone());
        }
        let side = self.space.side(wire);
        let overtakes = before.iter().any(|&other| self.space.side(other) == side);
        let mut chosen = node.clone();
        if let (true, Order::Sent { overtakings }) = (overtakes, &mut chosen.order) {
            *overtakings = overtakings.checked_sub(1)?;
        }
        Some(chosen)
    }

    /// The segment at `index` is lost, arrives and stays, or arrives.
    fn follow_segment(&mut self, node: &Node, index: usize) -> Result<(), Finding> {
        let [losses, duplications, _] = node.left;
        let wire = node.flight[index];
        let side = self.space.side(wire);
        let step = self.space.arrive(node.ends[side], wire, node.now)?;
        let mut without = node.clone();
        without.flight.remove(index);
        let once = self.after(&without, side, step)?;
        if losses > 0 {
            without.left[0] -= 1;
            self.open(without);
        }
        if duplications > 0 {
            let mut twice = self.after(node, side, step)?;
            twice.left[1] -= 1;
            self.open(twice);
        }
        self.open(once);
        Ok(())
    }
}

/// Follow every history within `bounds`, until something is found.
pub fn explore(
    bounds: Bounds,
    limits: Limits,
    settings: Settings,
    broken: Option<Break>,
) -> Report {
    let begin = Instant::now();
    let mut report = Report {
        states: 0,
        steps: 0,
        parts: (0, 0),
        is_whole: true,
        finding: None,
    };
    let mut search = match Search::new(bounds, settings, broken) {
        Ok(search) => search,
        Err(finding) => {
            report.finding = Some(finding);
            return report;
        }
    };
    while let Some(node) = search.open.pop() {
        if let Err(finding) = search.follow(&node) {
            report.finding = Some(finding);
            break;
        }
        let is_late = search.steps % 1024 == 0 && begin.elapsed() > limits.time;
        if search.seen.len() >= limits.states || is_late {
            report.is_whole = false;
            break;
        }
    }
    (report.states, report.steps) = (search.seen.len(), search.steps);
    report.parts = search.space.counts();
    report
}
