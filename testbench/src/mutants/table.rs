//! The table of mutants, `testbench/mutants.toml`.
//!
//! ```toml
//! [[mutant]]
//! name = "way {way} of the lookup leaves piece {piece} of the key out"
//! room = "tcp"
//! module = "rnic$tcp$lookup$ways${way}"
//! from = "..."            # stands in that module once
//! to = "..."              # what stands there instead
//! with.way = [0, 1, 2]    # one mutant for each value; `{way}` is put in wherever it stands
//! attack = "..."          # optional: the attack that is tried first
//! equivalent = "reason"   # optional: why no check can distinguish it
//! ```
//!
//! Numbers are given in the order of the file, from 1 on. `from` is one whole operand of an
//! expression, a condition with its `if`, or whole statements, which a `;` shows.

use super::MutantError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Where a change belongs: the rooms of ARCHITECTURE.md.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Room {
    Ethernet,
    Ip,
    Tcp,
    Packet,
    Mpa,
    Ddp,
    Stag,
    Placement,
    Completion,
    Pcie,
    Csr,
    Events,
    Reads,
    Transmit,
    Interrupts,
}

impl Room {
    /// Every room, in the order of the pipeline.
    pub const ALL: [Self; 15] = [
        Self::Ethernet,
        Self::Ip,
        Self::Tcp,
        Self::Packet,
        Self::Mpa,
        Self::Ddp,
        Self::Stag,
        Self::Placement,
        Self::Completion,
        Self::Pcie,
        Self::Csr,
        Self::Events,
        Self::Reads,
        Self::Transmit,
        Self::Interrupts,
    ];

    /// Its name, as in the file.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// Is it there for frames that the device sends, so that they are the first to tell?
    pub fn serves_transmission(self) -> bool {
        matches!(self, Self::Reads | Self::Transmit | Self::Interrupts)
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// From 1 on, in the order of the file.
    pub number: u16,
    /// What is wrong in it, as a sentence.
    pub name: String,
    /// Its room.
    pub room: Room,
    /// Emitted module that it changes.
    pub module: String,
    /// Text that stands there once.
    pub from: String,
    /// What stands there instead.
    pub to: String,
    /// Attack that is tried first.
    pub attack: Option<String>,
    /// Why it is no change that can be seen.
    pub equivalent: Option<String>,
}

impl Mutant {
    /// An error about this row.
    pub(crate) fn fault(&self, reason: String) -> MutantError {
        MutantError::Row {
            number: self.number,
            name: self.name.clone(),
            reason,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    mutant: Vec<Row>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    room: Room,
    module: String,
    from: String,
    to: String,
    attack: Option<String>,
    equivalent: Option<String>,
    #[serde(default)]
    with: BTreeMap<String, Vec<u32>>,
}

impl Row {
    /// The row for each value of what it is written `with`.
    fn each(self) -> Vec<Self> {
        let Some((name, values)) = self.with.iter().next() else {
            return vec![self];
        };
        let (mark, mut rest) = (format!("{{{name}}}"), self.with.clone());
        rest.remove(name);
        let one = |value: &u32| {
            let put = |text: &str| text.replace(&mark, &value.to_string());
            let row = Self {
                name: put(&self.name),
                room: self.room,
                module: put(&self.module),
                from: put(&self.from),
                to: put(&self.to),
                attack: self.attack.as_deref().map(put),
                equivalent: self.equivalent.clone(),
                with: rest.clone(),
            };
            row.each()
        };
        values.iter().flat_map(one).collect()
    }
}

/// The project's own table.
pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("mutants.toml")
}

/// Read the project's own table.
pub fn read() -> Result<Vec<Mutant>, MutantError> {
    let path = path();
    let failed = |reason: String| MutantError::Table {
        path: path.clone(),
        reason,
    };
    let text = fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
    parse(&text).map_err(failed)
}

/// The mutants of a table's text; an error is a sentence.
pub fn parse(text: &str) -> Result<Vec<Mutant>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let rows: Vec<Row> = file.mutant.into_iter().flat_map(Row::each).collect();
    let numbered = rows.into_iter().zip(1..);
    let mutants: Vec<Mutant> = numbered
        .map(|(row, number)| Mutant {
            number,
            name: row.name,
            room: row.room,
            module: row.module,
            from: row.from,
            to: row.to,
            attack: row.attack,
            equivalent: row.equivalent,
        })
        .collect();
    for (at, mutant) in mutants.iter().enumerate() {
        if mutant.from == mutant.to {
            return Err(format!("\"{}\" changes nothing", mutant.name));
        }
        if mutants[..at].iter().any(|other| other.name == mutant.name) {
            return Err(format!("\"{}\" is the name of two mutants", mutant.name));
        }
    }
    Ok(mutants)
}

/// Those of `mutants` that `only` picks: by number, from one number to another (`A..B`, both of
/// them included), or by a part of the name.
pub fn pick(mutants: Vec<Mutant>, only: Option<&str>) -> Result<Vec<Mutant>, MutantError> {
    let Some(only) = only else {
        return Ok(mutants);
    };
    let (first, last) = only.split_once("..").unwrap_or((only, only));
    let numbers: Option<RangeInclusive<u16>> = first
        .parse()
        .ok()
        .zip(last.parse().ok())
        .map(|(first, last)| first..=last);
    let wanted = |mutant: &Mutant| match &numbers {
        Some(numbers) => numbers.contains(&mutant.number),
        None => mutant.name.contains(only),
    };
    let picked: Vec<Mutant> = mutants.into_iter().filter(wanted).collect();
    match picked.is_empty() {
        true => Err(MutantError::Unknown(only.into())),
        false => Ok(picked),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_WAYS: &str = r#"
        [[mutant]]
        name = "way {way}, piece {piece}"
        room = "tcp"
        module = "m${way}"
        from = "a[{piece}]"
        to = "1'b1"
        with.way = [0, 1]
        with.piece = [3, 4]
        [[mutant]]
        name = "last"
        room = "csr"
        module = "m"
        from = "{way}"
        to = ""
    "#;

    #[test]
    fn a_row_with_values_is_a_mutant_for_each() {
        let mutants = parse(TWO_WAYS).expect("a table");
        let names: Vec<&str> = mutants.iter().map(|mutant| &mutant.name[..]).collect();
        let pieces = ["way 0, piece 3", "way 1, piece 3"];
        assert_eq!(&names[..2], pieces);
        assert_eq!(mutants[3].module, "m$1");
        assert_eq!(mutants[3].from, "a[4]");
        // Marks that the row does not set are Verilog.
        assert_eq!((mutants[4].number, &mutants[4].from[..]), (5, "{way}"));
    }

    #[test]
    fn only_picks_by_numbers_or_by_a_part_of_the_name() {
        let mutants = || parse(TWO_WAYS).expect("a table");
        let picked = |only| pick(mutants(), Some(only)).map(|picked| picked.len());
        assert!(matches!(picked("2"), Ok(1)));
        assert!(matches!(picked("2..4"), Ok(3)));
        assert!(matches!(picked("piece 4"), Ok(2)));
        assert!(matches!(picked("6"), Err(MutantError::Unknown(_))));
    }

    #[test]
    fn a_row_that_changes_nothing_is_refused_by_name() {
        let text = TWO_WAYS.replace("to = \"\"", "to = \"{way}\"");
        assert!(parse(&text).is_err_and(|error| error.contains("last")));
    }
}
