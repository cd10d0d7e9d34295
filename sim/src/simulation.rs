//! The whole system, stepped by one clock.

use crate::assembly::{address_of, header_of, Assembly};
use crate::config::SimulationConfig;
use crate::core::Core;
use crate::downstream::Downstream;
use crate::error::SimError;
use crate::ethernet::{FrameSink, FrameSource, SentFrame};
use crate::ports;
use crate::record::{Event, Record, TlpKind};
use crate::transcript::{Item, Transcript};
use pcie_sim::memory::{Access, Memory};
use pcie_sim::{Bdf, Kind, Limits, Reset, RootComplex, RootComplexSettings, TransferSize};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::events::{FpduTrace, SegmentTrace};
use rnic_abi::limits::RESET_CYCLES;
use rnic_abi::registers::HOLD_CYCLES_MAX;
use std::collections::VecDeque;
use std::fmt::Debug;

/// Bus address of BAR0.
pub const BAR0_ADDRESS: u64 = 0xfe00_0000;
/// Cycles after which a request for BAR0 that is not taken, or not answered, means a dead device.
pub(crate) const REQUEST_CYCLES_MAX: u64 = 100_000;
/// Cycles from a request that the core has taken to the access itself, and a margin.
const ENDPOINT_CYCLES: usize = 16;
/// Cycles for which the reset pin is held.
const RESET_PIN_CYCLES: usize = 16;
/// Cycles after reset until the device is ready, and a margin.
const SETTLE_CYCLES: usize = RESET_CYCLES as usize + 10;
/// Cycles without activity after which the core counts as idle: longer than the two reads of the
/// longest FPDU.
const IDLE_CYCLES: u64 = 10_000;
/// The same while packet memory is empty: what is left in the core shows activity as it leaves.
const IDLE_CYCLES_ALL_FREE: u64 = 1_000;
/// Cycles after the last frame within which the core must go idle: it holds 128 KiB at most, and
/// the slowest host accepts a beat in 20 cycles.
const REST_CYCLES_MAX: u64 = 5_000_000;

/// Observes the device's writes to host memory.
pub trait WriteObserver: Debug {
    /// `octets` octets were written at bus address `address` in cycle `now`; `memory` is as that
    /// packet left it.
    fn written(&mut self, now: u64, address: u64, octets: usize, memory: &Memory);
}

/// Core, root complex, wire, and the events not yet taken.
#[derive(Debug)]
pub struct Simulation {
    core: Core,
    complex: RootComplex,
    frames: FrameSource,
    random: ChaCha8Rng,
    stall: f64,
    read_stall: f64,
    traced: bool,
    /// The outputs of the core are meaningless.
    in_reset: bool,
    now: u64,
    /// Free pages while packet memory is empty.
    free_pages_when_idle: u32,
    last_activity: u64,
    last_write: u64,
    last_frame_end: u64,
    /// A post or a table operation was written, and no register was read since.
    posted: bool,
    frames_ended: u64,
    assembly: Assembly,
    requests: Downstream,
    completions: Downstream,
    sink: FrameSink,
    tick_cycles: u64,
    observer: Option<Box<dyn WriteObserver>>,
    segments: VecDeque<SegmentTrace>,
    fpdus: VecDeque<FpduTrace>,
    record: Option<Record>,
    transcript: Option<Transcript>,
}

impl Simulation {
    /// Load the core, reset it, and wait until it is ready.
    pub fn new(config: &SimulationConfig) -> Result<Self, SimError> {
        let trace = config.trace.as_deref();
        let core = Core::load(config.width, config.sizes, config.form, trace, config.seed)?;
        let payload = TransferSize::from_octets(config.max_payload_octets);
        let limits = Limits {
            max_payload: payload.unwrap_or(TransferSize::Octets128),
            ..Limits::default()
        };
        let settings = RootComplexSettings {
            limits,
            read_latency_ticks: config.reads.latency_cycles,
            read_spread_ticks: config.reads.spread_cycles,
            reorder_completions: config.reads.reorders,
            completion_split: config.reads.split,
            seed: config.seed,
            ..RootComplexSettings::default()
        };
        let beat_dwords = ports::inner_width(config.width) / 32;
        let mut simulation = Self {
            core,
            complex: RootComplex::new(settings),
            frames: FrameSource::new(config.width),
            random: ChaCha8Rng::seed_from_u64(config.seed),
            stall: config.stall,
            read_stall: config.reads.stall,
            traced: config.trace.is_some(),
            in_reset: false,
            now: 0,
            free_pages_when_idle: 0,
            last_activity: 0,
            last_write: 0,
            posted: false,
            last_frame_end: 0,
            frames_ended: 0,
            assembly: Assembly::default(),
            requests: Downstream::new(beat_dwords),
            completions: Downstream::new(beat_dwords),
            sink: FrameSink::new(config.width),
            tick_cycles: if config.width == 512 { 322 } else { 156 },
            observer: None,
            segments: VecDeque::new(),
            fpdus: VecDeque::new(),
            record: None,
            transcript: None,
        };
        simulation.core.set_device_id(Bdf::new(1, 0, 0).bits());
        simulation.reset();
        simulation.free_pages_when_idle = simulation.free_pages();
        simulation.transcript = config.transcript.clone();
        Ok(simulation)
    }

    /// Reset the link and the device at any time, through its pin, and wait until it is ready. The
    /// packet it is sending is cut off, those on their way to it are gone; frames that arrive
    /// meanwhile are lost. Its driver must open it again.
    pub fn reset(&mut self) {
        self.in_reset = true;
        self.core.set_reset(true);
        self.run(RESET_PIN_CYCLES);
        self.complex.reset(Reset::Link);
        self.requests.clear();
        self.core.set_reset(false);
        self.in_reset = false;
        self.assembly = Assembly::default();
        self.completions.clear();
        self.sink.clear();
        self.clear_verdicts();
        self.run(SETTLE_CYCLES);
    }

    /// Simulate one clock cycle.
    pub fn step(&mut self) {
        let ready = self.stall == 0.0 || !self.random.random_bool(self.stall);
        self.core.set_tlp_ready(ready);
        let beat = self.frames.beat();
        let given = beat.is_some();
        if let (Some(transcript), Some(beat)) = (&self.transcript, beat) {
            transcript.frame_beat(self.now, beat);
        }
        self.core.set_frame(beat);
        self.offer_request();
        let takes_read = self.offer_reads();
        self.core.cycle(self.traced);
        if self.frames.advance(given) {
            self.last_frame_end = self.now;
            self.frames_ended += 1;
            self.note(Event::FrameEnd);
        }
        if given {
            self.last_activity = self.now;
        }
        if ready && !self.in_reset {
            self.take_tlp();
        }
        if !self.in_reset {
            self.take_events();
            self.take_read(takes_read);
            let beat = self.core.tx();
            if beat.is_some() && !self.sink.is_paused() {
                self.last_activity = self.now;
            }
            self.sink.take(self.now, beat);
        }
        if !self.requests.is_empty() && self.core.request_ready() {
            self.requests.advance();
        }
        if let Some(record) = &mut self.record {
            record.note_free_pages(self.now, self.core.free_pages());
        }
        self.now += 1;
    }

    /// Simulate `cycles` clock cycles.
    pub fn run(&mut self, cycles: usize) {
        for _ in 0..cycles {
            self.step();
        }
    }

    /// Step until every frame has been sent and the core has been inactive for a long time.
    ///
    /// # Panics
    /// If it never goes idle.
    pub fn run_until_idle(&mut self) {
        self.last_activity = self.now;
        while self.frames.waiting() > 0 {
            self.step();
        }
        let start = self.now;
        while !self.is_idle() {
            assert!(
                self.now - start < REST_CYCLES_MAX,
                "the core never goes idle: {REST_CYCLES_MAX} cycles after the last frame it \
                 still shows activity"
            );
            self.step();
        }
    }

    /// Cycles since something entered or left the core.
    pub fn inactive_cycles(&self) -> u64 {
        self.now - self.last_activity
    }

    /// Cycles of a tick, which is a microsecond.
    pub fn tick_cycles(&self) -> u64 {
        self.tick_cycles
    }

    /// Whether the core has been inactive for a long time.
    pub fn is_idle(&self) -> bool {
        let all_free = self.free_pages() == self.free_pages_when_idle;
        let enough = match all_free {
            true => IDLE_CYCLES_ALL_FREE,
            false => IDLE_CYCLES,
        };
        self.inactive_cycles() >= enough
    }

    /// Change the probability that the host accepts no TLP beat in a cycle.
    pub fn set_stall(&mut self, stall: f64) {
        self.stall = stall;
    }

    /// Set MSI-X Enable and Function Mask, which configuration space holds.
    pub fn set_msix(&mut self, enable: bool, mask: bool) {
        self.core.set_msix(enable, mask);
    }

    /// Change the probability that the host takes no read request in a cycle.
    pub fn set_read_stall(&mut self, stall: f64) {
        self.read_stall = stall;
    }

    /// Whether the device has sent a part of a TLP, and not its end.
    pub fn is_in_tlp(&self) -> bool {
        self.assembly.is_open()
    }

    pub(crate) fn note_posted(&mut self, posted: bool) {
        self.posted = posted;
    }

    /// Lets what was written last take effect. A read would be answered after it, but not by a host
    /// that takes no TLPs.
    ///
    /// # Panics
    /// If the device takes no write.
    fn settle_posted(&mut self) {
        if !self.posted {
            return;
        }
        for _ in 0..REQUEST_CYCLES_MAX {
            if self.requests.is_empty() {
                (0..ENDPOINT_CYCLES + HOLD_CYCLES_MAX).for_each(|_| self.step());
                self.posted = false;
                return;
            }
            self.step();
        }
        panic!("a write is not taken within {REQUEST_CYCLES_MAX} cycles");
    }

    /// Whether requests for BAR0 are left that the core has not taken.
    pub fn has_requests(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Append a frame to the wire. A post or a table operation that was written before has taken
    /// effect before the frame begins, as a program that writes it and then pushes the frame would
    /// have it: both have to pass the device first.
    pub fn push_frame(&mut self, octets: Vec<u8>, error: bool) {
        self.settle_posted();
        self.frames.push(octets, error);
    }

    /// The wire.
    pub fn frames_mut(&mut self) -> &mut FrameSource {
        &mut self.frames
    }

    /// The MAC's transmit side.
    pub fn sink_mut(&mut self) -> &mut FrameSink {
        &mut self.sink
    }

    /// The next frame that the device has sent and nobody has read.
    pub fn next_sent(&mut self) -> Option<SentFrame> {
        self.sink.next_sent()
    }

    /// Frames not yet sent completely.
    pub fn frames_waiting(&self) -> usize {
        self.frames.waiting()
    }

    /// Frames sent completely.
    pub fn frames_ended(&self) -> u64 {
        self.frames_ended
    }

    /// Free pages of packet memory in the last cycle.
    pub fn free_pages(&self) -> u32 {
        self.core.free_pages()
    }

    /// Stored frames waiting for TCP in the last cycle; at 16 the next one is dropped.
    pub fn stored_frames(&self) -> u32 {
        self.core.stored_frames()
    }

    /// Cycles since the start, reset included.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Cycle in which the host accepted the last memory write.
    pub fn last_write(&self) -> u64 {
        self.last_write
    }

    /// Cycle in which the last beat of a frame was sent.
    pub fn last_frame_end(&self) -> u64 {
        self.last_frame_end
    }

    /// The root complex with its memory and monitor.
    pub fn complex(&self) -> &RootComplex {
        &self.complex
    }

    /// The root complex, mutable.
    pub fn complex_mut(&mut self) -> &mut RootComplex {
        &mut self.complex
    }

    /// The verilated core, for bare speed measurements.
    pub fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    /// Switch the waveform on or off from the next cycle on, if one is written.
    pub fn set_traced(&mut self, traced: bool) {
        self.traced = traced;
    }

    /// The next segment verdict not yet taken.
    pub fn next_segment(&mut self) -> Option<SegmentTrace> {
        self.segments.pop_front()
    }

    /// The next FPDU verdict not yet taken.
    pub fn next_fpdu(&mut self) -> Option<FpduTrace> {
        self.fpdus.pop_front()
    }

    /// Drop the verdicts not yet taken: those from before a reset by the driver.
    pub fn clear_verdicts(&mut self) {
        self.segments.clear();
        self.fpdus.clear();
    }

    /// Map zeroed host memory that the device may read and write.
    pub fn map(&mut self, name: &str, address: u64, octets: usize) -> bool {
        self.complex
            .memory_mut()
            .map(name, address, octets, Access::READ_WRITE)
            .is_ok()
    }

    /// Report every memory write of the device to `observer`, in bus order.
    pub fn observe_writes(&mut self, observer: Box<dyn WriteObserver>) {
        self.observer = Some(observer);
    }

    /// Keep a record of the run from now on.
    pub fn start_record(&mut self) {
        self.record = Some(Record::default());
    }

    /// The record kept since [`start_record`](Self::start_record), which ends here.
    pub fn take_record(&mut self) -> Record {
        self.record.take().unwrap_or_default()
    }

    fn note(&mut self, event: Event) {
        if let Some(record) = &mut self.record {
            record.push(self.now, event);
        }
    }

    fn transcribe(&self, item: impl FnOnce() -> Item) {
        if let Some(transcript) = &self.transcript {
            transcript.push(self.now, item());
        }
    }

    /// Read requests wait apart: neither they nor their completions stop anything else.
    fn offer_reads(&mut self) -> bool {
        let ready = match self.read_stall {
            0.0 => true,
            stall => !self.random.random_bool(stall),
        };
        self.core.set_read_request_ready(ready);
        self.core.set_completion(self.completions.beat());
        if !self.completions.is_empty() {
            self.last_activity = self.now;
            self.completions.advance();
        }
        self.core.set_tick(self.now % self.tick_cycles == 0);
        self.core
            .set_tx(self.sink.is_ready(), self.sink.is_paused());
        ready
    }

    fn take_read(&mut self, is_taken: bool) {
        let Some(request) = self.core.read_request().filter(|_| is_taken) else {
            return;
        };
        let request = header_of(request).to_vec();
        self.last_activity = self.now;
        self.note(Event::FromDevice {
            kind: TlpKind::Read,
            address: address_of(&request),
            octets: 0,
        });
        self.transcribe(|| Item::Read {
            header: request.clone(),
        });
        self.complex.upstream_dwords(self.now, &request, Vec::new());
    }

    fn offer_request(&mut self) {
        if !self.complex.is_idle() {
            if let Some(tlp) = self.complex.next_downstream(self.now) {
                let kind = TlpKind::of(&tlp.header.kind);
                let octets = tlp.payload.len();
                self.note(Event::ToDevice { kind, octets });
                self.transcribe(|| Item::to_core(&tlp));
                match tlp.header.kind {
                    Kind::Cpl(_) | Kind::CplD(_) => self.completions.push(&tlp),
                    _ => self.requests.push(&tlp),
                }
            }
            self.last_activity = self.now;
        }
        self.core.set_request(self.requests.beat());
    }

    fn take_tlp(&mut self) {
        let Some(beat) = self.core.tlp() else { return };
        self.last_activity = self.now;
        if !self.assembly.take(&beat) {
            return;
        }
        let kind = TlpKind::of_header(self.assembly.header[0]);
        let header = header_of(&self.assembly.header);
        let payload = std::mem::take(&mut self.assembly.payload);
        let octets = payload.len();
        let address = address_of(header);
        if let Some(record) = &mut self.record {
            let event = Event::FromDevice {
                kind,
                address,
                octets,
            };
            record.push(self.now, event);
        }
        if let Some(transcript) = &self.transcript {
            let (header, payload) = (header.to_vec(), payload.clone());
            transcript.push(self.now, Item::Tlp { header, payload });
        }
        self.complex.upstream_dwords(self.now, header, payload);
        if kind == TlpKind::Write {
            self.last_write = self.now;
            if let Some(observer) = &mut self.observer {
                observer.written(self.now, address, octets, self.complex.memory());
            }
        }
    }

    fn take_events(&mut self) {
        if let Some([connection, verdict, seg_seq, seg_len]) = self.core.segment_event() {
            self.last_activity = self.now;
            let trace = SegmentTrace {
                connection: connection as u16,
                verdict: verdict as u8,
                seg_seq,
                seg_len: seg_len as u16,
            };
            self.note(Event::Segment(trace));
            self.segments.push_back(trace);
        }
        if let Some(words) = self.core.fpdu_event() {
            self.last_activity = self.now;
            let trace = FpduTrace {
                connection: words[0] as u16,
                sequence: words[1],
                ulpdu_length: words[2] as u16,
                error: words[3] as u8,
                opcode: (words[5] != 0).then_some(words[4] as u8),
                placed_octets: words[6] as u16,
                placed_out_of_order: words[7] != 0,
            };
            self.note(Event::Fpdu(trace));
            self.fpdus.push_back(trace);
        }
    }
}
