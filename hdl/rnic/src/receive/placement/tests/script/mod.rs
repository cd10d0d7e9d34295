//! A random run: its state, its inputs of each cycle, and the part of the driver. What is sent is
//! in `commands`, the check of what comes in `checks`.

mod checks;
mod commands;

use super::device::Device;
use super::host::{Access, Event, Host, DEVICE_ID};
use crate::messages::*;
use rnic_abi::{counters::Counter, registers as map, tables};
use rnic_hdl_tools::testkit::Random;
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};

pub const CQ_BASE: u64 = 0x0000_007f_ffff_f000;
pub const RING_BASE: u64 = 0x7654_0000;

/// What a run is made of; odds are of 8.
#[derive(Clone, Copy)]
pub struct Settings {
    pub max_payload: u32,
    pub cq_entries_log2: u32,
    pub ring_slots_log2: u32,
    pub slot_octets_log2: u32,
    /// Odds that a command is for the host, or throws its beats away.
    pub host_of_8: u64,
    pub discard_of_8: u64,
    /// Odds that a queue entry follows.
    pub complete_of_8: u64,
    pub octets_max: u64,
    pub offer_of_8: u64,
    pub take_of_8: u64,
    /// Odds, of 64, that the host looks after queue and ring, or touches a table.
    pub serve_of_64: u64,
    pub table_of_64: u64,
}

impl Settings {
    /// A bit of everything.
    pub const MIXED: Self = Self {
        max_payload: 0,
        cq_entries_log2: 2,
        ring_slots_log2: 1,
        slot_octets_log2: 8,
        host_of_8: 2,
        discard_of_8: 1,
        complete_of_8: 4,
        octets_max: 300,
        offer_of_8: 6,
        take_of_8: 6,
        serve_of_64: 4,
        table_of_64: 1,
    };
}

/// A frame for the host.
struct Frame {
    octets: Vec<u8>,
    head_page: u64,
    tail_page: u64,
}

/// State of a run.
pub struct Script {
    settings: Settings,
    pub host: Host,
    commands: VecDeque<PlaceCommand>,
    beats: VecDeque<Vec<u8>>,
    offering_command: bool,
    offering_beat: bool,
    offering_request: bool,
    /// Payload octets due by each command not yet taken in.
    due: VecDeque<u64>,
    expected: HashMap<u64, u8>,
    payload_due: u64,
    payload_accepted: u64,
    payload_written: u64,
    entries: Vec<([u32; 7], u64)>,
    entries_seen: u32,
    entries_consumed: u32,
    frames: Vec<Frame>,
    frame_next: usize,
    slots: Vec<usize>,
    slots_consumed: u32,
    pages_seen: usize,
    fence_due: Option<u64>,
    table_wait: u64,
    polling: bool,
    idle_cycles: u64,
    counters_asked: bool,
    counters: HashMap<u32, u32>,
    pub cycles: u64,
    label: String,
}

impl Script {
    pub fn new(settings: Settings, label: String) -> Self {
        let mut host = Host::new(settings.max_payload);
        host.accesses.extend([
            Access::Write(map::MAX_PAYLOAD, settings.max_payload),
            Access::Write(map::CQ_BASE_LOW, CQ_BASE as u32),
            Access::Write(map::CQ_BASE_HIGH, (CQ_BASE >> 32) as u32),
            Access::Write(map::CQ_ENTRIES_LOG2, settings.cq_entries_log2),
            Access::Write(map::HOST_RING_BASE_LOW, RING_BASE as u32),
            Access::Write(map::HOST_RING_SLOT_OCTETS_LOG2, settings.slot_octets_log2),
            Access::Write(map::HOST_RING_SLOTS_LOG2, settings.ring_slots_log2),
            Access::Read(map::HOST_RING_SLOTS_LOG2),
        ]);
        Self {
            settings,
            host,
            commands: VecDeque::new(),
            beats: VecDeque::new(),
            offering_command: false,
            offering_beat: false,
            offering_request: false,
            due: VecDeque::new(),
            expected: HashMap::new(),
            payload_due: 0,
            payload_accepted: 0,
            payload_written: 0,
            entries: Vec::new(),
            entries_seen: 0,
            entries_consumed: 0,
            frames: Vec::new(),
            frame_next: 0,
            slots: Vec::new(),
            slots_consumed: 0,
            pages_seen: 0,
            fence_due: None,
            table_wait: 0,
            polling: false,
            idle_cycles: 0,
            counters_asked: false,
            counters: HashMap::new(),
            cycles: 0,
            label,
        }
    }

    /// Commands not yet taken in.
    pub fn commands_left(&self) -> usize {
        self.commands.len()
    }

    /// Sets the inputs of one cycle and takes what the device gives in it.
    pub fn drive<const D: usize, const L: usize, const E: usize, const P: usize>(
        &mut self,
        uut: &mut Device<D, L, E, P>,
        random: &mut Random,
    ) {
        let settings = self.settings;
        let reset = self.cycles < 2;
        self.cycles += 1;
        uut.reset.next = reset;
        uut.device_id.next = u64::from(DEVICE_ID).into();
        uut.free_pages.next = 77u64.into();
        if reset {
            return;
        }
        // The set-up comes first, so that what follows does not depend on when it takes effect.
        let ready = self.cycles > 400;
        self.offering_command = ready
            && !self.commands.is_empty()
            && (self.offering_command || random.chance(settings.offer_of_8, 8));
        uut.command_valid.next = self.offering_command;
        if self.offering_command {
            uut.command.next = self.commands[0];
            if uut.command_ready.val() {
                self.commands.pop_front();
                self.payload_accepted = self.due.pop_front().expect("one a command");
                self.offering_command = false;
            }
        }
        self.offering_beat =
            !self.beats.is_empty() && (self.offering_beat || random.chance(settings.offer_of_8, 8));
        uut.placement_valid.next = self.offering_beat;
        if self.offering_beat {
            uut.placement_data.next = bits_of(&self.beats[0]);
            if uut.placement_ready.val() {
                self.beats.pop_front();
                self.offering_beat = false;
            }
        }
        self.take_pages(uut, random);
        self.take_tlp(uut, random);
        self.serve(random);
        self.offering_request = self.host.request().is_some()
            && (self.offering_request || random.chance(settings.offer_of_8, 8));
        uut.request_valid.next = self.offering_request;
        if self.offering_request {
            let (header, data) = self.host.request().expect("checked");
            uut.request_header.next = bits_of(&header.map(u32::to_le_bytes).concat());
            uut.request_data.next = u64::from(data).into();
            if uut.request_ready.val() {
                self.host.requested();
                self.offering_request = false;
            }
        }
        // The owner of all tables: done after a while.
        uut.table_done.next = false;
        if uut.table_valid.val() {
            if self.table_wait == 0 {
                uut.table_done.next = true;
                let revokes = [tables::QUEUE, tables::STAG, tables::REGION];
                let table = uut.table_request.val().table.to_u32();
                self.fence_due = revokes.contains(&table).then_some(self.payload_accepted);
                self.table_wait = random.below(20);
            } else {
                self.table_wait -= 1;
            }
        }
    }

    fn take_pages<const D: usize, const L: usize, const E: usize, const P: usize>(
        &mut self,
        uut: &mut Device<D, L, E, P>,
        random: &mut Random,
    ) {
        let ready = random.chance(self.settings.take_of_8, 8);
        uut.page_release_ready.next = ready;
        if ready && uut.page_release_valid.val() {
            let frame = &self.frames[self.pages_seen];
            let pages = uut.page_release.val();
            assert_eq!(pages.head_page, frame.head_page, "{}", self.label);
            assert_eq!(pages.tail_page, frame.tail_page, "{}", self.label);
            self.pages_seen += 1;
        }
    }

    fn take_tlp<const D: usize, const L: usize, const E: usize, const P: usize>(
        &mut self,
        uut: &mut Device<D, L, E, P>,
        random: &mut Random,
    ) {
        let ready = random.chance(self.settings.take_of_8, 8);
        uut.tlp_ready.next = ready;
        if !ready || !uut.tlp_valid.val() {
            return;
        }
        let context = format!("cycle {}, {}", self.cycles, self.label);
        let header = uut.tlp_header.val();
        let header = std::array::from_fn(|i| header.get_bits::<32>(32 * i).to_u32());
        let keep = uut.tlp_keep.val().to_u32();
        let data = octets_of(uut.tlp_data.val());
        match self
            .host
            .beat(header, &data, keep, uut.tlp_last.val(), &context)
        {
            None => {}
            Some(Event::Answer { offset, value }) => self.answered(offset, value, &context),
            Some(Event::Write { address, octets }) => self.written(address, octets, &context),
        }
    }

    /// The driver's part: consume entries and slots, change tables, look at registers.
    fn serve(&mut self, random: &mut Random) {
        let done = self.commands.is_empty() && self.beats.is_empty();
        if random.chance(self.settings.serve_of_64, 64) && self.host.accesses.len() < 4 {
            if self.entries_consumed < self.entries_seen {
                let count =
                    1 + random.below((self.entries_seen - self.entries_consumed).into()) as u32;
                self.entries_consumed += count;
                self.host
                    .accesses
                    .push_back(Access::Write(map::CQ_CONSUMER, self.entries_consumed));
            }
            if (self.slots_consumed as usize) < self.slots.len() {
                self.check_slot(self.slots_consumed, &format!("consumed"));
                self.slots_consumed += 1;
                self.host
                    .accesses
                    .push_back(Access::Write(map::HOST_RING_CONSUMER, self.slots_consumed));
            }
            let registers = [map::CQ_PRODUCER, map::HOST_RING_PRODUCER, map::FREE_PAGES];
            let register = registers[random.below(3) as usize];
            if !done {
                self.host.accesses.push_back(Access::Read(register));
            }
        }
        if random.chance(self.settings.table_of_64, 64) && !self.polling && !done {
            let table = [tables::LOOKUP, tables::QUEUE, tables::STAG, tables::REGION]
                [random.below(4) as usize];
            let command = map::table_command(tables::WRITE, table, random.below(1024) as u32);
            self.host
                .accesses
                .push_back(Access::Write(map::TABLE_COMMAND, command));
            self.host
                .accesses
                .push_back(Access::Read(map::TABLE_COMMAND));
            self.polling = true;
        }
        let resting = done && self.host.idle() && !self.host.in_tlp();
        self.idle_cycles = if resting { self.idle_cycles + 1 } else { 0 };
        if self.idle_cycles > 300 && !self.counters_asked {
            self.counters_asked = true;
            self.host
                .accesses
                .extend(COUNTERS.map(|counter| Access::Read(offset_of(counter))));
        }
    }

    /// Everything has come, and been checked.
    pub fn finished(&self) -> bool {
        self.counters.len() == COUNTERS.len()
    }

    /// What is still to come, for a run that does not end.
    pub fn state(&self) -> String {
        format!(
            "{}: cycle {}, {} commands and {} beats not taken; {} of {} entries, {} consumed; \
             {} slots, {} consumed; {} of {} frames' pages; {} of {} octets; accesses {:?}",
            self.label,
            self.cycles,
            self.commands.len(),
            self.beats.len(),
            self.entries_seen,
            self.entries.len(),
            self.entries_consumed,
            self.slots.len(),
            self.slots_consumed,
            self.pages_seen,
            self.frames.len(),
            self.payload_written,
            self.payload_due,
            self.host.accesses
        )
    }

    /// Frames that reached the ring.
    pub fn slots_filled(&self) -> usize {
        self.slots.len()
    }
}

const COUNTERS: [Counter; 4] = [
    Counter::HostFrames,
    Counter::DropHostRingFull,
    Counter::DropHostFrameTooLong,
    Counter::Completions,
];

fn offset_of(counter: Counter) -> u32 {
    map::COUNTERS + 4 * counter.index() as u32
}

/// Octet 0 in bits 7:0.
pub fn bits_of<const N: usize>(octets: &[u8]) -> Bits<N> {
    octets.chunks(4).rev().fold(Bits::default(), |value, word| {
        (value << 32)
            | Bits::from(u64::from(u32::from_le_bytes(
                word.try_into().expect("words"),
            )))
    })
}

/// The octets of a beat, octet 0 from bits 7:0.
pub fn octets_of<const N: usize>(value: Bits<N>) -> Vec<u8> {
    (0..N / 32)
        .flat_map(|word| value.get_bits::<32>(32 * word).to_u32().to_le_bytes())
        .collect()
}
