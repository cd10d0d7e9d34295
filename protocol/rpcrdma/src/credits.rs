//! How many Sends may be in flight, as both ends count (RFC 5666 sections 3.3, 3.8, 6.1 and 11).
//!
//! ```text
//!   requester                                     responder, P receives posted
//!   calls + DONEs in flight < grant   --call-->   receive posted again before it is worked on
//!   grant = newest reply's            <-reply--   grant = min(asked, P - DONEs pending - reverse)
//!   DONE: takes over its call's credit --DONE-->  a receive was kept for it
//! ```
//!
//! A DONE has no answer. Its credit is the one of the call that it follows, so that the number in
//! flight does not grow by it, and it is free again when its Send has completed. Were it to wait
//! for a lower grant to be met, a responder that holds a reply back until a DONE comes (section
//! 11) would wait for ever.

/// A requester's credits on one connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Credits {
    /// `None` until the first reply.
    granted: Option<u32>,
    /// Replies that can be received at once.
    replies_max: u32,
    calls: u32,
    dones: u32,
}

impl Credits {
    /// Those of a new connection: one call until its reply (RFC 5666 section 6.1, RPC-035).
    /// `replies_max` receives are posted for replies; at least 1 is taken.
    #[must_use]
    pub fn new(replies_max: u32) -> Self {
        Self {
            granted: None,
            replies_max: replies_max.max(1),
            calls: 0,
            dones: 0,
        }
    }

    /// The newest grant: 0 counts as 1, or nothing could ever be sent again, and what is above the
    /// receives for replies is cut.
    #[must_use]
    pub fn granted(&self) -> u32 {
        self.granted.unwrap_or(1)
    }

    /// Calls that have been sent and not replied to.
    #[must_use]
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// DONEs whose Send has not completed.
    #[must_use]
    pub fn dones(&self) -> u32 {
        self.dones
    }

    /// Another call may be sent (RPC-005). The grant is never above the receives for replies.
    #[must_use]
    pub fn may_call(&self) -> bool {
        self.calls + self.dones < self.granted()
    }

    /// A call is sent.
    pub fn call_sent(&mut self) {
        self.calls += 1;
    }

    /// A reply has come to a call in flight, and grants so many. With `has_reads` its read list
    /// will be answered by a DONE, which takes over the call's credit at once (RPC-022).
    pub fn replied(&mut self, granted: u32, has_reads: bool) {
        self.calls = self.calls.saturating_sub(1);
        self.dones += u32::from(has_reads);
        self.granted = Some(granted.clamp(1, self.replies_max));
    }

    /// The Send of a DONE has completed.
    pub fn done_completed(&mut self) {
        self.dones = self.dones.saturating_sub(1);
    }
}

/// A responder's grants on one connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grants {
    posted: u32,
    reverse: u32,
    pending: u32,
}

impl Grants {
    /// `posted` receives, of which `reverse` are for replies to reverse calls. Where replies have
    /// read lists, one more than is granted must be posted, or the only receive would be granted
    /// and awaited by a DONE.
    #[must_use]
    pub fn new(posted: u32, reverse: u32) -> Self {
        Self {
            posted,
            reverse,
            pending: 0,
        }
    }

    /// DONEs that are awaited.
    #[must_use]
    pub fn pending(&self) -> u32 {
        self.pending
    }

    /// The grant of a reply to a call that asked for `asked`, at least 1 (RPC-004). With
    /// `has_reads` the reply itself will await a DONE. `None`: the last receive would go to a
    /// DONE; the reply is held back until one that is pending comes (RPC-042).
    #[must_use]
    pub fn grant(&self, asked: u32, has_reads: bool) -> Option<u32> {
        let kept = self.pending + self.reverse + u32::from(has_reads);
        match self.posted.saturating_sub(kept) {
            0 if has_reads && self.pending > 0 => None,
            free => Some(asked.min(free).max(1)),
        }
    }

    /// A reply with a read list is sent.
    pub fn done_awaited(&mut self) {
        self.pending += 1;
    }

    /// A DONE that was awaited has come, or is no longer awaited.
    pub fn done_received(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RPC-035: one call until the first reply has brought the real credits.
    #[test]
    fn one_call_until_the_first_reply() {
        let mut credits = Credits::new(16);
        assert!(credits.may_call());
        credits.call_sent();
        assert!(!credits.may_call());
        credits.replied(3, false);
        for _ in 0..3 {
            assert!(credits.may_call());
            credits.call_sent();
        }
        assert!(!credits.may_call());
        assert_eq!((credits.calls(), credits.granted()), (3, 3));
    }

    /// RPC-005, RPC-006: grant 4, six queued, four sent; a lower grant holds at once, a higher one
    /// too.
    #[test]
    fn the_newest_grant_counts() {
        let mut credits = Credits::new(16);
        credits.call_sent();
        credits.replied(4, false);
        for sent in 0..6 {
            assert_eq!(credits.may_call(), sent < 4, "{sent}");
            if credits.may_call() {
                credits.call_sent();
            }
        }
        credits.replied(2, false);
        assert_eq!(credits.calls(), 3);
        assert!(!credits.may_call());
        credits.replied(2, false);
        assert!(!credits.may_call(), "two in flight of two");
        credits.replied(16, false);
        assert_eq!((1..=16).filter(|_| step(&mut credits)).count(), 15);
    }

    fn step(credits: &mut Credits) -> bool {
        let may = credits.may_call();
        if may {
            credits.call_sent();
        }
        may
    }

    /// RPC-004: a grant of 0 counts as 1; one of 2^32 - 1 is cut to the receives for replies.
    #[test]
    fn grants_are_cut_at_both_ends() {
        for (grant, counts) in [(0, 1), (1, 1), (5, 5), (6, 6), (7, 6), (u32::MAX, 6)] {
            let mut credits = Credits::new(6);
            credits.call_sent();
            credits.replied(grant, false);
            assert_eq!(credits.granted(), counts, "{grant}");
            assert_eq!(
                (0..99).filter(|_| step(&mut credits)).count(),
                counts as usize
            );
        }
        assert!(Credits::new(0).may_call(), "no receives are taken as one");
    }

    /// RPC-022: with a grant of 1 the DONE is sent first; the next call follows its completion.
    #[test]
    fn a_done_takes_over_the_credit_of_its_call() {
        let mut credits = Credits::new(4);
        credits.call_sent();
        credits.replied(1, true);
        assert_eq!((credits.calls(), credits.dones()), (0, 1));
        assert!(!credits.may_call());
        credits.done_completed();
        assert_eq!(credits.dones(), 0);
        assert!(credits.may_call());
        credits.done_completed();
        credits.call_sent();
        assert!(!credits.may_call(), "one completion too many frees nothing");
    }

    /// RPC-004, RPC-006: the grant follows what is asked for and what is posted, and is never 0.
    #[test]
    fn grants_are_what_was_asked_for_at_most() {
        let grants = Grants::new(32, 0);
        for (asked, grant) in [(0, 1), (1, 1), (31, 31), (32, 32), (33, 32), (u32::MAX, 32)] {
            assert_eq!(grants.grant(asked, false), Some(grant), "{asked}");
        }
        assert_eq!(Grants::new(32, 2).grant(128, false), Some(30));
        assert_eq!(Grants::new(2, 2).grant(128, false), Some(1));
        assert_eq!(Grants::new(0, 9).grant(128, false), Some(1));
    }

    /// RPC-042: DONEs that are pending lower the grant; the last receive holds a reply back.
    #[test]
    fn pending_dones_lower_the_grant_and_hold_the_last_reply_back() {
        let mut grants = Grants::new(3, 0);
        assert_eq!(grants.grant(9, true), Some(2));
        grants.done_awaited();
        assert_eq!(grants.grant(9, false), Some(2));
        assert_eq!(grants.grant(9, true), Some(1));
        grants.done_awaited();
        assert_eq!(grants.grant(9, true), None, "held back");
        assert_eq!(grants.pending(), 2);
        assert_eq!(
            grants.grant(9, false),
            Some(1),
            "without a read list it is not"
        );
        grants.done_received();
        assert_eq!(grants.grant(9, true), Some(1));
        grants.done_received();
        grants.done_received();
        assert_eq!((grants.pending(), grants.grant(9, false)), (0, Some(3)));
    }

    /// RPC-042: nothing is held back for a DONE that nobody awaits.
    #[test]
    fn a_reply_is_not_held_back_for_its_own_done() {
        assert_eq!(Grants::new(1, 0).grant(9, true), Some(1));
        assert_eq!(Grants::new(1, 1).grant(9, true), Some(1));
    }
}
