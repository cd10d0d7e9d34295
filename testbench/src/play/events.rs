//! What the event ring has shown of a connection.
//!
//! Which segments share an event depends on the cycle in which it is composed, and on how late the
//! driver is. Compared is therefore what holds for any of these: RCV.NXT never goes back; when the
//! ring is drained, the last event says exactly how the connection is, and all events together have
//! exactly the reasons that occurred. Left out: how many events there are, and which has which
//! reason.

use rnic_driver::{Event, Reasons};

/// The events of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventTally {
    reasons: Reasons,
    last: Option<Event>,
}

impl EventTally {
    /// One event more; in words, if it contradicts those before.
    pub fn take(&mut self, event: &Event) -> Option<String> {
        self.reasons.extend(event.reasons.iter());
        let before = self.last.replace(*event)?;
        let advance = event.rcv_nxt.wrapping_sub(before.rcv_nxt) as i32;
        (advance < 0).then(|| format!("{event:x?} is older than {before:x?}"))
    }

    /// The last event, with the reasons of all.
    pub fn all(&self) -> Option<Event> {
        let last = self.last?;
        Some(Event {
            reasons: self.reasons,
            ..last
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_driver::{ConnectionId, Reason};

    #[test]
    fn an_older_event_is_found_and_reasons_are_joined() {
        let event = |rcv_nxt, reason: Reason| Event {
            connection: ConnectionId(1),
            reasons: [reason].into_iter().collect(),
            rcv_nxt,
            seg_ack: 0,
            seg_wnd: 0,
            fin_seen: false,
            duplicate_acks_due: 0,
            duplicate_acks_seen: 0,
            ranges: 0,
            changed: None,
        };
        let mut tally = EventTally::default();
        assert_eq!(tally.all(), None);
        assert!(tally.take(&event(u32::MAX, Reason::InOrder)).is_none());
        assert!(tally.take(&event(5, Reason::Ack)).is_none(), "it wraps");
        let all = tally.all().expect("there were two");
        assert!(all.reasons.iter().eq([Reason::InOrder, Reason::Ack]));
        assert_eq!(all.rcv_nxt, 5);
        assert!(tally.take(&event(4, Reason::Ack)).is_some());
    }
}
