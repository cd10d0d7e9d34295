//! Reports to events: reasons by the words of `rnic_abi::event_ring`, and the context after them.
use super::{Model, Stream};
use crate::messages::{ConnectionReport, ReportedContext};
use crate::receive::tcp::context::QueuedFrame;
use rnic_abi::event_ring as abi;
use rnic_abi::events::SegmentVerdict;

const PSH: u64 = 1 << 3;

/// A context as events see it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Context {
    rcv_nxt: u32,
    ack: u32,
    wnd: u16,
    due: u8,
    seen: u8,
    fin: Option<u32>,
    ranges: usize,
}

impl Context {
    /// Without the ranges, which a release may have dropped since.
    pub fn without_ranges(self) -> Self {
        Self { ranges: 0, ..self }
    }

    /// Out-of-order ranges.
    pub fn ranges(&self) -> usize {
        self.ranges
    }
}

impl From<&Stream> for Context {
    fn from(stream: &Stream) -> Self {
        Self {
            rcv_nxt: stream.next as u32,
            ack: stream.ack,
            wnd: stream.wnd,
            due: stream.answers,
            seen: stream.repeats,
            fin: stream.fin,
            ranges: stream.ranges.len(),
        }
    }
}

impl From<ReportedContext> for Context {
    fn from(context: ReportedContext) -> Self {
        Self {
            rcv_nxt: context.rcv_nxt.to_u32(),
            ack: context.seg_ack.to_u32(),
            wnd: context.seg_wnd.to_u32() as u16,
            due: context.duplicates_due.to_u32() as u8,
            seen: context.duplicates_seen.to_u32() as u8,
            fin: context.fin.then_some(context.fin_sequence.to_u32()),
            ranges: context.ranges.index(),
        }
    }
}

/// A report, without the context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    pub connection: u64,
    reasons: u32,
    range: Option<(u32, u32)>,
    begins: bool,
    /// SEG.ACK and SEG.WND, if they count.
    acknowledged: Option<(u32, u16)>,
}

impl From<ConnectionReport> for Report {
    fn from(report: ConnectionReport) -> Self {
        let range = (report.left.to_u32(), report.right.to_u32());
        let acknowledged = (report.seg_ack.to_u32(), report.seg_wnd.to_u32() as u16);
        Self {
            connection: report.connection.to_u64(),
            reasons: report.reasons.to_u32(),
            range: report.changes.then_some(range),
            begins: report.begins,
            acknowledged: report.acknowledges.then_some(acknowledged),
        }
    }
}

impl Model {
    /// The context of stream `index` is written.
    pub fn begin(&mut self, index: usize) {
        let report = Report {
            connection: self.streams[index].connection,
            reasons: 0,
            range: None,
            begins: true,
            acknowledged: None,
        };
        let context = Context::from(&self.streams[index]);
        self.reports.push_back((report, context));
    }

    /// A segment has changed stream `index`, which was `before`. `verdict` is that on its payload,
    /// `kept` says whether SEG.ACK and SEG.WND count.
    pub(super) fn report(
        &mut self,
        index: usize,
        before: &Stream,
        frame: &QueuedFrame,
        verdict: Option<SegmentVerdict>,
        kept: bool,
    ) {
        use SegmentVerdict::{InOrder, OutOfOrder, Trimmed};
        let after = &self.streams[index];
        let in_order = matches!(verdict, Some(InOrder | Trimmed));
        let out_of_order = verdict == Some(OutOfOrder);
        let accepted = in_order || out_of_order;
        let pushed = frame.segment.flags.index() as u64 & PSH != 0;
        let same = (before.ack, before.wnd) == (after.ack, after.wnd);
        let nothing = match verdict {
            Some(_) => !accepted,
            None => !kept,
        };
        let rows = [
            (in_order, abi::IN_ORDER),
            (out_of_order, abi::OUT_OF_ORDER),
            (nothing, abi::NOT_ACCEPTED),
            (in_order && !before.ranges.is_empty(), abi::GAP_FILLED),
            (accepted && pushed, abi::PUSH),
            (kept && !same, abi::ACK),
            (kept && same && verdict.is_none(), abi::ACK_REPEATED),
            (after.fin != before.fin, abi::FIN),
        ];
        let occurred = rows.into_iter().filter(|(occurs, _)| *occurs);
        let reasons = occurred.map(|(_, reason)| reason).sum::<u32>();
        for (bit, seen) in self.seen.reasons.iter_mut().enumerate() {
            *seen += (reasons >> bit & 1) as usize;
        }
        let mut ranges = after.ranges.iter();
        let changed = ranges.find(|range| out_of_order && range.number == after.last_range);
        let report = Report {
            connection: after.connection,
            reasons,
            range: changed.map(|range| (range.left as u32, range.right as u32)),
            begins: false,
            acknowledged: kept.then_some((after.ack, after.wnd)),
        };
        self.reports.push_back((report, Context::from(after)));
    }
}
