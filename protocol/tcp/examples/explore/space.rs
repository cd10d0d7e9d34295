//! The states of ends and the segments between them, each kept once and known by a number, and what
//! one leads to, computed once.
//!
//! Both ends are deterministic and share nothing but segments and the time. So a state of the pair
//! is a few numbers, and most of its successors are looked up. Each step of an end is computed
//! twice, which shows that equal inputs give equal outputs.
use crate::end::{Break, End, Finding, Wire};
use rnic_tcp::Settings;
use std::collections::hash_map::DefaultHasher;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

/// An end in one state.
pub type EndId = u32;
/// A segment and the end that it goes to.
pub type WireId = u16;
/// A moment.
pub type TimeId = u16;

/// What an end does with a segment, or at a moment.
#[derive(Copy, Clone, Debug)]
pub struct Step {
    pub end: EndId,
    /// What leaves.
    leaving: u32,
}

/// Everything that was met.
pub struct Space {
    settings: Settings,
    broken: Option<Break>,
    ends: Vec<(End, Option<u64>)>,
    end_ids: HashMap<u128, EndId>,
    wires: Vec<(u8, Wire)>,
    wire_ids: HashMap<(u8, Wire), WireId>,
    times_us: Vec<u64>,
    leaving: Vec<Vec<WireId>>,
    leaving_ids: HashMap<Vec<WireId>, u32>,
    arrivals: HashMap<(EndId, WireId, TimeId), Step>,
    expiries: HashMap<(EndId, TimeId), Step>,
}

fn hash(value: &impl Hash) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, value).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

impl Space {
    pub fn new(settings: Settings, broken: Option<Break>) -> Self {
        Self {
            settings,
            broken,
            ends: Vec::new(),
            end_ids: HashMap::new(),
            wires: Vec::new(),
            wire_ids: HashMap::new(),
            times_us: vec![0],
            leaving: Vec::new(),
            leaving_ids: HashMap::new(),
            arrivals: HashMap::new(),
            expiries: HashMap::new(),
        }
    }

    pub fn end(&self, id: EndId) -> &End {
        &self.ends[id as usize].0
    }

    /// States of an end, and segments.
    pub fn counts(&self) -> (usize, usize) {
        (self.ends.len(), self.wires.len())
    }

    /// What leaves in a step.
    pub fn leaving(&self, step: Step) -> &[WireId] {
        &self.leaving[step.leaving as usize]
    }

    /// The end that a segment goes to.
    pub fn side(&self, wire: WireId) -> usize {
        usize::from(self.wires[usize::from(wire)].0)
    }

    pub fn wire(&self, wire: WireId) -> &Wire {
        &self.wires[usize::from(wire)].1
    }

    /// The earlier of the deadlines of two ends.
    pub fn deadline(&mut self, ends: [EndId; 2]) -> Option<TimeId> {
        let deadlines = ends.iter().filter_map(|&end| self.ends[end as usize].1);
        let deadline_us = deadlines.min()?;
        let known = self.times_us.iter().position(|&time| time == deadline_us);
        let index = known.unwrap_or_else(|| {
            self.times_us.push(deadline_us);
            self.times_us.len() - 1
        });
        Some(TimeId::try_from(index).expect("few moments are possible"))
    }

    /// A new state, after a step that is computed twice.
    pub fn enter(
        &mut self,
        before: &End,
        step: impl Fn(&mut End) -> Result<Vec<Wire>, Finding>,
    ) -> Result<Step, Finding> {
        let mut end = before.clone();
        let wires = step(&mut end)?;
        let mut again = before.clone();
        if step(&mut again)? != wires || hash(&again) != hash(&end) {
            return Err("equal inputs give different outputs".into());
        }
        let to = 1 - end.side as u8;
        let wires: Vec<WireId> = wires
            .into_iter()
            .map(|wire| self.wire_id(to, wire))
            .collect();
        let new = self.leaving.len() as u32;
        let leaving = *self.leaving_ids.entry(wires.clone()).or_insert(new);
        if leaving == new {
            self.leaving.push(wires);
        }
        let new = self.ends.len() as EndId;
        let id = *self.end_ids.entry(hash(&end)).or_insert(new);
        if id == new {
            let deadline_us = end.deadline_us(self.broken);
            self.ends.push((end, deadline_us));
        }
        Ok(Step { end: id, leaving })
    }

    fn wire_id(&mut self, to: u8, wire: Wire) -> WireId {
        let new = self.wires.len();
        let id = *self
            .wire_ids
            .entry((to, wire.clone()))
            .or_insert_with(|| WireId::try_from(new).expect("few segments are possible"));
        if usize::from(id) == new {
            self.wires.push((to, wire));
        }
        id
    }

    /// A segment arrives.
    pub fn arrive(&mut self, end: EndId, wire: WireId, now: TimeId) -> Result<Step, Finding> {
        if let Some(&step) = self.arrivals.get(&(end, wire, now)) {
            return Ok(step);
        }
        let before = self.end(end).clone();
        let segment = self.wire(wire).clone();
        let (settings, broken) = (self.settings, self.broken);
        let now_us = self.times_us[usize::from(now)];
        let step = self.enter(&before, |end| {
            end.arrive(&segment, settings, now_us)?;
            end.pump(broken, now_us)
        })?;
        self.arrivals.insert((end, wire, now), step);
        Ok(step)
    }

    /// Time passes.
    pub fn expire(&mut self, end: EndId, now: TimeId) -> Result<Step, Finding> {
        if let Some(&step) = self.expiries.get(&(end, now)) {
            return Ok(step);
        }
        let before = self.end(end).clone();
        let (broken, now_us) = (self.broken, self.times_us[usize::from(now)]);
        let step = self.enter(&before, |end| end.pump(broken, now_us))?;
        self.expiries.insert((end, now), step);
        Ok(step)
    }
}
