//! What the device's reserve does not promise, and what a driver does about it.
//!
//! The last pages of packet memory only finish FPDUs (ADR 13). Of an FPDU that has begun they hold
//! the last 16,384 octets, if the frames that bring these need no more than the reserve, and if
//! they come. Segments that are small for their FPDU need more, and where the octets of a length
//! field are not those that were sent, most never come. Such FPDUs may fill memory for good; then a
//! driver has to close their connection, as ADR 13 says: all its pages come back, and others go on.
//!
//! Enters: a playback in which no stream advances any more. Leaves: one connection fewer, marked
//! `closed_for_room`, or the answer that the device itself has to go on. Units: octets of a stream,
//! pages of packet memory.

use super::run::Player;
use crate::play::dut::PlayError;
use rnic_abi::limits::frame_pages;
use rnic_capture::segment::Segment;
use rnic_driver::Config;
use rnic_model::DISTANT_OCTETS;
use std::ops::Range;

impl Player<'_> {
    /// Nothing moves: close a connection whose FPDU is beyond what the reserve promises. False if
    /// there is none: then the device has to move by itself.
    pub(super) fn close_for_room(&mut self) -> Result<bool, PlayError> {
        let open: Vec<usize> = self.active.keys().copied().collect();
        let Some(flow) = open.into_iter().find(|&flow| self.is_unpromised(flow)) else {
            return Ok(false);
        };
        self.forget(flow);
        self.close(flow)
            .map_err(|source| PlayError::at(self.capture.number(self.frame), flow, source))?;
        let tallies = self.tallies.iter_mut();
        tallies.for_each(|tally| tally.flows[flow].closed_for_room = true);
        Ok(true)
    }

    /// Has `flow` begun an FPDU whose end needs more pages than the reserve has, or never comes?
    /// Only the model knows.
    fn is_unpromised(&self, flow: usize) -> bool {
        let model = self.duts.last();
        let begun = model.and_then(|dut| dut.fpdu_begun(self.active[&flow].connection));
        begun.is_some_and(|fpdu| {
            let octets = fpdu.end.wrapping_sub(fpdu.start).min(DISTANT_OCTETS);
            let pages = self.pages_of(flow, &(fpdu.end.wrapping_sub(octets)..fpdu.end));
            pages.is_none_or(|pages| pages > Config::default().in_order_reserve)
        })
    }

    /// Pages of the frames that bring the octets `wanted` of `flow`, each where it comes first;
    /// nothing if some never come.
    fn pages_of(&self, flow: usize, wanted: &Range<u32>) -> Option<u32> {
        let flow = &self.flows[flow];
        let ends = (flow.source, flow.destination);
        let octets = i64::from(wanted.end.wrapping_sub(wanted.start));
        let mut is_there = vec![false; octets as usize];
        let mut pages = 0;
        let frames = self.plan.frames.iter();
        for frame in frames.map(|&frame| &self.capture.frames[frame]) {
            let segment = Segment::of_frame(frame).filter(|segment| segment.ends() == ends);
            let Some(segment) = segment else { continue };
            let first = i64::from(segment.sequence.wrapping_sub(wanted.start) as i32);
            let last = first + segment.payload.len() as i64;
            let within = first.clamp(0, octets) as usize..last.clamp(0, octets) as usize;
            if is_there[within.clone()].contains(&false) {
                is_there[within].fill(true);
                pages += frame_pages(frame.len());
            }
        }
        (!is_there.contains(&false)).then_some(pages)
    }
}
