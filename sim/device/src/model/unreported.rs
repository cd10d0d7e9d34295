//! Which connections have an event pending, or will have one by the time.

use rnic_driver::{Reason, Reasons};
use std::collections::{BTreeMap, VecDeque};

/// Segments in order that raise an event together.
const JOINED_SEGMENTS: u32 = 2;

/// A connection with reasons that no event has reported.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Unreported {
    /// Segments in order since the last event, while there was nothing else.
    segments: u32,
    /// Its event is due at this cycle at the latest; `None` once it is pending.
    due: Option<u64>,
}

/// Connections to report.
#[derive(Debug, Default)]
pub(super) struct Events {
    pub(super) unreported: BTreeMap<u16, Unreported>,
    /// Those whose event waits for room alone, the oldest first.
    pub(super) pending: VecDeque<u16>,
}

impl Events {
    /// A segment of `connection` was judged at cycle `now`, and there are `reasons` since its last
    /// event. With `delay_log2` other than 0 segments in order may wait.
    pub(super) fn note(&mut self, connection: u16, reasons: Reasons, now: u64, delay_log2: u32) {
        let is_new = !self.unreported.contains_key(&connection);
        let unreported = self.unreported.entry(connection).or_default();
        if !is_new && unreported.due.is_none() {
            return;
        }
        unreported.segments += 1;
        let in_order_alone = reasons.iter().all(|reason| reason == Reason::InOrder);
        let may_wait = in_order_alone && delay_log2 != 0 && unreported.segments < JOINED_SEGMENTS;
        if may_wait {
            unreported.due = Some(now + (1 << delay_log2));
        } else {
            unreported.due = None;
            self.pending.push_back(connection);
        }
    }

    /// Events that have waited long enough at cycle `now` are pending.
    pub(super) fn expire(&mut self, now: u64) {
        for (&connection, unreported) in &mut self.unreported {
            if unreported.due.is_some_and(|due| due <= now) {
                unreported.due = None;
                self.pending.push_back(connection);
            }
        }
    }

    /// The TCP context of `connection` was written: what happened before is not reported.
    pub(super) fn forget(&mut self, connection: u16) {
        self.unreported.remove(&connection);
        self.pending.retain(|&pending| pending != connection);
    }

    /// Whether something waits for the time only, or there is `room` for what is pending.
    pub(super) fn wait(&self, room: u32) -> bool {
        let waits = self
            .unreported
            .values()
            .any(|unreported| unreported.due.is_some());
        waits || room > 0 && !self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(reason: Reason) -> Reasons {
        [reason].into_iter().collect()
    }

    #[test]
    fn segments_in_order_wait_for_a_second_one_or_for_the_delay() {
        let mut events = Events::default();
        events.note(3, of(Reason::InOrder), 100, 12);
        events.expire(100 + 4_095);
        assert!(events.pending.is_empty() && events.wait(0));
        events.expire(100 + 4_096);
        assert_eq!(events.pending, [3]);
        // What happens while it is pending joins it.
        events.note(3, of(Reason::InOrder), 5_000, 12);
        events.note(4, of(Reason::InOrder), 5_000, 12);
        events.note(4, of(Reason::InOrder), 5_001, 12);
        assert_eq!(events.pending, [3, 4]);
        // Without room nothing happens by itself.
        assert!(!events.wait(0) && events.wait(1));
    }

    #[test]
    fn other_reasons_and_no_delay_wait_for_nothing() {
        let mut events = Events::default();
        events.note(3, of(Reason::Push), 100, 12);
        events.note(4, of(Reason::InOrder), 100, 0);
        assert_eq!(events.pending, [3, 4]);
        events.forget(3);
        assert_eq!(events.pending, [4]);
    }
}
