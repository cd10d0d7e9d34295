//! Writes the table of attacks in `docs/security.md`: a row for each attack that the test binary
//! `attacks` plays, from the same data. The words around it are written by hand.
use super::{between, read, workspace_root};
use rnic_abi::counters::Counter;
use rnic_abi::errors::StreamError;
use std::fmt::Write;

const BEGIN: &str = "<!-- attacks: begin (written by `make generate`) -->\n";
const END: &str = "<!-- attacks: end -->\n";
/// Names of the layers of an error record, by their numbers.
const LAYERS: [&str; 3] = ["RDMAP", "DDP", "MPA"];

/// What the device answers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The connection stops, with one error record; `refuse_` and the error's name counts it.
    Stops(StreamError),
    /// The connection goes on; this counter shows so many.
    Counts(Counter, u32),
    /// The connection ends without an error record; this counter shows so many.
    Ends(Counter, u32),
}

/// An attack that is played.
#[derive(Copy, Clone, Debug)]
pub struct Row<'a> {
    /// Its family: the file it stands in.
    pub family: &'a str,
    /// The test's name.
    pub test: &'a str,
    /// Ids of requirements or clauses, a colon, and what the peer does.
    pub text: &'a str,
    /// What the device answers.
    pub answer: Answer,
}

impl Row<'_> {
    /// Rule and action.
    fn parts(&self) -> Result<(&str, &str), String> {
        let parts = self.text.split_once(": ");
        parts.ok_or_else(|| format!("{}: no rule stands before a colon", self.test))
    }

    fn write(&self, out: &mut String) -> Result<(), String> {
        let (rule, action) = self.parts()?;
        let (record, counter) = match self.answer {
            Answer::Stops(error) => {
                let (layer, kind, code) = error.terminate();
                let layer = LAYERS[layer as usize];
                let record = format!("{layer}, type {kind}, code {code:#04x}");
                (record, error.counter().name().to_owned())
            }
            Answer::Counts(counter, count) => {
                ("none".to_owned(), format!("{} {count}", counter.name()))
            }
            Answer::Ends(counter, count) => {
                let record = "none; the connection ends".to_owned();
                (record, format!("{} {count}", counter.name()))
            }
        };
        let test = self.test;
        let _ = writeln!(
            out,
            "| {action} | {rule} | {record} | `{counter}` | `{test}` |"
        );
        Ok(())
    }
}

/// The document with its table made anew.
///
/// # Errors
/// If the document cannot be read or does not say where its table stands, or if a row's text has no
/// rule.
pub fn text(rows: &[Row]) -> Result<String, String> {
    let document = read(&workspace_root().join("docs/security.md"))?;
    splice(&document, &tables(rows)?)
}

fn tables(rows: &[Row]) -> Result<String, String> {
    let mut out = String::new();
    for rows in rows.chunk_by(|a, b| a.family == b.family) {
        let family = rows[0].family;
        let _ = write!(out, "\n### `{family}`: {} attacks\n\n", rows.len());
        out.push_str(
            "| the peer | rule | error record | counter | test |\n|---|---|---|---|---|\n",
        );
        rows.iter().try_for_each(|row| row.write(&mut out))?;
    }
    out.push('\n');
    Ok(out)
}

/// `document` with `table` between the two marks.
fn splice(document: &str, table: &str) -> Result<String, String> {
    let text = between(document, (BEGIN, END), table);
    text.ok_or_else(|| "docs/security.md: the marks of its table are gone".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_a_table_for_each_family_between_the_marks() {
        let row = |family, test, answer| Row {
            family,
            test,
            text: "DDP-042: an STag",
            answer,
        };
        let rows = [
            row("tags", "unknown", Answer::Stops(StreamError::DdpStag)),
            row("tcp", "again", Answer::Counts(Counter::DropTcpDuplicate, 3)),
        ];
        let document = format!("# Head\n{BEGIN}old\n{END}tail\n");
        let table = tables(&rows).expect("rules stand in the texts");
        let text = splice(&document, &table).expect("the marks are there");
        assert!(text.starts_with("# Head\n") && text.ends_with("tail\n") && !text.contains("old"));
        for line in [
            "### `tags`: 1 attacks",
            "| an STag | DDP-042 | DDP, type 1, code 0x00 | `refuse_ddp_stag` | `unknown` |",
            "| an STag | DDP-042 | none | `drop_tcp_duplicate 3` | `again` |",
        ] {
            assert!(
                text.lines().any(|written| written == line),
                "{line}\n{text}"
            );
        }
    }

    #[test]
    fn lost_marks_and_rules_are_reported() {
        assert!(splice("# Head\n", "").is_err());
        let row = Row {
            family: "tags",
            test: "unknown",
            text: "an unknown STag",
            answer: Answer::Stops(StreamError::DdpStag),
        };
        assert!(tables(&[row]).is_err());
    }
}
