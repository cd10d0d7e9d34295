//! RTL against model: every difference counts, the first ones are told.

use crate::play::tally::{FlowTally, Removed, Tally};
use rnic_abi::counters::{Counter, FIRST_REFUSAL};
use std::fmt::Debug;

/// Differences told in words; the rest are only counted.
const TOLD_MAX: usize = 20;

/// Differences found so far.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// How many.
    pub mismatches: u64,
    /// The first ones, in words.
    pub told: Vec<String>,
    removed: Removed,
    segments_seen: usize,
    flows_seen: Vec<(usize, usize)>,
}

impl Comparison {
    /// Compare what both have shown since the last call. Segments and host frames are in one order;
    /// FPDUs and completions in the order of each connection, because the hardware serves
    /// connections independently of each other.
    pub fn compare(&mut self, rtl: &mut Tally, model: &mut Tally) {
        let from = self.segments_seen;
        self.sequence("segment", &rtl.segments[from..], &model.segments[from..]);
        self.segments_seen = rtl.segments.len().min(model.segments.len());
        self.sequence("host frame", &rtl.host_frames, &model.host_frames);
        rtl.host_frames.clear();
        model.host_frames.clear();
        self.flows_seen.resize(rtl.flows.len(), (0, 0));
        for flow in 0..rtl.flows.len() {
            let (fpdus, completions) = self.flows_seen[flow];
            let (left, right) = (&rtl.flows[flow], &model.flows[flow]);
            let what = format!("flow {flow}: FPDU");
            self.sequence(
                &what,
                &left.fpdu_traces[fpdus..],
                &right.fpdu_traces[fpdus..],
            );
            let what = format!("flow {flow}: completion");
            let (mine, other) = (&left.completions, &right.completions);
            self.sequence(&what, &mine[completions..], &other[completions..]);
            self.flows_seen[flow] = (
                left.fpdu_traces.len().min(right.fpdu_traces.len()),
                mine.len().min(other.len()),
            );
        }
    }

    /// Compare memory and counters at the end.
    pub fn compare_results(&mut self, rtl: &Tally, model: &Tally) {
        for (flow, (left, right)) in rtl.flows.iter().zip(&model.flows).enumerate() {
            self.compare_memory(flow, left, right);
        }
        if self.removed.connections > 0 {
            return self.compare_sums(&rtl.counters, &model.counters);
        }
        for ((counter, left), (_, right)) in rtl.counters.iter().zip(&model.counters) {
            if left != right {
                let name = counter.name();
                self.tell(format!("counter {name}: RTL {left}, model {right}"));
            }
        }
    }

    /// Connections were closed at once: what the device had not done of them by then is known, and
    /// segments that it had not taken are the host's.
    fn compare_sums(&mut self, rtl: &[(Counter, u32)], model: &[(Counter, u32)]) {
        let removed = self.removed;
        let mut given = [0, 0];
        for (&(counter, left), &(_, right)) in rtl.iter().zip(model) {
            let refusal = counter.index().wrapping_sub(FIRST_REFUSAL);
            let undone = match counter {
                Counter::Fpdus => removed.fpdus,
                Counter::Completions => removed.completions,
                _ => removed.refusals.get(refusal).copied().unwrap_or(0),
            };
            match counter {
                // They count beside another counter.
                Counter::TcpTrimmed | Counter::TcpControl => {}
                counter if is_of_segment(counter) => {
                    given[0] += left;
                    given[1] += right;
                }
                _ => {
                    let what = format!("counter {}, what was not done included", counter.name());
                    self.pair(&what, &(left + undone), &right);
                }
            }
        }
        self.pair(
            "segments and frames of the host in sum",
            &given[0],
            &given[1],
        );
    }

    /// A connection was closed at once.
    pub fn add_removed(&mut self, removed: Removed) {
        self.removed += removed;
    }

    fn compare_memory(&mut self, flow: usize, left: &FlowTally, right: &FlowTally) {
        let what = format!("flow {flow}: region");
        for (position, (mine, other)) in left.memory.iter().zip(&right.memory).enumerate() {
            let agrees = match right.hasty {
                true => agree(other, mine, true) || agree(mine, other, true),
                false => agree(mine, other, right.unfinished),
            };
            if !agrees {
                let (left, right) = (&left.regions[position], &right.regions[position]);
                let (left, right) = (short(left), short(right));
                self.tell(format!("{what} +{position}: RTL {left}, model {right}"));
            }
        }
        self.sequence(
            &format!("flow {flow}: message"),
            &left.receives,
            &right.receives,
        );
    }

    /// What both say of the same.
    pub fn pair<T: PartialEq + Debug>(&mut self, what: &str, rtl: &T, model: &T) {
        if rtl != model {
            let (left, right) = (short(rtl), short(model));
            self.tell(format!("{what}: RTL {left}, model {right}"));
        }
    }

    /// Faults of either receiver count as differences.
    pub fn add_violations<'a>(&mut self, violations: impl Iterator<Item = &'a String>) {
        violations.for_each(|violation| self.tell(violation.clone()));
    }

    fn sequence<T: PartialEq + Debug>(&mut self, what: &str, rtl: &[T], model: &[T]) {
        for (position, (left, right)) in rtl.iter().zip(model).enumerate() {
            if left != right {
                let (left, right) = (short(left), short(right));
                self.tell(format!("{what} +{position}: RTL {left}, model {right}"));
            }
        }
        if rtl.len() != model.len() {
            let (left, right) = (rtl.len(), model.len());
            let next = if left > right {
                rtl.get(right)
            } else {
                model.get(left)
            };
            let next = next.map_or(String::new(), short);
            self.tell(format!(
                "{what}: RTL has {left}, model {right}; first one more: {next}"
            ));
        }
    }

    fn tell(&mut self, difference: String) {
        self.mismatches += 1;
        if self.told.len() < TOLD_MAX {
            self.told.push(difference);
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

/// Does memory hold the same? Of an unfinished flow the hardware may have placed FPDUs that the
/// model has not come to: there an octet may be any where the model has placed nothing, or zero.
/// Whatever was placed in order must be there, and nothing outside the region is in question.
fn agree(rtl: &[u8], model: &[u8], unfinished: bool) -> bool {
    let octets = rtl.iter().zip(model);
    let differs = |(mine, other): (&u8, &u8)| mine != other && !(unfinished && *other == 0);
    rtl.len() == model.len() && !octets.into_iter().any(differs)
}

fn short(value: &impl Debug) -> String {
    let mut text = format!("{value:?}");
    if text.len() > 300 {
        text.truncate(300);
        text.push_str(" ...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{agree, Comparison};
    use crate::capture::Flow;
    use crate::play::tally::Tally;
    use rnic_abi::counters::Counter;
    use rnic_abi::events::{FpduTrace, SegmentTrace};

    fn flow() -> Flow {
        Flow {
            source: ([10, 0, 0, 1], 1).into(),
            destination: ([10, 0, 0, 2], 2).into(),
            revision: 1,
            markers: false,
            crc: true,
            sequence_start: 0,
            first_frame: 0,
            last_frame: 0,
            regions: Vec::new(),
            messages: Vec::new(),
            longest_fpdu: 0,
            fpdus: Vec::new(),
        }
    }

    /// What a receiver decided of segments and FPDUs with these sequence numbers.
    fn tally(segments: &[u32], fpdus: &[u32]) -> Tally {
        let mut tally = Tally::new(&[flow()]);
        tally.segments = segments
            .iter()
            .map(|&seg_seq| {
                let trace = SegmentTrace {
                    connection: 0,
                    verdict: 0,
                    seg_seq,
                    seg_len: 10,
                };
                (0, trace)
            })
            .collect();
        tally.flows[0].fpdu_traces = fpdus
            .iter()
            .map(|&sequence| FpduTrace {
                connection: 0,
                sequence,
                ulpdu_length: 10,
                error: 0,
                opcode: Some(0),
                placed_octets: 1,
                placed_early: false,
            })
            .collect();
        tally
    }

    /// A connection closed at once: hardware may stop short of the model, and only that.
    #[test]
    fn after_a_close_at_once_hardware_may_have_done_less_but_nothing_else() {
        let mismatches = |mut rtl: Tally, completed: u32| {
            let mut model = tally(&[1, 2, 3], &[1, 2]);
            rtl.host_frames = vec![vec![3]];
            let removed = Tally::tell_how_far(&mut rtl, &mut model, 0, |frame| frame == [3]);
            let mut comparison = Comparison::default();
            comparison.add_removed(removed);
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
        assert!(mismatches(tally(&[1, 2], &[1]), 2) > 0, "a count too many");
        assert!(
            mismatches(tally(&[1, 2, 3, 4], &[1]), 1) > 0,
            "a segment more"
        );
    }

    #[test]
    fn only_what_an_unfinished_flow_has_not_come_to_may_differ() {
        assert!(agree(&[1, 2, 0], &[1, 2, 0], false));
        assert!(!agree(&[1, 2, 3], &[1, 2, 0], false));
        assert!(agree(&[1, 2, 3], &[1, 2, 0], true));
        // What the model placed in order must be there.
        assert!(!agree(&[1, 0, 3], &[1, 2, 0], true));
        assert!(!agree(&[1, 9, 0], &[1, 2, 0], true));
        assert!(!agree(&[1, 2], &[1, 2, 0], true));
    }
}
