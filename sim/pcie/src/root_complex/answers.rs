//! Answers that are not ready, and in which order they go on.
//!
//! ```text
//!   read --> its completions, ready at a tick --> one at a time, into the downstream queue
//!            .                                    in order: the oldest answer first
//!            .                                    reordered: any answer that is ready
//! ```
//!
//! The completions of one request stay in order (table 2-40, D5b): they are one answer. Those of
//! different requests need not. No two answers have one tag, as the monitor refuses a request whose
//! tag is in use.

use std::collections::VecDeque;

use super::fault::Outgoing;
use crate::choices::{Choice, Choices};
use crate::tlp::Tlp;

/// What decides on the order and time of answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Whether an answer may pass an older one.
    pub reordered: bool,
    /// The most ticks between two completions of one answer.
    pub spread_ticks: u64,
}

#[derive(Clone, Debug)]
struct Answer {
    ready: u64,
    // In order; never empty.
    completions: VecDeque<Outgoing>,
}

/// Answers under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    // By age.
    waiting: VecDeque<Answer>,
}

impl Answers {
    /// Adds the completions of one read, to go on from `ready` on.
    pub fn push(&mut self, ready: u64, completions: VecDeque<Outgoing>) {
        if !completions.is_empty() {
            self.waiting.push_back(Answer { ready, completions });
        }
    }

    /// Whether every answer has gone.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes every completion out, oldest answer first.
    pub fn drain(&mut self) -> impl Iterator<Item = Tlp> + '_ {
        let answers = self.waiting.drain(..);
        answers.flat_map(|answer| answer.completions.into_iter().map(|outgoing| outgoing.tlp))
    }

    /// The next completion that is ready at `now`.
    pub fn next(&mut self, now: u64, pace: Pace, choices: &mut dyn Choices) -> Option<Outgoing> {
        let place = match pace.reordered {
            false => 0,
            true => self.choose(now, choices)?,
        };
        let answer = self.waiting.get_mut(place)?;
        if answer.ready > now {
            return None;
        }
        let outgoing = answer.completions.pop_front()?;
        if answer.completions.is_empty() {
            self.waiting.remove(place);
        } else if pace.spread_ticks > 0 {
            let ticks = choices.below(Choice::Delay, pace.spread_ticks.saturating_add(1));
            answer.ready = now.saturating_add(ticks);
        }
        Some(outgoing)
    }

    fn choose(&self, now: u64, choices: &mut dyn Choices) -> Option<usize> {
        let ready: Vec<usize> = (0..self.waiting.len())
            .filter(|place| self.waiting[*place].ready <= now)
            .collect();
        if ready.is_empty() {
            return None;
        }
        let chosen = choices.below(Choice::Answer, ready.len() as u64) as usize;
        ready.get(chosen).copied()
    }
}
