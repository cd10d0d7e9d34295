//! Every history of the model within bounds, each state once.
use crate::model::{Bounds, Model, Step};
use crate::tamper::Break;
use std::collections::HashSet;

/// What was found, and the steps to it.
#[derive(Debug)]
pub struct Finding {
    pub what: &'static str,
    pub steps: Vec<Step>,
}

#[derive(Debug, Default)]
pub struct Report {
    pub states: usize,
    pub steps: u64,
    /// States in which everything is over.
    pub ends: u64,
    pub is_whole: bool,
    pub finding: Option<Finding>,
}

impl Report {
    /// What all sets of bounds together say; an error if that is not that every state is right.
    ///
    /// # Errors
    /// Something was found, or a set was not searched to its end.
    pub fn verdict(all: &[Self]) -> Result<&'static str, String> {
        if all.iter().any(|report| report.finding.is_some()) {
            return Err("an error was found".to_owned());
        }
        match all.iter().filter(|report| !report.is_whole).count() {
            0 => Ok("0 deadlocks, 0 Sends above the grant, 0 results under a valid STag"),
            left => Err(format!(
                "{left} of {} sets have more states than the limit: nothing is known of the others",
                all.len()
            )),
        }
    }
}

/// A state on the way, with the steps from it that are left.
struct Node {
    model: Model,
    steps: Vec<Step>,
    taken: Option<Step>,
}

pub fn explore(bounds: Bounds, states_max: usize, broken: Option<Break>) -> Report {
    let mut report = Report {
        is_whole: true,
        ..Report::default()
    };
    let mut seen = HashSet::new();
    let model = Model::new(bounds, broken);
    let mut steps = Vec::new();
    model.steps(&mut steps);
    seen.insert(model.fingerprint());
    let mut path = vec![Node {
        model,
        steps,
        taken: None,
    }];
    while let Some(node) = path.last_mut() {
        let Some(step) = node.steps.pop() else {
            path.pop();
            continue;
        };
        let mut model = node.model.clone();
        model.take(step);
        report.steps += 1;
        let mut wrong = model.wrong();
        let is_new = seen.insert(model.fingerprint());
        let mut steps = Vec::new();
        if is_new && wrong.is_none() {
            model.steps(&mut steps);
            if steps.is_empty() {
                report.ends += 1;
                wrong = model.wrong_end();
            }
        }
        if let Some(what) = wrong {
            let mut taken: Vec<Step> = path.iter().filter_map(|node| node.taken).collect();
            taken.push(step);
            report.finding = Some(Finding { what, steps: taken });
            break;
        }
        if is_new {
            path.push(Node {
                model,
                steps,
                taken: Some(step),
            });
        }
        if seen.len() >= states_max {
            report.is_whole = false;
            break;
        }
    }
    report.states = seen.len();
    report
}
