//! What became of the mutants: a row for each, sums, and JSON.

use super::campaign::{Catch, Outcome};
use super::checks::Stage;
use super::table::Room;
use serde::Serialize;

/// Everything, as JSON.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    tool: &'static str,
    version: &'static str,
    seed: u64,
    wall_s: f64,
    mutants: Vec<Row<'a>>,
    caught_by: Vec<Sum>,
    caught: usize,
    caught_by_system_tests: usize,
    equivalent: usize,
    survived: usize,
    caught_but_argued: usize,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    number: u16,
    name: &'a str,
    room: Room,
    module: &'a str,
    caught_by: Option<&'a Catch>,
    equivalent: Option<&'a str>,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Sum {
    stage: Stage,
    mutants: usize,
}

/// A row for a person.
pub fn row(outcome: &Outcome) -> String {
    let mutant = &outcome.mutant;
    let verdict = match (&outcome.catch, &mutant.equivalent) {
        (Some(catch), None) => catch.stage.name(),
        (Some(catch), Some(_)) => format!("{}, BUT ARGUED", catch.stage.name()),
        (None, Some(_)) => "equivalent".into(),
        (None, None) => "SURVIVED".into(),
    };
    let (number, name, room) = (mutant.number, &mutant.name, mutant.room.name());
    let seconds = outcome.seconds;
    format!("{number:>4}  {room:<10}  {verdict:<12}  {seconds:>6.1} s  {name}")
}

impl<'a> Report<'a> {
    /// Sum up.
    pub fn new(outcomes: &'a [Outcome], seed: u64, wall_s: f64) -> Self {
        let count =
            |wanted: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|o| wanted(o)).count();
        let stage = |outcome: &Outcome| outcome.catch.as_ref().map(|catch| catch.stage);
        let argued = |outcome: &Outcome| outcome.mutant.equivalent.is_some();
        let rows = outcomes.iter().map(|outcome| Row {
            number: outcome.mutant.number,
            name: &outcome.mutant.name,
            room: outcome.mutant.room,
            module: &outcome.mutant.module,
            caught_by: outcome.catch.as_ref(),
            equivalent: outcome.mutant.equivalent.as_deref(),
            seconds: outcome.seconds,
        });
        let sums = Stage::ALL.map(|each| Sum {
            stage: each,
            mutants: count(&|outcome| stage(outcome) == Some(each)),
        });
        Self {
            tool: "rnic",
            version: env!("CARGO_PKG_VERSION"),
            seed,
            wall_s,
            mutants: rows.collect(),
            caught_by: sums.into(),
            caught: count(&|outcome| outcome.catch.is_some()),
            caught_by_system_tests: count(&|outcome| {
                stage(outcome).is_some_and(Stage::is_of_the_system)
            }),
            equivalent: count(&|outcome| argued(outcome) && outcome.catch.is_none()),
            survived: count(&|outcome| !argued(outcome) && outcome.catch.is_none()),
            caught_but_argued: count(&|outcome| argued(outcome) && outcome.catch.is_some()),
        }
    }

    /// The sums for a person; the last line says whether all is well.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for Sum { stage, mutants } in &self.caught_by {
            text.push_str(&format!("caught by {:<9} {mutants:>4}\n", stage.name()));
        }
        for room in Room::ALL {
            let mutants = self.mutants.iter().filter(|row| row.room == room).count();
            text.push_str(&format!("room {:<14} {mutants:>4}\n", room.name()));
        }
        let share = 100 * self.caught_by_system_tests / self.mutants.len().max(1);
        text.push_str(&format!(
            "{} mutants: {} caught, {} of them by system tests ({share} %), {} argued as \
             equivalent, {} survived, {} argued but caught; {:.0} s\n",
            self.mutants.len(),
            self.caught,
            self.caught_by_system_tests,
            self.equivalent,
            self.survived,
            self.caught_but_argued,
            self.wall_s,
        ));
        text
    }
}
