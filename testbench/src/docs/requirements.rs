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
    /// What is required.
    pub text: String,
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
    let text = read(&workspace_root().join("docs/requirements.csv"))?;
    let rows = text.lines().enumerate().skip(1);
    rows.map(|(index, line)| {
        let fields = fields(line);
        let [id, source, section, level, _side, text, _verify] = fields.as_slice() else {
            let (line, count) = (index + 1, fields.len());
            return Err(format!(
                "docs/requirements.csv line {line}: {count} fields, 7 expected"
            ));
        };
        Ok(Requirement {
            id: id.clone(),
            source: format!("{source}, {section}"),
            level: level.clone(),
            text: text.clone(),
        })
    })
    .collect()
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

/// The fields of a CSV line (RFC 4180; no field of this file runs over a line's end).
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            // Two quotes inside quotes are one quote.
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                fields.last_mut().expect("never empty").push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => fields.last_mut().expect("never empty").push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_keep_commas_and_quotes() {
        assert_eq!(fields("a,\"b, \"\"c\"\"\",,d"), ["a", "b, \"c\"", "", "d"]);
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
