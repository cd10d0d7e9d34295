//! Reports and reads of events: each report as the model has it, and each read as the last report
//! before it left the context.
use super::model::{Context, Model, Report};
use crate::messages::{ConnectionReport, ReportedContext};
use rnic_hdl_tools::testkit::Random;
use std::collections::{BTreeMap, VecDeque};

/// Cycles from a read that is taken to its context.
const READ_CYCLES: usize = 2;

/// What has been reported to events, and a read at a time.
#[derive(Default)]
pub struct Reports {
    contexts: BTreeMap<u64, Context>,
    asked: Option<u64>,
    /// What is due in this cycle and in the next ones.
    due: VecDeque<Option<(u64, Option<Context>)>>,
    pub reads: usize,
}

impl Reports {
    /// After a reset nothing is known of contexts.
    pub fn forget(&mut self) {
        *self = Self {
            reads: self.reads,
            ..Self::default()
        };
    }

    /// A report of this cycle.
    pub fn report(&mut self, model: &mut Model, report: Option<ConnectionReport>) {
        let Some(report) = report else { return };
        let expected = model.reports.pop_front().expect("a report is due");
        assert_eq!(Report::from(report), expected.0);
        self.contexts.insert(expected.0.connection, expected.1);
    }

    /// A context of this cycle.
    pub fn context(&mut self, context: Option<ReportedContext>) {
        let due = match self.due.len() >= READ_CYCLES {
            true => self.due.pop_front().flatten(),
            false => None,
        };
        assert_eq!(due.is_some(), context.is_some(), "contexts when asked for");
        let (Some((connection, Some(expected))), Some(context)) = (due, context) else {
            return;
        };
        let found = Context::from(context);
        let but_for_ranges = (found.without_ranges(), expected.without_ranges());
        assert_eq!(but_for_ranges.0, but_for_ranges.1, "{connection}");
        let is_released = found.ranges() == 0;
        assert!(is_released || found == expected, "{connection}");
        self.reads += 1;
    }

    /// The connection to ask for in this cycle.
    pub fn ask(&mut self, model: &Model, random: &mut Random) -> Option<u64> {
        if self.asked.is_none() && !model.streams.is_empty() && random.chance(1, 6) {
            let index = random.below(model.streams.len() as u64) as usize;
            self.asked = Some(model.streams[index].connection);
        }
        self.asked
    }

    /// Whether what is asked for in this cycle is taken.
    pub fn taken(&mut self, taken: bool) {
        let asked = match taken {
            true => self.asked.take(),
            false => None,
        };
        let entry = asked.map(|asked| (asked, self.contexts.get(&asked).copied()));
        self.due.push_back(entry);
    }
}
