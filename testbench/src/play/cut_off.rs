//! A connection closed in the middle of its traffic: what the device had not done of it by then.
//!
//! How far segments and FPDUs come before a close is a matter of cycles. The model, which is
//! always done, is cut back to what the hardware did, and only if that is how its own work begins.
//! What is cut off is counted, so that counters still agree to the last one:
//!
//! - an FPDU or completion that was not reached is missing in its counter;
//! - a segment that was not reached is the host's, as its connection is no longer known: verdicts
//!   on segments and frames for the host are compared in sum.
//!
//! What was reached is judged as if there had been no close: a release waits for every FPDU before
//! the checks, and the tables that these go by are taken away after it.

use crate::play::bus::HEADER_OCTETS_COMPARED;
use crate::play::tally::Tally;
use rnic_abi::counters::{Counter, FIRST_REFUSAL};
use rnic_abi::errors::StreamError;
use std::ops::AddAssign;

/// Kinds of refusals.
const REFUSALS: usize = rnic_abi::errors::ALL.len();

/// What the model did for connections that were closed at once, and the device did not.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct CutOff {
    fpdus: i64,
    /// FPDUs that were refused, by error.
    refusals: [i64; REFUSALS],
    completions: i64,
    connections: u32,
}

impl AddAssign for CutOff {
    fn add_assign(&mut self, other: Self) {
        self.fpdus += other.fpdus;
        for (sum, more) in self.refusals.iter_mut().zip(other.refusals) {
            *sum += more;
        }
        self.completions += other.completions;
        self.connections += other.connections;
    }
}

impl CutOff {
    /// Was no connection closed so?
    pub fn is_empty(&self) -> bool {
        self.connections == 0
    }

    /// The connection of `flow` was closed at once: take from `model` what the hardware did not
    /// do, and from the hardware's host frames the segments that it did not take. What is left
    /// must be the same. A frame is a segment of the flow by `is_of_flow`.
    pub fn take(
        rtl: &mut Tally,
        model: &mut Tally,
        flow: usize,
        is_of_flow: impl Fn(&[u8]) -> bool,
    ) -> Self {
        let mut cut_off = Self {
            connections: 1,
            ..Self::default()
        };
        let (done, other) = (&rtl.flows[flow], &mut model.flows[flow]);
        let from = done.fpdu_traces.len().min(other.fpdu_traces.len());
        for trace in other.fpdu_traces.drain(from..) {
            let bad = [StreamError::MpaCrc as u8, StreamError::MpaMarker as u8];
            cut_off.fpdus += i64::from(!bad.contains(&trace.error));
            if let Some(refusal) = usize::from(trace.error).checked_sub(1) {
                cut_off.refusals[refusal] += 1;
            }
        }
        let from = done.entries.len().min(other.entries.len());
        cut_off.completions += other.entries.drain(from..).count() as i64;
        other.completions.truncate(from);
        let count = |tally: &Tally| tally.segments.iter().filter(|(of, _)| *of == flow).count();
        let surplus = count(model).saturating_sub(count(rtl));
        remove_last(&mut model.segments, surplus, |(of, _)| *of == flow);
        let is_segment = |slot: &Vec<u8>| is_of_flow(frame_of(slot));
        let count = |slots: &[Vec<u8>]| slots.iter().filter(|slot| is_segment(slot)).count();
        let surplus = count(&rtl.host_slots).saturating_sub(count(&model.host_slots));
        remove_last(&mut rtl.host_slots, surplus, is_segment);
        cut_off
    }

    /// The counters of both receivers as they must agree where connections were closed at once:
    /// name, value of the hardware, value of the model. Counters of segments and host frames are
    /// compared in sum.
    pub fn counters(
        &self,
        rtl: &[(Counter, u32)],
        model: &[(Counter, u32)],
    ) -> Vec<(&'static str, i64, i64)> {
        let (mut rows, mut sums) = (Vec::new(), [0, 0]);
        for (&(counter, found), &(_, expected)) in rtl.iter().zip(model) {
            let (found, expected) = (i64::from(found), i64::from(expected));
            let refusal = counter.index().wrapping_sub(FIRST_REFUSAL);
            let missing = match counter {
                Counter::Fpdus => self.fpdus,
                Counter::Completions => self.completions,
                _ => self.refusals.get(refusal).copied().unwrap_or(0),
            };
            match counter {
                // Another counter counts these too.
                Counter::TcpTrimmed | Counter::TcpControl => {}
                counter if is_of_segment(counter) => {
                    sums[0] += found;
                    sums[1] += expected;
                }
                _ => rows.push((counter.name(), found + missing, expected)),
            }
        }
        rows.push(("segments and host frames in sum", sums[0], sums[1]));
        rows
    }
}

/// The frame of a slot, after the three words of its header that are compared.
fn frame_of(slot: &[u8]) -> &[u8] {
    &slot[HEADER_OCTETS_COMPARED..]
}

/// Remove the last `count` that are chosen.
fn remove_last<T>(all: &mut Vec<T>, count: usize, chosen: impl Fn(&T) -> bool) {
    for _ in 0..count {
        if let Some(place) = all.iter().rposition(&chosen) {
            all.remove(place);
        }
    }
}

/// Does it count what becomes of a frame of TCP?
fn is_of_segment(counter: Counter) -> bool {
    matches!(
        counter,
        Counter::HostFrames
            | Counter::DropHostRingFull
            | Counter::DropHostFrameTooLong
            | Counter::DropTcpChecksum
            | Counter::DropTcpDuplicate
            | Counter::DropTcpOutsideWindow
            | Counter::DropTcpNoRoom
            | Counter::DropTcpNoRange
            | Counter::TcpPureAck
            | Counter::TcpInOrder
            | Counter::TcpOutOfOrder
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::compare::Comparison;
    use rnic_abi::events::{FpduTrace, SegmentTrace};
    use rnic_capture::Flow;

    fn flow() -> Flow {
        Flow::between(([10, 0, 0, 1], 1).into(), ([10, 0, 0, 2], 2).into())
    }

    /// What a receiver decided of segments and FPDUs with these sequence numbers.
    fn tally(segments: &[u32], fpdus: &[u32]) -> Tally {
        let mut tally = Tally::new(&[flow()]);
        let segment = |&seg_seq: &u32| SegmentTrace {
            connection: 0,
            verdict: 0,
            seg_seq,
            seg_len: 10,
        };
        let segments = segments.iter().map(segment);
        tally.segments = segments.map(|trace| (0, trace)).collect();
        let fpdu = |&sequence: &u32| FpduTrace {
            connection: 0,
            sequence,
            ulpdu_length: 10,
            error: 0,
            opcode: Some(0),
            placed_octets: 1,
            placed_out_of_order: false,
        };
        tally.flows[0].fpdu_traces = fpdus.iter().map(fpdu).collect();
        tally
    }

    /// Hardware may stop short of the model, and only that.
    #[test]
    fn after_a_close_at_once_hardware_may_have_done_less_but_nothing_else() {
        let mismatches = |mut rtl: Tally, completed: u32| {
            let mut model = tally(&[1, 2, 3], &[1, 2]);
            rtl.host_slots = vec![[[0; HEADER_OCTETS_COMPARED].as_slice(), &[3]].concat()];
            let cut_off = CutOff::take(&mut rtl, &mut model, 0, |frame| frame == [3]);
            let mut comparison = Comparison::default();
            comparison.add_cut_off(cut_off);
            comparison.compare(&mut rtl, &mut model);
            rtl.counters = vec![(Counter::Fpdus, completed), (Counter::TcpInOrder, 2)];
            rtl.counters.push((Counter::HostFrames, 1));
            model.counters = vec![(Counter::Fpdus, 2), (Counter::TcpInOrder, 3)];
            model.counters.push((Counter::HostFrames, 0));
            comparison.compare_results(&rtl, &model);
            comparison.mismatches
        };
        assert_eq!(mismatches(tally(&[1, 2], &[1]), 1), 0);
        assert!(mismatches(tally(&[1, 4], &[1]), 1) > 0, "another segment");
        assert!(mismatches(tally(&[1, 2], &[2]), 1) > 0, "another FPDU");
        let refused = |error: StreamError| {
            let mut rtl = tally(&[1, 2], &[1, 2]);
            rtl.flows[0].fpdu_traces[1].error = error as u8;
            rtl
        };
        for error in [StreamError::DdpQn, StreamError::DdpStag, StreamError::DdpMo] {
            assert!(mismatches(refused(error), 2) > 0, "{error:?} by the close");
        }
        assert!(mismatches(tally(&[1, 2], &[1]), 2) > 0, "a count too many");
        let more = tally(&[1, 2, 3, 4], &[1]);
        assert!(mismatches(more, 1) > 0, "a segment more");
    }
}
