//! What the event ring has shown of a connection.
//!
//! Which segments share an event depends on the cycle in which it is composed, and on how late the
//! driver is. Compared is therefore what holds for any of these: RCV.NXT never goes back, and a
//! range that is reported lies beyond it; when the ring is drained, the last event says exactly how
//! the connection is, and all events together have exactly the reasons that occurred. The
//! acknowledgements of its events are the highest ones of groups of acceptable segments, one group
//! after the other, and none is left out. Left out: how many events there are, and which has which
//! reason.
//!
//! ```text
//!  acknowledged by segments:  A A B B B C A D D        (in a row once: runs)
//!  by events:                 B           C D          A..B, B..A, D
//! ```

use rnic_driver::{Event, OutOfOrderRange, Reason, Reasons};
use std::collections::{BTreeSet, HashMap};

/// SEG.ACK and SEG.WND.
pub type Acknowledgement = (u32, u16);

/// The events of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventTally {
    reasons: Reasons,
    last: Option<Event>,
    /// What each event acknowledges, and whether a segment must have; in a row once.
    acknowledged: Vec<(Acknowledgement, bool)>,
}

impl EventTally {
    /// One event more; in words, if it contradicts those before.
    pub fn take(&mut self, event: &Event) -> Option<String> {
        self.reasons.extend(event.reasons.iter());
        // A first FPDU comes without a segment.
        let is_of_segments = event
            .reasons
            .iter()
            .any(|reason| reason != Reason::FirstFpdu);
        let acknowledged = ((event.seg_ack, event.seg_wnd), is_of_segments);
        if self.acknowledged.last() != Some(&acknowledged) {
            self.acknowledged.push(acknowledged);
        }
        let is_filled =
            |range: &OutOfOrderRange| range.right.wrapping_sub(event.rcv_nxt) as i32 <= 0;
        if event.changed.as_ref().is_some_and(is_filled) {
            return Some(format!("{event:x?} reports a range that is in order"));
        }
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

    /// In words, what the events acknowledge that no groups of `segments` do: those of the
    /// acceptable segments in a row once, after the one that the connection began with.
    pub fn unexplained(&self, segments: &[Acknowledgement]) -> Option<String> {
        let last_places: HashMap<Acknowledgement, usize> = segments
            .iter()
            .enumerate()
            .map(|(place, &segment)| (segment, place))
            .collect();
        // Places in which the groups of the events so far may have ended.
        let mut ends = BTreeSet::from([0]);
        for (number, &(acknowledged, is_of_segments)) in self.acknowledged.iter().enumerate() {
            let groups = ends.iter().flat_map(|&end| {
                // What is in a row may be of two groups.
                let starts = [end, end + 1].into_iter();
                let last_place = last_places.get(&acknowledged).copied();
                starts.flat_map(move |start| {
                    group_ends(segments, start, acknowledged, last_place.unwrap_or(0))
                })
            });
            let mut after: BTreeSet<usize> = groups.collect();
            if !is_of_segments {
                let alone = ends
                    .iter()
                    .filter(|&&end| segments[end..].contains(&acknowledged));
                after.extend(alone);
            }
            if after.is_empty() {
                return Some(format!(
                    "event {number} acknowledges {acknowledged:x?}, as no segments from \
                     {ends:?} on: {:x?}",
                    &segments[ends.first().map_or(0, |first| *first)..]
                ));
            }
            ends = after;
        }
        let all = segments.len() - 1;
        let is_whole = self.acknowledged.is_empty() || ends.contains(&all);
        (!is_whole).then(|| format!("segment {all} of {segments:x?} joins no event: {ends:?}"))
    }
}

/// The last segments of groups that begin with `start` and of which `acknowledged` is the highest;
/// no segment after `last_place` has it.
fn group_ends(
    segments: &[Acknowledgement],
    start: usize,
    acknowledged: Acknowledgement,
    last_place: usize,
) -> Vec<usize> {
    let mut highest: Option<Acknowledgement> = None;
    let mut ends = Vec::new();
    for (place, &segment) in segments.iter().enumerate().skip(start) {
        let distance = |from: u32, to: u32| to.wrapping_sub(from) as i32;
        if highest.is_none_or(|highest| distance(highest.0, segment.0) >= 0) {
            highest = Some(segment);
        }
        // One that is above may still come to it: three steps of less than 2^31 lead around.
        if highest == Some(acknowledged) {
            ends.push(place);
        } else if place >= last_place {
            break;
        }
    }
    ends
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
            fin: None,
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
        let range = |left, right| Event {
            changed: Some(OutOfOrderRange { left, right }),
            ..event(8, Reason::Ack)
        };
        assert!(tally.take(&range(7, 8)).is_some(), "it is in order");
        assert!(tally.take(&range(9, 10)).is_none());
    }

    /// Segments acknowledge 1, 3, 2, 2 with another window, 2^30 ahead, 4; events some of it.
    #[test]
    fn acknowledgements_are_the_highest_of_groups() {
        const FAR: Acknowledgement = (1 << 30, 1);
        let segments = [(0, 0), (1, 1), (3, 1), (2, 1), (2, 2), FAR, (4, 1)];
        let is_explained = |acknowledged: &[Acknowledgement], reason: Reason| {
            let acknowledged = acknowledged.iter();
            let tally = EventTally {
                acknowledged: acknowledged
                    .map(|&pair| (pair, reason != Reason::FirstFpdu))
                    .collect(),
                ..EventTally::default()
            };
            tally.unexplained(&segments).is_none()
        };
        let explained: [&[Acknowledgement]; 6] = [
            &[],
            &[FAR],
            &[(3, 1), FAR, (4, 1)],
            &[(1, 1), (3, 1), (2, 2), FAR],
            &[(1, 1), (3, 1), (2, 1), (2, 2), FAR, (4, 1)],
            &[(3, 1), (2, 2), FAR, (4, 1)],
        ];
        for acknowledged in explained {
            assert!(is_explained(acknowledged, Reason::Ack), "{acknowledged:x?}");
        }
        let unexplained: [&[Acknowledgement]; 6] = [
            // The last one is not all; a lower one first; another window; the highest ever.
            &[(3, 1)],
            &[(2, 2), (3, 1), FAR],
            &[(1, 1), (3, 2), FAR],
            &[FAR, FAR, (3, 1)],
            &[(3, 1), (2, 2), (4, 1)],
            &[(5, 1)],
        ];
        for acknowledged in unexplained {
            assert!(
                !is_explained(acknowledged, Reason::Ack),
                "{acknowledged:x?}"
            );
        }
        assert!(is_explained(&[(2, 1), FAR], Reason::FirstFpdu));
        assert!(!is_explained(&[(5, 1)], Reason::FirstFpdu));
    }

    /// Hostile peers acknowledge at random: each of these is above the one before it, but the last
    /// one is below the first; without the one between, the first stays the highest.
    #[test]
    fn acknowledgements_that_lead_around_are_of_one_group() {
        const FIRST: Acknowledgement = (0x4cd7_fb04, 1);
        const BETWEEN: Acknowledgement = (0xa77e_5077, 1);
        const LAST: Acknowledgement = (0xf21e_ee03, 1);
        for (segments, highest) in [
            (&[(0, 0), FIRST, BETWEEN, LAST][..], LAST),
            (&[(0, 0), FIRST, LAST], FIRST),
        ] {
            for acknowledged in [FIRST, BETWEEN, LAST] {
                let tally = EventTally {
                    acknowledged: vec![(acknowledged, true)],
                    ..EventTally::default()
                };
                let unexplained = tally.unexplained(segments);
                assert_eq!(unexplained.is_none(), acknowledged == highest);
            }
        }
    }
}
