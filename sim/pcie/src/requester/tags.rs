//! Tags: which are free, what those in use wait for, and until when.
//!
//! ```text
//!   free --> active --> free                       complete, or refused
//!               |-----> quarantined --> free       late completion, or the quarantine ends
//! ```
//!
//! Source: PCI Express Base Specification 5.0, sections 2.2.6.2 and 2.8.

use super::request::Request;
use super::transfer::Token;

/// Values of the eight-bit tag.
const TAG_VALUES: usize = 256;

/// A request on its way: what it is owed, and where its octets go.
#[derive(Clone, Debug)]
pub(super) struct Active {
    pub token: Token,
    /// Offset of the next octet in the transfer's data.
    pub offset: usize,
    pub request: Request,
    pub sent: u64,
}

#[derive(Clone, Debug)]
enum Tag {
    Active(Active),
    // Its request failed, and completions of it may still come. Free from this tick on, or when
    // the last of them has come.
    Quarantined { until: Option<u64> },
}

/// What a tag is to a completion.
pub(super) enum Use<'a> {
    Free,
    Active(&'a mut Active),
    Quarantined,
}

/// The tags of one requester.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    tags: Vec<Option<Tag>>,
    // Start of the search for a free tag, so that tags are used in turn.
    next: usize,
    timeout_ticks: Option<u64>,
    quarantine_ticks: Option<u64>,
    // No request times out and no quarantine ends before this tick.
    deadline: u64,
}

impl Tags {
    /// All free, and no time-out.
    pub fn new() -> Self {
        Self {
            tags: vec![None; TAG_VALUES],
            next: 0,
            timeout_ticks: None,
            quarantine_ticks: None,
            deadline: u64::MAX,
        }
    }

    pub fn set_timeout(&mut self, ticks: Option<u64>) {
        self.timeout_ticks = ticks;
        self.quarantine_ticks = ticks;
        // The requests on their way have another deadline now.
        self.deadline = 0;
    }

    pub fn set_quarantine(&mut self, ticks: Option<u64>) {
        self.quarantine_ticks = ticks;
    }

    /// The next free tag of the first `count`.
    pub fn find_free(&self, count: u16) -> Option<u8> {
        let count = usize::from(count).clamp(1, TAG_VALUES);
        let mut tags = (0..count).map(|offset| (self.next + offset) % count);
        tags.find(|tag| self.tags[*tag].is_none())
            .map(|tag| tag as u8)
    }

    /// Uses a free tag.
    pub fn activate(&mut self, tag: u8, active: Active) {
        let at = usize::from(tag);
        self.tags[at] = Some(Tag::Active(active));
        self.next = at + 1;
        let deadline = self.deadline_of(at).unwrap_or(u64::MAX);
        self.deadline = self.deadline.min(deadline);
    }

    /// What `tag` is used for.
    pub fn get_mut(&mut self, tag: u8) -> Use<'_> {
        match &mut self.tags[usize::from(tag)] {
            None => Use::Free,
            Some(Tag::Active(active)) => Use::Active(active),
            Some(Tag::Quarantined { .. }) => Use::Quarantined,
        }
    }

    pub fn free(&mut self, tag: u8) {
        self.tags[usize::from(tag)] = None;
    }

    /// Keeps `tag` from use although its request is over.
    pub fn quarantine(&mut self, now: u64, tag: u8) {
        let until = self.quarantine_ticks.map(|ticks| now.saturating_add(ticks));
        self.tags[usize::from(tag)] = Some(Tag::Quarantined { until });
        self.deadline = self.deadline.min(until.unwrap_or(u64::MAX));
    }

    /// Frees every tag; they go on in turn.
    pub fn reset(&mut self) {
        self.tags.fill(None);
    }

    /// Ends quarantines that are over, and quarantines the tags of requests that timed out by
    /// `now`: the transfer of each, and the ticks allowed.
    pub fn expire(&mut self, now: u64) -> Vec<(Token, u64)> {
        // Looking at each tag in each cycle would cost more than the rest of a tick.
        if now < self.deadline {
            return Vec::new();
        }
        let mut expired = Vec::new();
        for tag in 0..TAG_VALUES {
            if self.deadline_of(tag).is_none_or(|deadline| now < deadline) {
                continue;
            }
            match (&self.tags[tag], self.timeout_ticks) {
                (Some(Tag::Active(active)), Some(ticks)) => {
                    expired.push((active.token, ticks));
                    self.quarantine(now, tag as u8);
                }
                _ => self.tags[tag] = None,
            }
        }
        let deadlines = (0..TAG_VALUES).filter_map(|tag| self.deadline_of(tag));
        self.deadline = deadlines.min().unwrap_or(u64::MAX);
        expired
    }

    /// Tags in use.
    pub fn count(&self) -> usize {
        self.tags.iter().flatten().count()
    }

    /// The requests on their way, by rising tag.
    pub fn active(&self) -> impl Iterator<Item = (u8, &Active)> {
        let tags = (0..=u8::MAX).zip(&self.tags);
        tags.filter_map(|(tag, state)| match state {
            Some(Tag::Active(active)) => Some((tag, active)),
            _ => None,
        })
    }

    // The tick at which something happens to a tag without a completion.
    fn deadline_of(&self, tag: usize) -> Option<u64> {
        match self.tags[tag].as_ref()? {
            Tag::Active(active) => {
                let last = active.sent.saturating_add(self.timeout_ticks?);
                Some(last.saturating_add(1))
            }
            Tag::Quarantined { until } => *until,
        }
    }
}
