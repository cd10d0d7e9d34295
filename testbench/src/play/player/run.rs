//! A device's part of a run: its receivers, what is open on them, and their comparison.

use super::active::Active;
use super::region::Shared;
use super::waiting::Resend;
use crate::play::compare::{Comparison, Piece};
use crate::play::conditions::{Condition, Met};
use crate::play::dut::{self, Dut, DutKind, PlayError};
use crate::play::hostile::HostileAction;
use crate::play::options::Options;
use crate::play::rtl::{BringUpError, Rtl, RtlOptions};
use crate::play::software::Software;
use crate::play::tally::Tally;
use crate::play::timeline::Log;
use rnic_capture::plan::Plan;
use rnic_capture::{Capture, Flow};
use rnic_driver::{Config, QueueId};
use rnic_sim::SimulationConfig;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// log2 of the cycles that a connection keeps its turn while memory is short and nothing of it
/// comes: longer than a round of resends takes. Peers of a capture fall silent when it ends.
pub(super) const HOLD_CYCLES_LOG2: u32 = 17;

/// A device's part of a run, in progress.
pub(super) struct Player<'a> {
    pub(super) capture: &'a Capture,
    pub(super) flows: &'a [Flow],
    pub(super) plan: &'a Plan,
    pub(super) options: &'a Options,
    pub(super) duts: Vec<Box<dyn Dut>>,
    pub(super) tallies: Vec<Tally>,
    pub(super) comparison: Comparison,
    pub(super) active: BTreeMap<usize, Active>,
    /// Regions that open flows share, by their place in the plan.
    pub(super) shared: BTreeMap<usize, Shared>,
    /// The STag that each stag_index stands for now.
    pub(super) registered: BTreeMap<u32, u32>,
    /// Completion queues that exist besides the first one.
    pub(super) completion_queues: BTreeSet<QueueId>,
    /// Memory that was mapped for flows.
    pub(super) pieces: Vec<Piece>,
    pub(super) next_address: u64,
    pub(super) actions: BTreeMap<HostileAction, u64>,
    pub(super) met: Met,
    /// Regions that windows were opened of.
    pub(super) parents: u32,
    /// Frames were played, or connections closed, since the receivers were last idle.
    pub(super) moved: bool,
    /// First frame, from 0, since the receivers were last compared.
    pub(super) compared_to: usize,
    /// The frame, from 0, that is played.
    pub(super) frame: usize,
    /// Place in the plan of the next flow to be opened.
    pub(super) next_flow: usize,
    pub(super) resend: Resend,
    /// What was done to the device, if its timeline is asked for.
    pub(super) log: Option<Log>,
}

impl<'a> Player<'a> {
    pub(super) fn new(
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
            let rtl = Rtl::within(
                &rtl_options(options, config, number),
                &options.conditions.surroundings,
            );
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
            duts.push(Box::new(Software::new(&config, options.loopback)));
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
            completion_queues: BTreeSet::new(),
            pieces: Vec::new(),
            next_address: options.conditions.pieces_address,
            actions: BTreeMap::new(),
            met: options.conditions.of_device(&config),
            parents: 0,
            moved: true,
            compared_to: 0,
            frame: 0,
            next_flow: 0,
            resend: Resend::default(),
            log: records.then(Log::default),
        })
    }

    /// Wait until the receivers are idle, and collect what they did. Detecting that takes long, so
    /// it is skipped if nothing has moved since: many flows may ask before one frame.
    pub(super) fn settle(&mut self) {
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
    pub(super) fn compare_at_this_frame(&mut self) {
        let last = self.frame;
        let first = self.compared_to.min(last);
        let [first, last] = [first, last].map(|frame| self.capture.number(frame));
        self.comparison.at(Some(first..=last));
        self.compared_to = self.frame + 1;
    }

    /// Note in the log of a timeline, if there is one, what was done in this cycle.
    pub(super) fn note(&mut self, act: impl FnOnce(&mut Log, u64)) {
        if let (Some(log), Some(rtl)) = (&mut self.log, self.duts.first()) {
            act(log, rtl.cycles());
        }
    }

    /// A condition is met.
    pub(super) fn meet(&mut self, condition: Condition) {
        *self.met.entry(condition).or_default() += 1;
    }
}

/// How device `number` runs, which `config` sets up.
fn rtl_options(options: &Options, config: Config, number: usize) -> RtlOptions {
    RtlOptions {
        simulation: SimulationConfig {
            width: options.width,
            sizes: options.sizes,
            seed: options.seed,
            stall: options.stall,
            trace: options.trace.as_deref().map(|path| trace_of(path, number)),
            form: options.form(),
            transcript: options.transcript.clone(),
            ..SimulationConfig::default()
        },
        used: options.used,
        loopback: options.loopback,
        config,
        pauses: true,
        short_pages: short_pages(&config),
        watches_all: options.dut == DutKind::Rtl,
    }
}

/// Free pages below which the device may refuse segments for lack of room: its larger reserve,
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
