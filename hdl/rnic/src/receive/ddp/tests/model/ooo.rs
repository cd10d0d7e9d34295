//! FPDUs out of order, and their stored records.
use super::*;

impl Model {
    /// Places the payload and stores the record, or does nothing.
    pub(super) fn judge_ooo(&mut self, record: &Record, mut command: Command) -> Outcome {
        let is_proven = record.marker_seen || !record.unproven;
        let follows_bad = self.bad == Some((record.span, record.sequence));
        let may_keep = is_proven
            && !follows_bad
            && !self.context(record.connection).in_error
            && self.kept() < crate::receive::ddp::spans::SLOTS as usize;
        let header = self.header(record).ok();
        let header = header.filter(|header| self.refusal(record, header).is_none());
        let header = header.filter(|header| may_keep && !(header.tagged && header.opcode == 2));
        let ooo = OutOfOrder {
            good: header.is_some(),
            sequence_end: record.sequence_end,
        };
        self.bad = (!ooo.good).then_some((record.span, record.sequence_end));
        if let Some(header) = header {
            self.place(record, &header, &mut command);
            self.spans
                .entry(record.span)
                .or_default()
                .push(record.clone());
        }
        Outcome {
            command: Some(command),
            ooo: Some(ooo),
            ..Outcome::default()
        }
    }

    /// Records stored of all spans.
    pub fn kept(&self) -> usize {
        self.spans.values().map(Vec::len).sum()
    }

    /// The spans with stored records, in the order of their numbers.
    pub fn kept_spans(&self) -> Vec<u64> {
        let mut spans: Vec<u64> = self.spans.keys().copied().collect();
        spans.sort_unstable();
        spans
    }

    /// Removes the records of `span`, in delivery order.
    pub fn release(&mut self, span: u64) -> Vec<Record> {
        let records = self.spans.remove(&span).unwrap_or_default();
        let delivered = records.into_iter().map(|record| Record {
            kind: FpduKind::Deliver,
            beats: 0,
            ..record
        });
        delivered.collect()
    }
}
