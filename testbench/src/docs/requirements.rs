//! The protocol requirements (`docs/requirements.csv`) and the reasons for those that are not
//! implemented, or only in part (`docs/not-implemented.toml`).
use super::{read, workspace_root};
use serde::Deserialize;

/// A row of the requirements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Its permanent name, such as `MPA-014`.
    pub id: String,
    /// Document and section.
    pub source: String,
    /// MUST, SHOULD, MAY or fact.
    pub level: String,
    /// Whom it binds, joined by `+`, such as `hw-rx+tx`.
    pub side: String,
    /// What is required.
    pub text: String,
}

impl Requirement {
    /// It binds what receives and what sends.
    pub fn binds_both_ends(&self) -> bool {
        let binds = |side| self.side.split('+').any(|part| part == side);
        binds("hw-rx") && binds("tx")
    }

    /// It binds more than these two ends: start-up, or the driver.
    pub fn binds_others(&self) -> bool {
        let ends = ["hw-rx", "tx"];
        self.side.split('+').any(|part| !ends.contains(&part))
    }
}

/// Why the requirements from `first` to `last` are not, or not wholly, implemented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// First id.
    pub first: String,
    /// Last id; the same one if it is only one.
    pub last: String,
    /// The reason, a sentence.
    pub text: String,
}

impl Reason {
    /// `id` is one of these requirements.
    pub fn covers(&self, id: &str) -> bool {
        // Ids of one family have the same length and end in three digits, so text order is theirs.
        id.len() == self.first.len() && (self.first.as_str()..=self.last.as_str()).contains(&id)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReasonFile {
    rows: Vec<ReasonRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReasonRow {
    ids: Vec<String>,
    reason: String,
}

/// The requirements in the order of the file.
///
/// # Errors
/// A file that is missing, or a line that is no row.
pub fn requirements() -> Result<Vec<Requirement>, String> {
    parse(&read(&workspace_root().join("docs/requirements.csv"))?)
}

/// The columns that are used of a row of the file.
#[derive(Deserialize)]
struct Row {
    id: String,
    source: String,
    section: String,
    level: String,
    side: String,
    requirement: String,
}

fn parse(text: &str) -> Result<Vec<Requirement>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().map(|row| {
        let row: Row = row.map_err(|error| format!("docs/requirements.csv: {error}"))?;
        Ok(Requirement {
            id: row.id,
            source: format!("{}, {}", row.source, row.section),
            level: row.level,
            side: row.side,
            text: row.requirement,
        })
    });
    rows.collect()
}

/// The reasons in the order of the file.
///
/// # Errors
/// A file that is missing or is not of its form.
pub fn reasons() -> Result<Vec<Reason>, String> {
    let text = read(&workspace_root().join("docs/not-implemented.toml"))?;
    let file: ReasonFile =
        toml::from_str(&text).map_err(|error| format!("docs/not-implemented.toml: {error}"))?;
    let rows = file.rows.into_iter().flat_map(|row| {
        let reason = row.reason;
        row.ids.into_iter().map(move |ids| {
            let (first, last) = ids.split_once("..").unwrap_or((&ids, &ids));
            Reason {
                first: first.to_owned(),
                last: last.to_owned(),
                text: reason.clone(),
            }
        })
    });
    Ok(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &str = "id,source,section,level,side,requirement,verify";

    #[test]
    fn a_field_may_hold_commas_and_quotes() {
        let text = format!("{COLUMNS}\nMPA-001,RFC 5044,4.1,MUST,sink,\"a, \"\"b\"\"\",test\n");
        let rows = parse(&text).expect("a row");
        assert_eq!(rows[0].text, "a, \"b\"");
        assert_eq!(rows[0].source, "RFC 5044, 4.1");
    }

    #[test]
    fn a_line_without_all_fields_is_named() {
        let text = format!("{COLUMNS}\nMPA-001,RFC 5044,4.1,MUST,sink,a,test\nMPA-002,RFC 5044\n");
        let error = parse(&text).expect_err("the second row is short");
        assert!(
            error.starts_with("docs/requirements.csv") && error.contains("line: 3"),
            "{error}"
        );
    }

    #[test]
    fn a_range_covers_its_ends_and_its_own_family_only() {
        let reason = Reason {
            first: "MPA-003".into(),
            last: "MPA-005".into(),
            text: String::new(),
        };
        let covered = |id| reason.covers(id);
        assert!(["MPA-003", "MPA-004", "MPA-005"].into_iter().all(covered));
        let others = ["MPA-002", "MPA-006", "MPA2-004", "DDP-004"];
        assert!(!others.into_iter().any(covered));
    }
}
