//! Commands in, a host behind the engine, and what must come out.
use super::completer::{octet, Beat, Completer, Fault, Manner, DEVICE_ID};
use crate::bus::reads::types::{cause, ReadCommand};
use crate::bus::reads::ReadEngine;
use rnic_hdl_tools::testkit::{
    bits_of, octets_of, words_of, Pace, Random, StreamDriver, StreamMonitor,
};
use std::collections::VecDeque;

/// Cycles in a tick.
pub const TICK_CYCLES: u64 = 16;

/// A read that has no answer yet.
#[derive(Debug, Default)]
struct Read {
    number: u64,
    octets: Vec<u8>,
    received: usize,
    cookie: u8,
    /// It must end in error.
    fails: bool,
}

/// A beat that leaves the engine.
#[derive(Clone, Debug, PartialEq)]
struct Output {
    octets: Vec<u8>,
    last: bool,
    /// Error and cookie, with `last`.
    end: Option<(bool, u8)>,
}

/// The settings of the engine, and how its streams are driven.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub manner: Manner,
    pub max_read_request: u64,
    pub extended_tags: bool,
    pub timeout_ticks: u64,
    pub command: Pace,
    pub request: Pace,
    pub output: Pace,
    /// So many of 1000 requests meet a fault.
    pub faults_of_1000: u64,
    pub kinds: &'static [Fault],
}

/// The bench.
pub struct Bench {
    pub settings: Settings,
    pub host: Completer,
    commands: StreamDriver<ReadCommand>,
    output: StreamMonitor<Output>,
    reads: VecDeque<Read>,
    /// Requests to come: the number of their read, address, octets.
    requests: VecDeque<(u64, u64, usize)>,
    reads_added: u64,
    pub now: u64,
    /// Events counted, by cause.
    pub counts: [u64; cause::COUNT],
    /// Requests that met each fault.
    pub met: Vec<Fault>,
    pub reads_good: u64,
    pub reads_failed: u64,
    /// Cycle of each beat taken.
    pub beats: Vec<u64>,
    /// Tags of the requests taken.
    pub tags: Vec<u8>,
    beat: Option<Beat>,
}

impl Bench {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            host: Completer::new(settings.manner),
            commands: StreamDriver::new(settings.command),
            output: StreamMonitor::new(settings.output),
            reads: VecDeque::new(),
            requests: VecDeque::new(),
            reads_added: 0,
            now: 0,
            counts: [0; cause::COUNT],
            met: Vec::new(),
            reads_good: 0,
            reads_failed: 0,
            beats: Vec::new(),
            tags: Vec::new(),
            beat: None,
        }
    }

    /// Reads without an answer.
    pub fn reads_left(&self) -> usize {
        self.reads.len()
    }

    /// Adds a read of these ranges. One of no octets, or beyond the address space, is refused.
    pub fn add(&mut self, ranges: &[(u64, usize)]) {
        let mut read = Read {
            number: self.reads_added,
            cookie: self.reads_added as u8,
            ..Read::default()
        };
        for (index, (address, octets)) in ranges.iter().enumerate() {
            let more = index + 1 < ranges.len();
            self.commands.push(ReadCommand {
                address: (*address).into(),
                octets: (*octets as u64).into(),
                more,
                cookie: u64::from(read.cookie).into(),
            });
            let end = u128::from(*address) + *octets as u128;
            read.fails |= *octets == 0 || end > 1 << 64;
            let there = (end.min(1 << 64) - u128::from(*address)) as u64;
            read.octets
                .extend((0..there).map(|offset| octet(address + offset)));
            self.expect_requests(read.number, *address, there);
        }
        self.reads_added += 1;
        self.reads.push_back(read);
    }

    /// The requests of a range: cut at each multiple of the largest size, and of 512.
    fn expect_requests(&mut self, read: u64, address: u64, octets: u64) {
        let line = match self.settings.max_read_request {
            1 => 256,
            2..=5 => 512,
            _ => 128,
        };
        let mut offset = 0;
        while offset < octets {
            let next = address + offset;
            let count = (line - next % line).min(octets - offset);
            self.requests.push_back((read, next, count as usize));
            offset += count;
        }
    }

    /// Adds a random read.
    pub fn add_random(&mut self, random: &mut Random) {
        let count = if random.chance(1, 4) {
            1 + random.below(8)
        } else {
            1
        };
        let ranges: Vec<(u64, usize)> = (0..count).map(|_| range(random, count)).collect();
        self.add(&ranges);
    }

    /// From here on every request finds all tags in quarantine.
    pub fn refuse_rest(&mut self) {
        self.requests.clear();
        self.reads.iter_mut().for_each(|read| read.fails = true);
    }

    /// Drops what is under way, as a reset of the engine does.
    pub fn reset(&mut self) {
        self.commands.clear();
        self.output.reset();
        self.reads.clear();
        self.requests.clear();
    }

    /// Sets the inputs of a cycle, and checks its outputs.
    pub fn drive<
        const D: usize,
        const L: usize,
        const A: usize,
        const F: usize,
        const T: usize,
        const G: usize,
        const H: usize,
        const O: usize,
        const P: usize,
    >(
        &mut self,
        uut: &mut ReadEngine<D, L, A, F, T, G, H, O, P>,
        random: &mut Random,
    ) {
        uut.device_id.next = u64::from(DEVICE_ID).into();
        uut.max_read_request.next = self.settings.max_read_request.into();
        uut.extended_tags.next = self.settings.extended_tags;
        uut.timeout_ticks.next = self.settings.timeout_ticks.into();
        uut.tick.next = self.now % TICK_CYCLES == 0;
        self.commands.drive(
            &mut uut.command,
            &mut uut.command_valid,
            &uut.command_ready,
            random,
        );

        // The host.
        uut.request_ready.next = self.settings.request.goes(self.now, random);
        if uut.request_valid.val() && uut.request_ready.next {
            self.take_request(words_of(uut.request_header.val()), random);
        }
        self.beat = self.host.next(self.now, L, random);
        uut.completion_valid.next = self.beat.is_some();
        if let Some(beat) = &self.beat {
            uut.completion_header.next = rnic_hdl_tools::testkit::bits_of_words(&beat.header);
            uut.completion_data.next = bits_of(&beat.data);
            uut.completion_keep.next = u64::from(beat.keep).into();
            uut.completion_last.next = beat.last;
        }

        // The client.
        let octets = uut.read_octets.val().to_u64() as usize;
        let last = uut.read_last.val();
        let offered = uut.read_valid.val().then(|| Output {
            octets: octets_of(uut.read_data.val())[..octets].to_vec(),
            last,
            end: last.then(|| (uut.read_error.val(), uut.read_cookie.val().to_u64() as u8)),
        });
        if let Some(beat) = self.output.observe(offered, &mut uut.read_ready, random) {
            assert!(last || octets == D / 8, "{octets} octets in mid-read");
            self.take_output(&beat);
        }
        let counts = uut.counts.val().to_u64();
        for (cause, count) in self.counts.iter_mut().enumerate() {
            *count += counts >> cause & 1;
        }
        self.now += 1;
    }

    fn take_request(&mut self, header: [u32; 4], random: &mut Random) {
        let met = random.chance(self.settings.faults_of_1000, 1000);
        let kinds = self.settings.kinds;
        let fault = met.then(|| kinds[random.below(kinds.len() as u64) as usize]);
        let (address, octets) = self.host.request(self.now, header, fault, random);
        self.tags.push((header[1] >> 8) as u8);
        let expected = self.requests.pop_front().expect("a request is due");
        assert_eq!(
            (address, octets),
            (expected.1, expected.2),
            "the next request"
        );
        let mut reads = self.reads.iter_mut();
        let read = reads.find(|read| read.number == expected.0);
        if let (Some(read), Some(fault)) = (read, fault) {
            read.fails |= fault.fails();
        }
        self.met.extend(fault);
    }

    fn take_output(&mut self, beat: &Output) {
        self.beats.push(self.now);
        let read = self.reads.front_mut().expect("a read was asked for");
        let rest = &read.octets[read.received..];
        assert!(beat.octets.len() <= rest.len(), "too many octets");
        assert_eq!(
            beat.octets,
            rest[..beat.octets.len()],
            "read {}",
            read.number
        );
        read.received += beat.octets.len();
        let Some((error, cookie)) = beat.end else {
            return;
        };
        assert_eq!(
            (error, cookie),
            (read.fails, read.cookie),
            "read {}",
            read.number
        );
        assert!(
            error || read.received == read.octets.len(),
            "octets are missing"
        );
        self.reads_good += u64::from(!error);
        self.reads_failed += u64::from(error);
        self.reads.pop_front();
    }
}

/// A random range: any alignment, near a border now and then.
fn range(random: &mut Random, of: u64) -> (u64, usize) {
    let octets = match random.below(4) {
        0 => 1 + random.below(20),
        1 => 1 + random.below(300),
        2 => 1 + random.below(2000),
        _ => 1 + random.below(9216 / of),
    };
    let border = match random.below(4) {
        0 => 1 << 32,
        1 => 4096 * (1 + random.below(1 << 40)),
        2 => 4096 * (1 + random.below(1 << 20)),
        _ => 512 * (32 + random.below(1 << 54)),
    };
    (border - random.below(octets + 64), octets as usize)
}
