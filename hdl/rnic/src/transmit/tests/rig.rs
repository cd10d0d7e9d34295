//! What stands around the room: software, a model of the read engine, memory, and a MAC.
use super::frames::{add_sums, frame_of, length, spoil, Arena, Spec};
use super::ports::{Beat, Inputs, Outputs, Room, Tlp, DEVICE_ID};
use super::software::{Fate, Ring};
use crate::bus::reads::tests::completer::octet;
use crate::transmit::types::count;
use rnic_hdl_tools::testkit::{Pace, Random, StreamMonitor};
use std::collections::{HashMap, HashSet, VecDeque};

/// A read that the engine has taken.
#[derive(Debug)]
struct Read {
    /// Ranges so far.
    ranges: Vec<(u64, usize)>,
    /// The last command came, in this cycle.
    whole: Option<u64>,
}

/// What software sends.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Frames yet to be written.
    pub frames: usize,
    pub most_octets: u64,
    pub refused_of_100: u64,
    pub failing_of_100: u64,
    /// A frame is written in so many of so many cycles, if there is room.
    pub pace: (u64, u64),
}

/// How fast each port is, and how the engine's model behaves.
#[derive(Clone, Copy, Debug)]
pub struct Paces {
    pub command: Pace,
    pub read: Pace,
    pub tlp: Pace,
    pub frame: Pace,
    pub latency: u64,
    /// The MAC pauses in so many of 1000 cycles.
    pub pauses_of_1000: u64,
}

/// What drives and checks the ports of the room.
pub struct Rig {
    pub paces: Paces,
    pub now: u64,
    pub inputs: Inputs,
    pub memory: HashMap<u64, u8>,
    pub rings: [Ring; 2],
    pub arena: Arena,
    /// First octets of elements that cannot be read.
    pub bad: HashSet<u64>,
    /// A unit of a ring that cannot be read: its address.
    pub bad_unit: Option<u64>,
    tracks: bool,
    reads: VecDeque<Read>,
    /// Beats of the oldest read.
    beats: VecDeque<Beat3>,
    /// Reads that are answered and in the slice: first address, error.
    answered: VecDeque<(u64, bool)>,
    tlps: StreamMonitor<Tlp>,
    frames: StreamMonitor<Beat>,
    frame: Vec<u8>,
    pub counts: [u64; count::COUNT],
    /// Cycle of each frame's first and last beat, by ring.
    pub sent: Vec<(usize, u64, u64)>,
    first_beat: u64,
}

impl Rig {
    pub fn new(paces: Paces) -> Self {
        let mut rig = Self {
            paces,
            now: 0,
            inputs: Inputs::default(),
            memory: HashMap::new(),
            rings: Default::default(),
            arena: Arena::new(),
            bad: HashSet::new(),
            bad_unit: None,
            tracks: true,
            reads: VecDeque::new(),
            beats: VecDeque::new(),
            answered: VecDeque::new(),
            tlps: StreamMonitor::new(paces.tlp),
            frames: StreamMonitor::new(paces.frame),
            frame: Vec::new(),
            counts: [0; count::COUNT],
            sent: Vec::new(),
            first_beat: 0,
        };
        rig.inputs.report = [0x7000, 0x1_0000_7010];
        rig
    }

    /// A rig for a room with a read engine of its own: when a frame's octets arrive is unknown.
    pub fn untracked(paces: Paces) -> Self {
        Self {
            tracks: false,
            ..Self::new(paces)
        }
    }

    /// Puts a frame into a ring, if there is room.
    pub fn put(&mut self, ring: usize, spec: &Spec, fails: bool, random: &mut Random) -> bool {
        let put = self.rings[ring].put(&mut self.memory, spec, fails, random);
        if put && !self.tracks && spec.refusal().is_none() {
            self.rings[ring].answer(spec.elements[0].0, !fails);
        }
        put
    }

    /// The MAC takes beats at another pace from now on.
    pub fn set_frame_pace(&mut self, pace: Pace) {
        self.frames.pace = pace;
    }

    /// Sets up a ring: 0 switches it off.
    pub fn set_up(&mut self, ring: usize, base: u64, log2: u32) {
        self.inputs.base[ring] = base;
        self.inputs.set_up[ring] = Some(log2);
        self.inputs.tail[ring] = None;
    }

    /// Moves the tail of a ring to all that is written, or to less.
    pub fn doorbell(&mut self, ring: usize, tail: u32) {
        self.rings[ring].tail = tail;
        self.inputs.tail[ring] = Some(tail);
    }

    /// Frames that are not over, and whole frames that have not left.
    pub fn outstanding(&self) -> usize {
        let rings = self.rings.iter();
        rings
            .map(|ring| ring.pending.len() + ring.leaving.len())
            .sum()
    }

    /// What reset does to everything outside.
    pub fn forget(&mut self) {
        for ring in &mut self.rings {
            *ring = Ring {
                report: ring.report,
                ..Ring::default()
            };
        }
        self.reads.clear();
        self.beats.clear();
        self.answered.clear();
        self.frame.clear();
        self.tlps.reset();
        self.frames.reset();
    }

    fn octet(&self, address: u64) -> u8 {
        let written = self.memory.get(&address);
        written.copied().unwrap_or_else(|| octet(address))
    }

    /// The beats of a read: all of it, or some of it and an error.
    fn answer(&self, read: &Read, inner: usize, random: &mut Random) -> VecDeque<Beat3> {
        let mut octets = Vec::new();
        let mut error = false;
        for (address, count) in &read.ranges {
            let range = *address..*address + *count as u64;
            error |= self.bad.contains(address);
            if let Some(unit) = self.bad_unit.filter(|unit| range.contains(unit)) {
                error = true;
                octets.extend((*address..unit).map(|address| self.octet(address)));
            }
            if error {
                break;
            }
            octets.extend(range.map(|address| self.octet(address)));
        }
        if error {
            let good = octets
                .len()
                .min(random.below(octets.len() as u64 + 1) as usize);
            octets.truncate(good);
        }
        let mut beats: VecDeque<Beat3> = octets
            .chunks(inner)
            .map(|beat| (beat.to_vec(), false, false))
            .collect();
        let part = beats.back().is_some_and(|beat| beat.0.len() < inner);
        if beats.is_empty() || error && !part {
            beats.push_back((Vec::new(), false, false));
        }
        let last = beats.back_mut().expect("at least one");
        (last.1, last.2) = (true, error);
        beats
    }

    /// The ring whose units lie at `address`.
    fn ring_at(&self, address: u64) -> Option<usize> {
        (0..2).find(|ring| {
            let ring = &self.rings[*ring];
            let octets = 32 * u64::from(ring.units());
            ring.log2 > 0 && (ring.base..ring.base + octets).contains(&address)
        })
    }

    /// One cycle, up to its clock edge.
    pub fn drive<R: Room>(&mut self, uut: &mut R, random: &mut Random) {
        self.now += 1;
        let shown = uut.show();
        self.inputs.command_ready = self.paces.command.goes(self.now, random);
        if self.inputs.command_ready {
            if let Some(command) = shown.command {
                self.take_command(command);
            }
        }
        self.offer_read(R::INNER, random);
        self.watch(shown, R::FRAME, random);
        uut.set(&self.inputs);
        uut.settle();
        // These depend on what the ports got in this cycle.
        let shown = uut.show();
        for (event, count) in self.counts.iter_mut().enumerate() {
            *count += shown.counts >> event & 1;
        }
        if self.inputs.read.is_some() && shown.read_ready {
            self.end_beat();
        }
        if shown.read_ends {
            self.end_read();
        }
        for (ring, log2) in self.inputs.set_up.into_iter().enumerate() {
            if let Some(log2) = log2 {
                self.rings[ring].set_up(self.inputs.base[ring], log2);
            }
        }
        // Pulses last one cycle.
        self.inputs.set_up = [None; 2];
        self.inputs.tail = [None; 2];
    }

    /// Perhaps a frame more in some ring, perhaps a doorbell, which may cut a frame's units.
    pub fn produce(&mut self, plan: &mut Plan, random: &mut Random) {
        let ring = random.below(2) as usize;
        if self.rings[ring].log2 == 0 {
            return;
        }
        if plan.frames > 0 && random.chance(plan.pace.0, plan.pace.1) {
            let octets = length(plan.most_octets, random);
            let mut spec = frame_of(octets, &mut self.arena, random);
            add_sums(&mut spec, random);
            let refused = random.chance(plan.refused_of_100, 100);
            if refused {
                spoil(&mut spec, random.below(5), random);
            }
            let fails = !refused && random.chance(plan.failing_of_100, 100);
            if self.put(ring, &spec, fails, random) {
                plan.frames -= 1;
                if fails {
                    let element = random.below(spec.elements.len() as u64) as usize;
                    self.bad.insert(spec.elements[element].0);
                }
            }
        }
        let left = self.rings[ring].written.wrapping_sub(self.rings[ring].tail);
        if left > 0 && random.chance(1, 30) && self.inputs.set_up[ring].is_none() {
            let more = match random.chance(1, 2) {
                true => left,
                false => 1 + random.below(u64::from(left)) as u32,
            };
            self.doorbell(ring, self.rings[ring].tail.wrapping_add(more));
        }
    }

    fn take_command(&mut self, (address, octets, more): (u64, usize, bool)) {
        assert!(octets > 0, "a command of no octets");
        if self.reads.back().is_none_or(|read| read.whole.is_some()) {
            self.reads.push_back(Read {
                ranges: Vec::new(),
                whole: None,
            });
        }
        let read = self.reads.back_mut().expect("one is open");
        read.ranges.push((address, octets));
        if !more {
            read.whole = Some(self.now);
        }
    }

    fn offer_read(&mut self, inner: usize, random: &mut Random) {
        if self.inputs.read.is_some() {
            return;
        }
        if self.beats.is_empty() {
            let Some(read) = self.reads.front() else {
                return;
            };
            if read
                .whole
                .is_some_and(|whole| self.now >= whole + self.paces.latency)
            {
                self.beats = self.answer(read, inner, random);
            }
        }
        if !self.beats.is_empty() && self.paces.read.goes(self.now, random) {
            self.inputs.read = self.beats.front().cloned();
        }
    }

    fn end_beat(&mut self) {
        let (_, last, error) = self.inputs.read.take().expect("it was offered");
        self.beats.pop_front();
        if last {
            let Some(read) = self.reads.pop_front() else {
                // Its last beat is still offered in the first cycle of a reset.
                assert!(self.inputs.reset, "it was answered");
                return;
            };
            self.answered.push_back((read.ranges[0].0, error));
        }
    }

    /// The oldest answered read has left the slice.
    fn end_read(&mut self) {
        let Some((first, error)) = self.answered.pop_front() else {
            assert!(self.inputs.reset || !self.tracks, "it was answered");
            return;
        };
        if self.ring_at(first).is_none() {
            let owns = |ring: &&mut Ring| {
                ring.pending
                    .iter()
                    .any(|one| one.first_address == first && one.fate != Fate::Refused)
            };
            // None if the ring was set up meanwhile.
            if let Some(ring) = self.rings.iter_mut().find(owns) {
                ring.answer(first, !error);
            }
        }
    }

    fn watch(&mut self, shown: Outputs, beat: usize, random: &mut Random) {
        // Until the clock edge the ports show what is forgotten.
        if self.inputs.reset {
            return;
        }
        let mut ready = rust_hdl::prelude::Signal::default();
        let tlp = self.tlps.observe(shown.tlp, &mut ready, random);
        self.inputs.tlp_ready = ready.next;
        if let Some(tlp) = tlp {
            self.take_tlp(tlp, shown.rings);
        }
        if random.chance(self.paces.pauses_of_1000, 1000) {
            self.inputs.pause = !self.inputs.pause;
        }
        let taken = self.frames.observe(shown.frame, &mut ready, random);
        self.inputs.frame_ready = ready.next;
        if let Some((octets, last)) = taken {
            assert!(last || octets.len() == beat, "a beat in mid-frame is full");
            assert!(!octets.is_empty());
            if self.frame.is_empty() {
                self.first_beat = self.now;
            }
            self.frame.extend(octets);
            if last {
                let frame = std::mem::take(&mut self.frame);
                self.take_frame(&frame);
            }
        }
    }

    fn take_frame(&mut self, frame: &[u8]) {
        let place = |ring: &&usize| {
            let next = self.rings[**ring].leaving.front();
            next.is_some_and(|next| next == frame)
        };
        let ring = [0, 1].iter().find(place).copied();
        let Some(ring) = ring else {
            let next = self.rings.iter().map(|ring| ring.leaving.front());
            let next: Vec<String> = next.map(|next| format!("{next:02x?}")).collect();
            panic!(
                "a frame that nobody wrote: {frame:02x?}\nnext: {}",
                next.join("\nor ")
            );
        };
        self.rings[ring].leaving.pop_front();
        self.sent.push((ring, self.first_beat, self.now));
    }

    fn take_tlp(&mut self, (header, data): Tlp, shown: [(u32, u32, bool, bool); 2]) {
        let long = header[0] >> 29 & 1 == 1;
        let address = match long {
            true => u64::from(header[2]) << 32 | u64::from(header[3]),
            false => u64::from(header[2]),
        };
        assert_eq!(long, address >> 32 != 0, "the short form below 4 GiB");
        let dwords = data.len() as u32 / 4;
        let format = if long { 0x6000_0000 } else { 0x4000_0000 };
        assert_eq!(header[0], format | dwords);
        let enables = if dwords == 1 { 0x0f } else { 0xff };
        assert_eq!(header[1], u32::from(DEVICE_ID) << 16 | enables);
        let words: Vec<u32> = data
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four octets")))
            .collect();
        let report = (0..2).find(|ring| self.inputs.report[*ring] == address);
        match (report, words[..].try_into()) {
            (Some(ring), Ok(words)) => {
                // One from before the ring was set up says nothing.
                if !shown[ring].3 && self.inputs.set_up[ring].is_none() {
                    self.rings[ring].report(words);
                }
            }
            _ => {
                assert_eq!(dwords, 1, "neither report nor status: {header:08x?}");
                if let Some(ring) = self.ring_at(address) {
                    if !shown[ring].3 && self.inputs.set_up[ring].is_none() {
                        self.rings[ring].status(address, words[0]);
                    }
                }
            }
        }
    }
}

/// A beat of a read: octets, last, error.
type Beat3 = (Vec<u8>, bool, bool);
