//! Runs on several cores, reported in the order of their numbers.
//!
//! ```text
//! run numbers --> [ job 0 ] --\
//!             \-> [ job 1 ] ---+--> in order --> totals, failures
//! ```
//!
//! Enters: a range of run numbers. Leaves: the same totals and failures as one job would give,
//! whatever the number of jobs; only the seconds differ.

use super::campaign::{Campaign, Failure, FuzzError};
use super::totals::Totals;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

impl Campaign {
    /// Do `runs`, up to `jobs` at once. `report` gets the totals so far and the run's failure; a
    /// `Break` makes that run the last one: runs under way after it end, and count for nothing.
    ///
    /// # Errors
    /// The first run, in their order, that could not be done.
    pub fn runs(
        &mut self,
        runs: Range<u64>,
        jobs: usize,
        mut report: impl FnMut(&Totals, Option<Failure>) -> ControlFlow<()>,
    ) -> Result<(), FuzzError> {
        let started = Instant::now();
        let mut totals = std::mem::take(&mut self.totals);
        let seconds_before = totals.wall_s;
        let next = AtomicU64::new(runs.start);
        let (campaign, next) = (&*self, &next);
        let ended = thread::scope(|scope| {
            let (results, arrived) = mpsc::channel();
            for _ in 0..jobs.max(1) {
                let results = results.clone();
                scope.spawn(move || loop {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    if run >= runs.end || results.send((run, campaign.one(run))).is_err() {
                        break;
                    }
                });
            }
            drop(results);
            let (mut due, mut waiting) = (runs.start, BTreeMap::new());
            for (run, result) in arrived {
                waiting.insert(run, result);
                while let Some(result) = waiting.remove(&due) {
                    let (done, failure) = result?;
                    due += 1;
                    totals.add(&done);
                    totals.wall_s = seconds_before + started.elapsed().as_secs_f64();
                    if report(&totals, failure).is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        });
        self.totals = totals;
        ended
    }
}
