//! Frames in capture order, each to the device that is its receiver; connections, regions and
//! receive buffers set up just in time (`flows`), what finds no room sent again later (`resend`).

use crate::play::compare::Comparison;
use crate::play::conditions::Met;
use crate::play::dut::PlayError;
use crate::play::hostile::HostileAction;
use crate::play::options::Options;
use crate::play::report::Report;
use crate::play::tally::Tally;
use crate::play::timeline::{self, Timeline};
use indicatif::ProgressBar;
use rnic_capture::plan;
use rnic_capture::{Capture, Flow};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

mod active;
mod region;
mod waiting;
mod run;
mod state;
mod regions;
mod flows;
mod completions;
mod resend;
mod reserve;
mod mid_traffic;
mod actions;

use run::Player;

/// Frames between two comparisons of the receivers.
const BATCH_FRAMES: usize = 256;

/// What a device has shown in its part of a run.
struct Outcome {
    tally: Tally,
    comparison: Comparison,
    actions: BTreeMap<HostileAction, u64>,
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
    let mut elapsed = Duration::ZERO;
    let plans = plan::devices(capture, flows, options.one_device);
    let (mut tally, mut comparison) = (Tally::new(flows), Comparison::default());
    let (mut actions, mut met) = (BTreeMap::<HostileAction, u64>::new(), Met::new());
    let mut timelines = Vec::new();
    for (number, plan) in plans.iter().enumerate() {
        if number > 0 && options.is_stopped() {
            break;
        }
        // The core may have to be built first, which is no part of the rate.
        let player = Player::new(capture, flows, plan, number, options)?;
        let started = Instant::now();
        let outcome = player.run(progress)?;
        elapsed += started.elapsed();
        tally.add(outcome.tally, &plan.flows);
        comparison.add(outcome.comparison);
        timelines.extend(outcome.timeline);
        for (action, count) in outcome.actions {
            *actions.entry(action).or_default() += count;
        }
        for (condition, count) in outcome.met {
            *met.entry(condition).or_default() += count;
        }
    }
    let mut report = Report::new(capture, options, &tally, flows, &comparison, elapsed);
    if options.is_stopped() {
        report.frames = progress.position() as usize;
    }
    Ok(Report {
        actions,
        conditions: met,
        timelines,
        ..report
    })
}

impl Player<'_> {
    /// Play every frame of the plan.
    fn run(mut self, progress: &ProgressBar) -> Result<Outcome, PlayError> {
        for (count, &frame) in self.plan.frames.iter().enumerate() {
            if self.options.is_stopped() {
                break;
            }
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
            .is_none_or(|f| f.contains(&self.capture.number(frame)));
        self.duts.iter_mut().for_each(|dut| dut.set_traced(traced));
        self.close_ended(frame)?;
        // Flows are in the order of their start.
        while let Some(&flow) = self.plan.flows.get(self.next_flow) {
            if self.flows[flow].first_frame > frame {
                break;
            }
            self.next_flow += 1;
            if self.options.flow.is_none_or(|only| only == flow) {
                self.close_postponed()?;
                self.open(flow, self.flows[flow].sequence_start)
                    .map_err(|source| PlayError::at(self.capture.number(frame), flow, source))?;
            }
        }
        let mut order: Vec<usize> = self.active.keys().copied().collect();
        order.retain(|&flow| self.needs_attention(flow, frame));
        for flow in order {
            self.attend(flow, frame)
                .map_err(|source| PlayError::at(self.capture.number(frame), flow, source))?;
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
                self.close(flow)
                    .map_err(|source| PlayError::at(self.capture.number(frame), flow, source))?;
            }
        }
        Ok(())
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
            actions: self.actions,
            met: self.met,
        }
    }
}
