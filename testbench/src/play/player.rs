//! Frames in capture order; connections, regions and receive buffers set up just in time
//! (`flows`).

use crate::capture::{Capture, Flow};
use crate::play::compare::Comparison;
use crate::play::dut::{self, Dut, DutKind, PlayError};
use crate::play::hostile::Deed;
use crate::play::regions::RegionOverride;
use crate::play::report::Report;
use crate::play::rtl::{BringUpError, Rtl, RtlOptions};
use crate::play::software::Software;
use crate::play::tally::Tally;
use indicatif::ProgressBar;
use rnic_abi::limits::PAGE_OCTETS;
use rnic_abi::registers::EARLY_PAGES_MAX;
use rnic_driver::{Config, Connection, DriverError};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

mod deeds;
mod flows;

use flows::Active;

/// Bus address of the first piece of memory the player maps; rings and queues are below.
const FIRST_ADDRESS: u64 = 0x80_0000_0000;
/// Octets of a stream that a page holds at least, in full frames of 1518 octets.
const PAGE_PAYLOAD_OCTETS: u32 = 240;
/// Pages kept for FPDUs in order, however many flows there are.
const IN_ORDER_PAGES_WANTED: u32 = 400;
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
    /// The RTL is what is synthesised ([`RtlOptions::silicon`]).
    pub silicon: bool,
    /// The RTL was used before ([`RtlOptions::used`]).
    pub used: bool,
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
            silicon: false,
            used: false,
        }
    }
}

/// A run in progress.
struct Player<'a> {
    capture: &'a Capture,
    flows: &'a [Flow],
    options: &'a Options,
    duts: Vec<Box<dyn Dut>>,
    tallies: Vec<Tally>,
    comparison: Comparison,
    active: BTreeMap<usize, Active>,
    next_address: u64,
    deeds: BTreeMap<Deed, u64>,
    /// Frames came, or connections went, since the receivers were at rest.
    moved: bool,
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
    let mut player = Player::new(capture, flows, options)?;
    for (frame, octets) in capture.frames.iter().enumerate() {
        player.before(frame)?;
        let forged = player.disturb(frame)?;
        let octets = forged.as_deref().unwrap_or(octets);
        for dut in &mut player.duts {
            dut.push(octets);
        }
        player.moved = true;
        player.note_pages();
        if frame % BATCH_FRAMES == BATCH_FRAMES - 1 {
            player.settle();
        }
        player.after(frame)?;
        progress.inc(1);
    }
    player.settle();
    Ok(player.report(started.elapsed()))
}

/// Pages for segments beyond a gap: a capture does not answer, so what is in order must never find
/// packet memory full of them; the reserve, which drops what then comes, is off. Each flow may wait
/// for the rest of its longest FPDU, and may keep another frame whole of which it needs a part.
fn early_pages(capture: &Capture, flows: &[Flow]) -> u32 {
    let longest_frame = capture.frames.iter().map(Vec::len).max().unwrap_or(0);
    let frame_pages = (longest_frame as u32 + 2).div_ceil(PAGE_OCTETS as u32);
    let unfinished = flows.iter().map(|flow| match flow.longest_fpdu {
        0 => 0,
        octets => octets.div_ceil(PAGE_PAYLOAD_OCTETS) + frame_pages,
    });
    let in_order = unfinished.sum::<u32>().min(IN_ORDER_PAGES_WANTED);
    EARLY_PAGES_MAX - in_order
}

impl<'a> Player<'a> {
    fn new(
        capture: &'a Capture,
        flows: &'a [Flow],
        options: &'a Options,
    ) -> Result<Self, PlayError> {
        let mut duts: Vec<Box<dyn Dut>> = Vec::new();
        let early_pages = early_pages(capture, flows);
        let config = Config {
            early_pages,
            early_share: early_pages,
            // A capture does not send again what the device refuses.
            in_order_reserve: 0,
            ..Config::default()
        };
        if options.dut != DutKind::Model {
            let rtl = Rtl::new(&RtlOptions {
                width: options.width,
                seed: options.seed,
                stall: options.stall,
                trace: options.trace.clone(),
                silicon: options.silicon,
                used: options.used,
                config,
                pauses: true,
            });
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
        Ok(Self {
            capture,
            flows,
            options,
            duts,
            tallies,
            comparison: Comparison::default(),
            active: BTreeMap::new(),
            next_address: FIRST_ADDRESS,
            deeds: BTreeMap::new(),
            moved: true,
        })
    }

    /// Set up what frame `frame` will need.
    fn before(&mut self, frame: usize) -> Result<(), PlayError> {
        let traced = self
            .options
            .trace_frames
            .as_ref()
            .is_none_or(|f| f.contains(&(frame + 1)));
        self.duts.iter_mut().for_each(|dut| dut.set_traced(traced));
        for flow in 0..self.flows.len() {
            let wanted = self.options.flow.is_none_or(|only| only == flow);
            if wanted && self.flows[flow].first_frame == frame {
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

    /// Close what ended with frame `frame`.
    fn after(&mut self, frame: usize) -> Result<(), PlayError> {
        let ended = |flow: &usize| self.flows[*flow].last_frame == frame;
        let ended: Vec<usize> = self.active.keys().copied().filter(ended).collect();
        if !ended.is_empty() {
            self.settle();
        }
        for flow in ended {
            self.close(flow).map_err(|source| at(frame, flow, source))?;
        }
        Ok(())
    }

    /// Wait until the receivers are at rest, and look at what they did. That they are takes long to
    /// see, so it is asked only if something has moved since: many flows may ask before one frame.
    fn settle(&mut self) {
        if !std::mem::take(&mut self.moved) {
            return;
        }
        let seen = dut::settle(self.duts.iter_mut().map(|dut| &mut **dut as &mut dyn Dut));
        for (seen, tally) in seen.into_iter().zip(&mut self.tallies) {
            tally.take(seen);
        }
        if let [rtl, model] = self.tallies.as_mut_slice() {
            self.comparison.compare(rtl, model);
        }
    }

    /// Read what a flow leaves in memory.
    fn collect(&mut self, flow: usize, connection: Connection) {
        let waits = self.duts.iter().any(|dut| dut.waits_beyond_gap(connection));
        for (dut, tally) in self.duts.iter_mut().zip(&mut self.tallies) {
            tally.collect(flow, dut.as_ref());
            let flow = &mut tally.flows[flow];
            flow.unfinished |= waits || flow.stop.is_some() || flow.terminate().is_some();
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

    fn report(mut self, elapsed: std::time::Duration) -> Report {
        let open = self.active.iter();
        let open: Vec<_> = open
            .map(|(&flow, active)| (flow, active.connection))
            .collect();
        for (flow, connection) in open {
            self.collect(flow, connection);
        }
        for (dut, tally) in self.duts.iter_mut().zip(&mut self.tallies) {
            tally.finish(dut.counters(), dut.violations(), dut.cycles());
        }
        if let [rtl, model] = self.tallies.as_mut_slice() {
            self.comparison.compare_results(rtl, model);
        }
        let [first, rest @ ..] = self.tallies.as_slice() else {
            unreachable!("one DUT at least")
        };
        let violations = rest
            .iter()
            .chain([first])
            .flat_map(|tally| &tally.violations);
        self.comparison.add_violations(violations);
        let report = Report::new(
            self.capture,
            self.options,
            first,
            self.flows,
            &self.comparison,
            elapsed,
        );
        Report {
            deeds: self.deeds,
            ..report
        }
    }
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
