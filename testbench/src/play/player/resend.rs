//! Frames that the device had no room for, sent again later, as TCP would.
//!
//! ```text
//!  frame -> receivers -> taken
//!              |            ^
//!              v no room    | after each RETRY_FRAMES frames, and at the end
//!           waiting, by flow, what comes first in its stream first
//! ```
//!
//! A capture holds what a peer sent to another receiver. What this one refuses for lack of room
//! would come again, and so would what it had taken beyond a gap and gives up for lack of room: so
//! nothing of the capture is lost for that reason.
//!
//! Rounds go on while a stream advances or fewer frames wait. Where a flow ends and nothing moves,
//! because flows that go on later hold the pages it needs, its end is put off: until the capture is
//! over, or another connection is opened. Where the device may stop (`reserve`), a connection is
//! closed.

use super::run::{Player, HOLD_CYCLES_LOG2};
use super::waiting::{segment_of, Waiting};
use crate::play::dut::{DutKind, PlayError, StreamState};
use rnic_capture::segment::Segment;
use rnic_capture::Flow;
use rnic_model::Room;
use std::collections::BTreeMap;

/// Frames played between two rounds in which everything waiting is sent again.
const RETRY_FRAMES: usize = 32;
/// Frames of a flow refused one after the other after which the rest of them wait for the next
/// round: they lie after those.
const REFUSALS_A_ROUND: usize = 2;

/// Cycles in which the pages come back of what the device has given up.
const GIVE_UP_CYCLES: usize = 4_000;
/// Frames taken of a flow after which those that are in order by now are forgotten.
const TAKEN_FRAMES: usize = 512;

impl Player<'_> {
    /// Give frame `frame`, which holds `octets`, to every receiver.
    pub(super) fn push(&mut self, frame: usize, octets: &[u8]) {
        let flow = flow_of(octets, self.flows, self.active.keys());
        let one = Waiting {
            frame,
            octets: octets.to_vec(),
        };
        if let Some(refused) = self.offer(flow, one) {
            self.resend.waiting.entry(flow).or_default().push(refused);
        }
        self.resend.pushed += 1;
        if self.resend.pushed % RETRY_FRAMES == 0 {
            self.send_again();
        }
    }

    /// Push a frame; it comes back if it, or a part of it, has to be sent again.
    fn offer(&mut self, flow: Option<usize>, one: Waiting) -> Option<Waiting> {
        self.moved = true;
        let number = self.capture.number(one.frame);
        self.note(|log, _| log.offer(number, flow, &one.octets));
        let octets = one.octets.as_slice();
        let mut room = Room::Enough;
        let has_model = self.options.dut != DutKind::Rtl;
        let mut answers = Vec::new();
        for dut in &mut self.duts {
            let answer = dut.push(octets, room);
            room = answer;
            answers.push(answer);
        }
        if answers.contains(&Room::NoPage) {
            self.resend.no_pages_for = self.resend.no_pages_for.min(octets.len());
        }
        // The model, where there is one, knows best why.
        if answers.contains(&Room::GivenUp) {
            self.takes_back(flow);
            return Some(one);
        }
        let refused = match (answers.last(), segment_of(octets)) {
            (Some(Room::NoPage | Room::Short | Room::NoRange), _) => return Some(one),
            (Some(Room::UpTo(taken)), Some((first, length))) => {
                let end = first.wrapping_add(u32::from(length));
                let is_beyond = end.wrapping_sub(taken.rcv_nxt) as i32 > 0;
                let is_next = taken.rcv_nxt.wrapping_sub(first) as i32 > 0;
                if let (Some(flow), true, true) = (flow, is_beyond, is_next) {
                    self.note(|log, cycle| log.taken_up_to(cycle, flow, taken.rcv_nxt));
                }
                // Only the model knows of what begins beyond a gap that it was cut.
                (is_beyond && (is_next || has_model)).then_some((first, length))
            }
            _ => None,
        };
        if let (Some((first, length)), Some(flow)) = (refused, flow) {
            let tallies = self.tallies.iter_mut();
            tallies.for_each(|tally| tally.flows[flow].leave_out_one(first, length));
        }
        if refused.is_some() {
            return Some(one);
        }
        self.keep_taken(flow, one);
        None
    }

    /// Keep a segment that was taken, for the case that it lies beyond a gap.
    fn keep_taken(&mut self, flow: Option<usize>, one: Waiting) {
        let (Some(number), true) = (flow, one.may_be_held()) else {
            return;
        };
        let taken = self.resend.taken.entry(number).or_default();
        taken.push(one);
        if taken.len() % TAKEN_FRAMES == 0 {
            let state = self.state(flow);
            let taken = self.resend.taken.entry(number).or_default();
            taken.retain(|one| {
                state
                    .as_ref()
                    .is_some_and(|s| one.reaches_beyond(s.rcv_nxt))
            });
        }
    }

    /// The device has given up what it held of `flow` beyond gaps: that waits again.
    fn takes_back(&mut self, flow: Option<usize>) {
        let state = self.state(flow);
        let (Some(number), Some(state)) = (flow, state) else {
            return;
        };
        self.note(|log, cycle| log.gave_up(cycle, number));
        let taken = self.resend.taken.remove(&number).unwrap_or_default();
        for one in taken
            .into_iter()
            .filter(|one| one.reaches_beyond(state.rcv_nxt))
        {
            if let Some((first, octets)) = segment_of(&one.octets) {
                let tallies = self.tallies.iter_mut();
                tallies.for_each(|tally| tally.flows[number].leave_out_one(first, octets));
            }
            self.resend.waiting.entry(flow).or_default().push(one);
            self.resend.gave_up = true;
        }
    }

    /// What waits of a flow, as its peer sends it again: what comes first in the stream first.
    fn in_sequence(&mut self, flow: Option<usize>, mut waiting: Vec<Waiting>) -> Vec<Waiting> {
        let rcv_nxt = self.state(flow).map_or(0, |state| state.rcv_nxt);
        waiting.sort_by_key(|one| {
            let first = segment_of(&one.octets).map_or(rcv_nxt, |(first, _)| first);
            first.wrapping_sub(rcv_nxt) as i32
        });
        waiting
    }

    /// TCP state of the connection of `flow`, if it is open.
    fn state(&mut self, flow: Option<usize>) -> Option<StreamState> {
        let connection = self.active.get(&flow?)?.connection;
        self.duts.last_mut()?.state(connection)
    }

    /// Send what waits once more, of each flow until a few frames were refused one after the other.
    /// What is as long as a frame for which there were no pages is not tried before something was
    /// taken.
    fn send_again(&mut self) {
        self.resend.no_pages_for = usize::MAX;
        for (flow, waiting) in std::mem::take(&mut self.resend.waiting) {
            let (mut left, mut refusals) = (Vec::new(), 0);
            for one in self.in_sequence(flow, waiting) {
                let fits = one.octets.len() < self.resend.no_pages_for;
                let refused = match fits && refusals < REFUSALS_A_ROUND {
                    true => self.offer_once_more(flow, one),
                    false => Some(one),
                };
                match refused {
                    Some(one) => {
                        // What lies after it would only be in its way again.
                        refusals += if self.resend.gave_up {
                            REFUSALS_A_ROUND
                        } else {
                            1
                        };
                        left.push(one);
                    }
                    None => {
                        refusals = 0;
                        self.resend.no_pages_for = usize::MAX;
                        self.count_resent(flow);
                    }
                }
            }
            if !left.is_empty() {
                self.resend.waiting.entry(flow).or_default().extend(left);
            }
        }
    }

    /// Send what waits once more; true if a stream has advanced, or fewer frames wait than before.
    fn advances(&mut self) -> bool {
        self.send_again();
        let open: Vec<usize> = self.active.keys().copied().collect();
        let states = open.into_iter().filter_map(|flow| {
            let state = self.state(Some(flow))?;
            Some((flow, state.rcv_nxt))
        });
        let rcv_nxt: BTreeMap<usize, u32> = states.collect();
        let waiting = self.resend.waiting.values().map(Vec::len).sum();
        let advances = rcv_nxt != self.resend.rcv_nxt;
        if advances || waiting < self.resend.fewest {
            self.resend.rcv_nxt = rcv_nxt;
            self.resend.fewest = waiting;
            return true;
        }
        false
    }

    /// Push a frame, and once more if the device gives up for it what lies after it.
    fn offer_once_more(&mut self, flow: Option<usize>, one: Waiting) -> Option<Waiting> {
        self.resend.gave_up = false;
        let refused = self.offer(flow, one)?;
        if !self.resend.gave_up {
            return Some(refused);
        }
        self.duts
            .iter_mut()
            .for_each(|dut| dut.wait(GIVE_UP_CYCLES));
        self.offer(flow, refused)
    }

    /// A frame of `flow` was sent again, and taken.
    fn count_resent(&mut self, flow: Option<usize>) {
        if let Some(flow) = flow {
            let tallies = self.tallies.iter_mut();
            tallies.for_each(|tally| tally.flows[flow].resent += 1);
        }
    }

    /// As [`advances`](Self::advances), when the turn of a silent connection is over.
    fn advances_after_turns(&mut self) -> bool {
        let cycles = 1 << HOLD_CYCLES_LOG2;
        self.duts.iter_mut().for_each(|dut| dut.wait(cycles));
        self.advances()
    }

    /// Send again what waits of `flow`, and of all others, until nothing of it does or nothing
    /// moves. False if what is in order of it has found no room: then others hold it, whose peers
    /// go on later in the capture.
    pub(super) fn send_rest_of(&mut self, flow: usize) -> bool {
        self.resend.fewest = usize::MAX;
        while self.resend.waiting.contains_key(&Some(flow)) {
            let advances = self.advances();
            self.settle();
            if !advances && !self.advances() && !self.advances_after_turns() {
                if !self.waiting_in_order(Some(flow)).is_empty() {
                    self.resend.postponed.insert(flow, self.frame);
                    return false;
                }
                self.give_up(Some(flow));
            }
        }
        true
    }

    /// Close the flows whose end was put off, whatever still waits: others are to be opened, which
    /// may be their successors.
    pub(super) fn close_postponed(&mut self) -> Result<(), PlayError> {
        for flow in std::mem::take(&mut self.resend.postponed).into_keys() {
            while self.active.contains_key(&flow) && !self.send_rest_of(flow) {
                if !self.close_for_room()? {
                    self.give_up(Some(flow));
                }
            }
            self.close(flow)
                .map_err(|source| PlayError::at(self.capture.number(self.frame), flow, source))?;
        }
        self.resend.postponed.clear();
        Ok(())
    }

    /// The capture is over: send again whatever waits. Connections with nothing left to send are
    /// closed where that makes room for others.
    pub(super) fn send_rest(&mut self) -> Result<(), PlayError> {
        self.resend.fewest = usize::MAX;
        while !self.resend.is_empty() {
            let advances = self.advances();
            self.settle();
            let empty = self.resend.is_empty();
            if advances || empty || self.advances() || self.advances_after_turns() {
                continue;
            }
            // What lies beyond a gap that nothing closes any more can wait forever.
            let open: Vec<usize> = self.active.keys().copied().collect();
            let done: Vec<usize> = open
                .into_iter()
                .filter(|&flow| self.waiting_in_order(Some(flow)).is_empty())
                .collect();
            if done.is_empty() && !self.close_for_room()? {
                let flows: Vec<Option<usize>> = self.resend.waiting.keys().copied().collect();
                flows.into_iter().for_each(|flow| self.give_up(flow));
            }
            for flow in done {
                self.resend.waiting.remove(&Some(flow));
                self.close(flow).map_err(|source| {
                    PlayError::at(self.capture.number(self.frame), flow, source)
                })?;
            }
        }
        Ok(())
    }

    /// The frames that wait of `flow` though they are in order, or for the host.
    fn waiting_in_order(&mut self, flow: Option<usize>) -> Vec<usize> {
        let state = self.state(flow);
        let waiting = self.resend.waiting.get(&flow).into_iter().flatten();
        let in_order = waiting.filter(|one| match (&state, segment_of(&one.octets)) {
            (Some(state), Some((first, _))) => (first.wrapping_sub(state.rcv_nxt) as i32) <= 0,
            _ => flow.is_none(),
        });
        in_order.map(|one| one.frame).collect()
    }

    /// Forget what waits of `flow`, whose connection is closed.
    pub(super) fn forget(&mut self, flow: usize) {
        self.resend.waiting.remove(&Some(flow));
    }

    /// Forget what waits of `flow`. Octets beyond a gap may find no room forever; what is in
    /// order, or for the host, must find it when nothing else is sent.
    fn give_up(&mut self, flow: Option<usize>) {
        for frame in self.waiting_in_order(flow) {
            self.resend.faults.push(format!(
                "frame {}: the device has no room for it, however often it is sent again",
                self.capture.number(frame)
            ));
        }
        self.resend.waiting.remove(&flow);
    }
}

/// The flow among `active` that a frame belongs to.
fn flow_of<'a>(
    frame: &[u8],
    flows: &[Flow],
    mut active: impl Iterator<Item = &'a usize>,
) -> Option<usize> {
    let ends = Segment::of_frame(frame)?.ends();
    let same = |flow: &&usize| (flows[**flow].source, flows[**flow].destination) == ends;
    active.find(same).copied()
}
