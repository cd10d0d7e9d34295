//! Hostile actions through the driver, the same on every receiver, mostly when all are idle.

use super::active::Active;
use super::run::Player;
use crate::play::dut::{each, PlayError};
use crate::play::hostile::{self, forge, HostileAction};
use rand::seq::IndexedRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rnic_abi::limits::MAX_RECEIVE_WINDOW;
use rnic_capture::segment::Segment;
use rnic_capture::Flow;
use rnic_driver::DriverError;
use std::ops::RangeInclusive;

/// Frames for which a connection gets no buffers.
const WITHHELD_FRAMES: RangeInclusive<usize> = 1..=200;
/// Frames in which a segment is looked for that a connection opened anew begins with.
const FRAMES_AHEAD: usize = 64;

impl Player<'_> {
    /// Do what is drawn for frame `frame`: the frame that comes instead of it, if one does.
    pub(super) fn disturb(&mut self, frame: usize) -> Result<Option<Vec<u8>>, PlayError> {
        let (seed, rate) = (self.options.seed, self.options.hostile);
        let Some((action, mut generator)) = hostile::action(seed, rate, frame) else {
            return Ok(None);
        };
        if action == HostileAction::Forge {
            self.count(action);
            let octets = &self.capture.frames[frame];
            return Ok(Some(forge::forge(octets, self.flows, &mut generator)));
        }
        let active: Vec<usize> = self.active.keys().copied().collect();
        let Some(&flow) = active.choose(&mut generator) else {
            return Ok(None);
        };
        if !matches!(action, HostileAction::Churn | HostileAction::CloseAtOnce) {
            self.settle();
        }
        let done = match action {
            HostileAction::Forge => Ok(false),
            HostileAction::Churn => self.churn(&mut generator),
            HostileAction::CloseAtOnce => self.close_at_once(flow),
            HostileAction::Revoke => self.revoke(flow, &mut generator),
            HostileAction::Restore => self.restore(flow, &mut generator),
            HostileAction::Reopen => self.reopen(flow, frame, &mut generator),
            HostileAction::Close => self.close(flow).map(|()| true),
            HostileAction::Window => self.set_window(flow, &mut generator),
            HostileAction::Withhold => {
                let frames = generator.random_range(WITHHELD_FRAMES);
                self.at_hand(flow).withheld_until = frame + frames;
                Ok(true)
            }
        };
        if done.map_err(|source| PlayError::at(self.capture.number(frame), flow, source))? {
            self.count(action);
        }
        Ok(None)
    }

    fn count(&mut self, action: HostileAction) {
        *self.actions.entry(action).or_default() += 1;
    }

    fn at_hand(&mut self, flow: usize) -> &mut Active {
        self.active.get_mut(&flow).expect("active flows are chosen")
    }

    /// Take a region away that is alone with its stag_index: what becomes of the others is drawn
    /// from the capture.
    fn revoke(&mut self, flow: usize, generator: &mut ChaCha8Rng) -> Result<bool, DriverError> {
        let regions = &mut self.at_hand(flow).regions;
        let index = |stag: u32| stag >> 8;
        let alone = |stag: u32| {
            let same = regions
                .iter()
                .filter(|r| index(r.config.stag) == index(stag));
            same.count() == 1
        };
        let whole = regions
            .iter()
            .enumerate()
            .filter(|(_, region)| region.initial && !region.revoked && alone(region.config.stag));
        let whole: Vec<usize> = whole.map(|(place, _)| place).collect();
        let Some(&place) = whole.choose(generator) else {
            return Ok(false);
        };
        regions[place].revoked = true;
        let active = self.active.get(&flow).expect("it was at hand");
        let region = &active.regions[place];
        self.registered.remove(&(region.config.stag >> 8));
        region.deregister(&mut self.duts)?;
        Ok(true)
    }

    /// Write a window whose right edge is where it was, or further right.
    fn set_window(&mut self, flow: usize, generator: &mut ChaCha8Rng) -> Result<bool, DriverError> {
        let connection = self.at_hand(flow).connection;
        let states = self.duts.iter_mut().map(|dut| dut.state(connection));
        let mut states: Vec<_> = states.collect();
        let Some(state) = states.pop().flatten() else {
            return Ok(false);
        };
        let edge = self.at_hand(flow).right_edge;
        let ahead = edge.wrapping_sub(state.rcv_nxt) as i32;
        let more_log2 = *[0, 10, 16, 30].choose(generator).expect("there are four");
        let more = generator.random_range(0..1u32 << more_log2);
        let window = (ahead.max(0) as u32 + more).clamp(1, MAX_RECEIVE_WINDOW);
        each(&mut self.duts, |dut| dut.set_window(connection, window))?;
        self.at_hand(flow).right_edge = state.rcv_nxt.wrapping_add(window);
        Ok(true)
    }

    fn restore(&mut self, flow: usize, generator: &mut ChaCha8Rng) -> Result<bool, DriverError> {
        let active = self.active.get_mut(&flow).expect("active flows are chosen");
        let regions = &mut active.regions;
        let revoked: Vec<_> = regions.iter_mut().filter(|r| r.revoked).collect();
        if revoked.is_empty() {
            return Ok(false);
        }
        let place = generator.random_range(0..revoked.len());
        let region = revoked.into_iter().nth(place).expect("it is below the end");
        region.revoked = false;
        self.registered
            .insert(region.config.stag >> 8, region.config.stag);
        region.register(&mut self.duts)?;
        Ok(true)
    }

    /// The same addresses and ports again, mostly from the flow's next segment on; its messages and
    /// regions begin again, in fresh memory.
    fn reopen(
        &mut self,
        flow: usize,
        frame: usize,
        generator: &mut ChaCha8Rng,
    ) -> Result<bool, DriverError> {
        let ahead = self.capture.frames.iter().skip(frame).take(FRAMES_AHEAD);
        let next = ahead
            .filter_map(|octets| sequence_of(octets, &self.flows[flow]))
            .next();
        let sequence = match next {
            Some(sequence) if generator.random_bool(0.9) => sequence,
            _ => generator.random(),
        };
        self.close(flow)?;
        self.open(flow, sequence)?;
        Ok(true)
    }
}

/// Sequence number of a segment of `flow` that has octets.
fn sequence_of(frame: &[u8], flow: &Flow) -> Option<u32> {
    let segment = Segment::of_frame(frame)?;
    let same = segment.ends() == (flow.source, flow.destination);
    (same && !segment.payload.is_empty()).then_some(segment.sequence)
}
