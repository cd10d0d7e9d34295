//! Frames in capture order, each to the device that is its receiver; connections, regions and
//! receive buffers set up just in time (`flows`), what finds no room sent again later (`resend`).

use crate::capture::{Capture, Flow};
use crate::play::compare::{Comparison, Piece};
use crate::play::conditions::{Condition, Conditions, Met};
use crate::play::dut::{self, Dut, DutKind, PlayError};
use crate::play::hostile::Deed;
use crate::play::plan::{self, Plan};
use crate::play::regions::RegionOverride;
use crate::play::report::Report;
use crate::play::rtl::{BringUpError, Rtl, RtlOptions};
use crate::play::software::Software;
use crate::play::tally::Tally;
use crate::play::timeline::{self, Log, Timeline};
use indicatif::ProgressBar;
use rnic_driver::{Config, Connection, DriverError};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

mod deeds;
mod flows;
mod hasty;
mod regions;
mod resend;
mod reserve;
mod state;

use flows::Active;
use regions::Shared;
use resend::Resend;

/// log2 of the cycles that a connection keeps its turn while memory is short and nothing of it
/// comes: longer than a round of resends takes. Peers of a capture fall silent when it ends.
const HOLD_CYCLES_LOG2: u32 = 17;
/// Frames between two comparisons of the receivers.
const BATCH_FRAMES: usize = 256;

/// How to play.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which receiver.
    pub dut: DutKind,
    /// Frame path of the RTL in bits.
    pub width: usize,
    /// Seed of every random choice.
    pub seed: u64,
    /// Probability of back-pressure on the PCI Express side in a cycle.
    pub stall: f64,
    /// Only this flow is offloaded.
    pub flow: Option<usize>,
    /// Waveform of the RTL.
    pub trace: Option<PathBuf>,
    /// Frames, from 1, that are in the waveform; all if absent.
    pub trace_frames: Option<Range<usize>>,
    /// Regions instead of the learned ones.
    pub regions: Option<Vec<RegionOverride>>,
    /// Hostile deeds a frame ([`crate::play::hostile`]).
    pub hostile: f64,
    /// How the receiving side is set up.
    pub conditions: Conditions,
    /// One device receives for all hosts of the capture, whose STags must then differ.
    pub one_device: bool,
    /// The RTL is what is synthesised ([`RtlOptions::silicon`]).
    pub silicon: bool,
    /// The RTL was used before ([`RtlOptions::used`]).
    pub used: bool,
    /// Keep the RTL's timeline ([`crate::play::timeline`]).
    pub timeline: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dut: DutKind::Both,
            width: 64,
            seed: 1,
            stall: 0.0,
            flow: None,
            trace: None,
            trace_frames: None,
            regions: None,
            hostile: 0.0,
            conditions: Conditions::default(),
            one_device: false,
            silicon: false,
            used: false,
            timeline: false,
        }
    }
}

/// A device's part of a run, in progress.
struct Player<'a> {
    capture: &'a Capture,
    flows: &'a [Flow],
    plan: &'a Plan,
    options: &'a Options,
    duts: Vec<Box<dyn Dut>>,
    tallies: Vec<Tally>,
    comparison: Comparison,
    active: BTreeMap<usize, Active>,
    /// Regions that open flows share, by their place in the plan.
    shared: BTreeMap<usize, Shared>,
    /// The STag that each stag_index stands for now.
    registered: BTreeMap<u32, u32>,
    /// Memory that was mapped for flows.
    pieces: Vec<Piece>,
    next_address: u64,
    deeds: BTreeMap<Deed, u64>,
    met: Met,
    /// Regions that windows were opened of.
    parents: u32,
    /// Frames came, or connections went, since the receivers were at rest.
    moved: bool,
    /// First frame, from 0, since the receivers were last compared.
    compared_to: usize,
    /// The frame, from 0, that is played.
    frame: usize,
    /// Flows whose connections were opened.
    started: BTreeSet<usize>,
    resend: Resend,
    /// What was done to the device, if its timeline is asked for.
    log: Option<Log>,
}

/// What a device has shown in its part of a run.
struct Outcome {
    tally: Tally,
    comparison: Comparison,
    deeds: BTreeMap<Deed, u64>,
    met: Met,
    timeline: Option<Timeline>,
}

/// Play a capture whose flows are known.
pub fn play(
    capture: &Capture,
    flows: &[Flow],
    options: &Options,
    progress: &ProgressBar,
) -> Result<Report, PlayError> {
    if let Some(flow) = options.flow.filter(|&flow| flow >= flows.len()) {
        let known = flows.len();
        let what = format!("--flow {flow}: the capture has {known} flows, counted from 0");
        return Err(PlayError::Option(what));
    }
    let started = std::time::Instant::now();
    let plans = plan::devices(capture, flows, options.one_device);
    let (mut tally, mut comparison) = (Tally::new(flows), Comparison::default());
    let (mut deeds, mut met) = (BTreeMap::<Deed, u64>::new(), Met::new());
    let mut timelines = Vec::new();
    for (number, plan) in plans.iter().enumerate() {
        let outcome = Player::new(capture, flows, plan, number, options)?.run(progress)?;
        tally.add(outcome.tally, &plan.flows);
        comparison.add(outcome.comparison);
        timelines.extend(outcome.timeline);
        for (deed, count) in outcome.deeds {
            *deeds.entry(deed).or_default() += count;
        }
        for (condition, count) in outcome.met {
            *met.entry(condition).or_default() += count;
        }
    }
    let elapsed = started.elapsed();
    let report = Report::new(capture, options, &tally, flows, &comparison, elapsed);
    Ok(Report {
        deeds,
        conditions: met,
        timelines,
        ..report
    })
}

impl<'a> Player<'a> {
    fn new(
        capture: &'a Capture,
        flows: &'a [Flow],
        plan: &'a Plan,
        number: usize,
        options: &'a Options,
    ) -> Result<Self, PlayError> {
        let mut duts: Vec<Box<dyn Dut>> = Vec::new();
        let config = Config {
            reserve_hold_log2: HOLD_CYCLES_LOG2,
            ..options.conditions.config(Config::default())
        };
        if options.dut != DutKind::Model {
            let rtl_options = RtlOptions {
                width: options.width,
                seed: options.seed,
                stall: options.stall,
                trace: options.trace.as_deref().map(|path| trace_of(path, number)),
                silicon: options.silicon,
                used: options.used,
                config,
                pauses: true,
                short_pages: short_pages(&config),
                watches_all: options.dut == DutKind::Rtl,
            };
            let rtl = Rtl::within(&rtl_options, &options.conditions.surroundings);
            duts.push(Box::new(rtl.map_err(|error| match error {
                BringUpError::Simulation(source) => PlayError::Simulation(source),
                BringUpError::Driver(source) => PlayError::Driver {
                    frame: 1,
                    flow: 0,
                    source,
                },
            })?));
        }
        if options.dut != DutKind::Rtl {
            duts.push(Box::new(Software::new(&config)));
        }
        let tallies = duts.iter().map(|_| Tally::new(flows)).collect();
        let records = options.timeline && options.dut != DutKind::Model;
        if let (Some(rtl), true) = (duts.first_mut(), records) {
            rtl.start_record();
        }
        Ok(Self {
            capture,
            flows,
            plan,
            options,
            duts,
            tallies,
            comparison: Comparison::default(),
            active: BTreeMap::new(),
            shared: BTreeMap::new(),
            registered: BTreeMap::new(),
            pieces: Vec::new(),
            next_address: options.conditions.pieces_address,
            deeds: BTreeMap::new(),
            met: options.conditions.of_device(&config),
            parents: 0,
            moved: true,
            compared_to: 0,
            frame: 0,
            started: BTreeSet::new(),
            resend: Resend::default(),
            log: records.then(Log::default),
        })
    }

    /// Play every frame of the plan.
    fn run(mut self, progress: &ProgressBar) -> Result<Outcome, PlayError> {
        for (count, &frame) in self.plan.frames.iter().enumerate() {
            self.frame = frame;
            self.before(frame)?;
            let forged = self.disturb(frame)?;
            let octets = &self.capture.frames[frame];
            self.push(frame, forged.as_deref().unwrap_or(octets));
            self.note_pages();
            if count % BATCH_FRAMES == BATCH_FRAMES - 1 {
                self.settle();
            }
            progress.inc(1);
        }
        self.send_rest()?;
        self.settle();
        Ok(self.finish())
    }

    /// Set up what frame `frame` will need.
    fn before(&mut self, frame: usize) -> Result<(), PlayError> {
        let traced = self
            .options
            .trace_frames
            .as_ref()
            .is_none_or(|f| f.contains(&(frame + 1)));
        self.duts.iter_mut().for_each(|dut| dut.set_traced(traced));
        self.close_ended(frame)?;
        for &flow in &self.plan.flows {
            let wanted = self.options.flow.is_none_or(|only| only == flow);
            let comes = self.flows[flow].first_frame <= frame;
            if wanted && comes && self.started.insert(flow) {
                self.close_postponed()?;
                self.open(flow, self.flows[flow].sequence_start)
                    .map_err(|source| at(frame, flow, source))?;
            }
        }
        let mut order: Vec<usize> = self.active.keys().copied().collect();
        order.retain(|&flow| self.needs_attention(flow, frame));
        for flow in order {
            self.attend(flow, frame)
                .map_err(|source| at(frame, flow, source))?;
        }
        Ok(())
    }

    /// Close what ended before frame `frame`.
    fn close_ended(&mut self, frame: usize) -> Result<(), PlayError> {
        let ended = |flow: &usize| {
            self.flows[*flow].last_frame < frame && !self.resend.is_postponed(*flow, frame)
        };
        let ended: Vec<usize> = self.active.keys().copied().filter(ended).collect();
        if ended.is_empty() {
            return Ok(());
        }
        self.settle();
        for flow in ended {
            if self.send_rest_of(flow) {
                self.close(flow).map_err(|source| at(frame, flow, source))?;
            }
        }
        Ok(())
    }

    /// Wait until the receivers are at rest, and look at what they did. That they are takes long
    /// to see, so it is asked only if something has moved since: many flows may ask before one
    /// frame.
    fn settle(&mut self) {
        if !std::mem::take(&mut self.moved) {
            return;
        }
        let seen = dut::settle(self.duts.iter_mut().map(|dut| &mut **dut as &mut dyn Dut));
        for (seen, tally) in seen.into_iter().zip(&mut self.tallies) {
            tally.take(seen);
        }
        self.compare_at_this_frame();
        if let [rtl, model] = self.tallies.as_mut_slice() {
            self.comparison.compare(rtl, model);
        }
        if let [rtl, model] = self.duts.as_slice() {
            self.comparison
                .compare_memory(&self.pieces, rtl.as_ref(), model.as_ref());
        }
    }

    /// Differences found from here on are of the frames since the receivers were last compared.
    fn compare_at_this_frame(&mut self) {
        let (first, last) = (self.compared_to + 1, self.frame + 1);
        self.comparison.at(Some(first.min(last)..=last));
        self.compared_to = last;
    }

    /// Note in the log of a timeline, if there is one, what was done in this cycle.
    fn note(&mut self, act: impl FnOnce(&mut Log, u64)) {
        if let (Some(log), Some(rtl)) = (&mut self.log, self.duts.first()) {
            act(log, rtl.cycles());
        }
    }

    /// A condition is met.
    fn meet(&mut self, condition: Condition) {
        *self.met.entry(condition).or_default() += 1;
    }

    /// Read what a flow leaves in memory.
    fn collect(&mut self, flow: usize, connection: Connection) {
        self.compare_state(flow, connection);
        for (dut, tally) in self.duts.iter_mut().zip(&mut self.tallies) {
            tally.collect(flow, dut.as_ref());
        }
    }

    fn note_pages(&mut self) {
        for (dut, tally) in self.duts.iter().zip(&mut self.tallies) {
            let pages = dut.pages();
            self.active
                .keys()
                .for_each(|&flow| tally.pages(flow, pages));
        }
    }

    /// Close what is open, and look at everything once more: nothing may be written any more, and
    /// nothing may be held.
    fn finish(mut self) -> Outcome {
        let open: Vec<usize> = self.active.keys().copied().collect();
        let mut faults = self.resend.faults();
        for flow in open {
            if let Err(error) = self.close(flow) {
                faults.push(format!("flow {flow} cannot be closed: {error}"));
            }
        }
        self.moved = true;
        self.settle();
        self.comparison.at(None);
        for (dut, tally) in self.duts.iter_mut().zip(&mut self.tallies) {
            tally.finish(dut.counters(), dut.violations(), dut.cycles());
            faults.append(&mut dut.leaks());
        }
        if let [rtl, model] = self.tallies.as_mut_slice() {
            self.comparison.compare_results(rtl, model);
        }
        let seen = self.tallies.iter().flat_map(|tally| &tally.violations);
        self.comparison.add_violations(seen.chain(&faults));
        let recorded = self.log.take().and_then(|log| {
            let (record, rings) = self.duts.first_mut()?.take_record()?;
            Some(timeline::build(log, &record, &rings))
        });
        Outcome {
            timeline: recorded,
            tally: self.tallies.swap_remove(0),
            comparison: self.comparison,
            deeds: self.deeds,
            met: self.met,
        }
    }
}

/// Free pages below which the device may refuse segments for want of room: its larger reserve,
/// which it takes when streams show long FPDUs, be it in a length field that is wrong (ADR 13).
fn short_pages(config: &Config) -> u32 {
    match config.in_order_reserve {
        0 => 0,
        reserve => reserve.max(config.long_reserve),
    }
}

/// The waveform of device `number`: `run.fst`, `run.1.fst` and so on.
fn trace_of(path: &Path, number: usize) -> PathBuf {
    if number == 0 {
        return path.to_path_buf();
    }
    let ending = path.extension().map_or_else(
        || number.to_string(),
        |ending| format!("{number}.{}", ending.to_string_lossy()),
    );
    path.with_extension(ending)
}

fn at(frame: usize, flow: usize, source: DriverError) -> PlayError {
    PlayError::Driver {
        frame: frame + 1,
        flow,
        source,
    }
}

/// Do the same on every receiver; they agree on what they give back.
fn each<T: PartialEq + std::fmt::Debug>(
    duts: &mut [Box<dyn Dut>],
    mut act: impl FnMut(&mut dyn Dut) -> Result<T, DriverError>,
) -> Result<T, DriverError> {
    let mut result = None;
    for dut in duts {
        let given = act(dut.as_mut())?;
        if let Some(before) = &result {
            assert_eq!(before, &given, "both receivers number connections alike");
        }
        result = Some(given);
    }
    Ok(result.expect("there is at least one receiver"))
}
