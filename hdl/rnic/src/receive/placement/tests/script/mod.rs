//! A random run: its state, its inputs of each cycle, and the part of the driver. What is sent is
//! in `commands`, the check of what comes in `checks`.

mod checks;
mod commands;

use super::device::Device;
use super::host::{Access, Event, Host, DEVICE_ID};
use crate::messages::*;
use rnic_abi::{counters::Counter, registers as map, tables};
use rnic_hdl_tools::testkit::{
    bits_of, bits_of_words, octets_of, words_of, Pace, Random, StreamDriver, StreamMonitor,
};
use std::collections::HashMap;

/// The completion queues in use, and where they are: the first one crosses a multiple of 4 GiB.
pub const QUEUES: [u64; 2] = [2, 13];
pub const CQ_BASES: [u64; 2] = [0x0000_007f_ffff_f000, 0x0000_0012_0000_5000];
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
    pub offer: Pace,
    pub take: Pace,
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
        offer: Pace::of_8(6),
        take: Pace::of_8(6),
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

/// Entries of a completion queue.
#[derive(Default)]
pub(super) struct Queue {
    /// Each with the payload octets due before it.
    entries: Vec<([u32; 8], u64)>,
    /// Whose command placement has taken.
    given: u32,
    seen: u32,
    consumed: u32,
}

/// State of a run.
pub struct Script {
    settings: Settings,
    pub host: Host,
    /// Commands, with the payload octets due by each.
    commands: StreamDriver<(PlaceCommand, u64)>,
    beats: StreamDriver<Vec<u8>>,
    requests: StreamDriver<([u32; 4], u32)>,
    page_release: StreamMonitor<PageChain>,
    /// Header, data, keep, last.
    tlp: StreamMonitor<([u32; 4], Vec<u8>, u32, bool)>,
    expected: HashMap<u64, u8>,
    payload_due: u64,
    payload_accepted: u64,
    payload_written: u64,
    queues: [Queue; 2],
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
            Access::Write(map::HOST_RING_BASE_LOW, RING_BASE as u32),
            Access::Write(map::HOST_RING_SLOT_OCTETS_LOG2, settings.slot_octets_log2),
            Access::Write(map::HOST_RING_SLOTS_LOG2, settings.ring_slots_log2),
            Access::Read(map::HOST_RING_SLOTS_LOG2),
        ]);
        for (queue, base) in QUEUES.into_iter().zip(CQ_BASES) {
            let write =
                |register, value| Access::Write(map::cq_register(queue as u32, register), value);
            host.accesses.extend([
                write(map::CQ_BASE_LOW, base as u32),
                write(map::CQ_BASE_HIGH, (base >> 32) as u32),
                write(map::CQ_ENTRIES_LOG2, settings.cq_entries_log2),
            ]);
        }
        Self {
            settings,
            host,
            commands: StreamDriver::new(settings.offer),
            beats: StreamDriver::new(settings.offer),
            requests: StreamDriver::new(settings.offer),
            page_release: StreamMonitor::new(settings.take),
            tlp: StreamMonitor::new(settings.take),
            expected: HashMap::new(),
            payload_due: 0,
            payload_accepted: 0,
            payload_written: 0,
            queues: Default::default(),
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
        self.commands.waiting().len()
    }

    /// Sets the inputs of one cycle and takes what the device gives in it.
    pub fn drive<const D: usize, const L: usize, const E: usize, const P: usize>(
        &mut self,
        uut: &mut Device<D, L, E, P>,
        random: &mut Random,
    ) {
        let reset = self.cycles < 2;
        self.cycles += 1;
        uut.reset.next = reset;
        uut.device_id.next = u64::from(DEVICE_ID).into();
        uut.free_pages.next = 77u64.into();
        if reset {
            return;
        }
        // The set-up comes first, so that what follows does not depend on when it takes effect.
        self.commands.pace = if self.cycles > 400 && self.has_room() {
            self.settings.offer
        } else {
            Pace::Never
        };
        let (data, valid, ready) = (&mut uut.command, &mut uut.command_valid, &uut.command_ready);
        let taken = self
            .commands
            .drive_as(|sent| sent.0, data, valid, ready, random);
        if let Some((command, due)) = taken {
            self.payload_accepted = due;
            if command.complete {
                self.queues[queue_index(&command)].given += 1;
            }
        }
        let (data, valid) = (&mut uut.placement_data, &mut uut.placement_valid);
        let ready = &uut.placement_ready;
        self.beats
            .drive_as(|beat| bits_of(beat), data, valid, ready, random);
        self.take_pages(uut, random);
        self.take_tlp(uut, random);
        self.serve(random);
        if self.requests.is_empty() {
            self.requests.extend(self.host.request());
        }
        let request = self.requests.offer(random).copied();
        uut.request_valid.next = request.is_some();
        if let Some((header, data)) = request {
            uut.request_header.next = bits_of_words(&header);
            uut.request_data.next = u64::from(data).into();
        }
        if self.requests.advance(uut.request_ready.val()).is_some() {
            self.host.requested();
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

    /// ddp gives no entry a number that its queue has no room for.
    fn has_room(&self) -> bool {
        let next = self.commands.waiting().front();
        let next = next.filter(|(command, _)| command.complete);
        next.is_none_or(|(command, _)| {
            let queue = &self.queues[queue_index(command)];
            queue.given - queue.consumed < 1 << self.settings.cq_entries_log2
        })
    }

    fn take_pages<const D: usize, const L: usize, const E: usize, const P: usize>(
        &mut self,
        uut: &mut Device<D, L, E, P>,
        random: &mut Random,
    ) {
        let (data, valid) = (&uut.page_release, &uut.page_release_valid);
        let ready = &mut uut.page_release_ready;
        if let Some(pages) = self.page_release.watch(data, valid, ready, random) {
            let frame = &self.frames[self.pages_seen];
            assert_eq!(pages.head_page, frame.head_page);
            assert_eq!(pages.tail_page, frame.tail_page);
            self.pages_seen += 1;
        }
    }

    fn take_tlp<const D: usize, const L: usize, const E: usize, const P: usize>(
        &mut self,
        uut: &mut Device<D, L, E, P>,
        random: &mut Random,
    ) {
        let tlp = uut.tlp_valid.val().then(|| {
            let keep = uut.tlp_keep.val().to_u32();
            let header = words_of(uut.tlp_header.val());
            (
                header,
                octets_of(uut.tlp_data.val()),
                keep,
                uut.tlp_last.val(),
            )
        });
        let taken = self.tlp.observe(tlp, &mut uut.tlp_ready, random);
        let event =
            taken.and_then(|(header, data, keep, last)| self.host.beat(header, &data, keep, last));
        match event {
            None => {}
            Some(Event::Answer { offset, value }) => self.answered(offset, value),
            Some(Event::Write { address, octets }) => self.written(address, octets),
        }
    }

    /// The driver's part: consume entries and slots, change tables, look at registers.
    fn serve(&mut self, random: &mut Random) {
        let done = self.commands.is_empty() && self.beats.is_empty();
        if random.chance(self.settings.serve_of_64, 64) && self.host.accesses.len() < 4 {
            let queue = &mut self.queues[random.below(2) as usize];
            if queue.consumed < queue.seen {
                queue.consumed += 1 + random.below((queue.seen - queue.consumed).into()) as u32;
            }
            if (self.slots_consumed as usize) < self.slots.len() {
                self.check_slot(self.slots_consumed);
                self.slots_consumed += 1;
                self.host
                    .accesses
                    .push_back(Access::Write(map::HOST_RING_CONSUMER, self.slots_consumed));
            }
            let registers = [map::HOST_RING_PRODUCER, map::FREE_PAGES];
            let register = registers[random.below(2) as usize];
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

    /// Entries that have come, of all queues.
    fn seen(&self) -> usize {
        self.queues.iter().map(|queue| queue.seen as usize).sum()
    }

    /// Entries that are to come.
    fn due(&self) -> usize {
        self.queues.iter().map(|queue| queue.entries.len()).sum()
    }

    /// Entries that the driver has consumed.
    fn consumed(&self) -> usize {
        self.queues
            .iter()
            .map(|queue| queue.consumed as usize)
            .sum()
    }

    /// What is still to come: printed when a check fails.
    pub fn state(&self) -> String {
        format!(
            "{}: cycle {}, {} commands and {} beats not taken; {} of {} entries, {} consumed; \
             {} slots, {} consumed; {} of {} frames' pages; {} of {} octets; accesses {:?}",
            self.label,
            self.cycles,
            self.commands.waiting().len(),
            self.beats.waiting().len(),
            self.seen(),
            self.due(),
            self.consumed(),
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

/// Which of the two queues an entry goes to.
fn queue_index(command: &PlaceCommand) -> usize {
    usize::from(command.queue.to_u64() == QUEUES[1])
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

impl Drop for Script {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.state());
        }
    }
}
