//! Writes `docs/conformance.md`: for each protocol requirement the tests that cite it, or the
//! reason why it is not implemented.
//!
//! A requirement with both is implemented in part, and the page says so. One with neither is an
//! error, as is a cited id that does not exist. A requirement that binds both ends has a second
//! verdict, on its sending half: tests of senders, and no reason instead of them.
use super::citations::{citing_tests, ids};
use super::requirements::{reasons, requirements, Reason, Requirement};
use super::{read, relative, rust_files};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Id to the tests that cite it: name and file.
type Proofs = BTreeMap<String, BTreeSet<(String, String)>>;

const HEAD: &str = "\
<!-- Generated from docs/requirements.csv, docs/not-implemented.toml and the tests by \
`make generate`. -->

# Conformance

Each protocol requirement with the tests that cite its id in their name or in the comment above
them. *Not implemented* and *in part* come with the reason. Of a requirement that binds both ends
the tables of the families have the receiving half; the sending half has a verdict of its own, in
[the sending half](#the-sending-half). The protocol crates decide what is sent, and frame it; the
driver's endpoint puts them on the device. The full rows, with how each is to be verified, stand in
[requirements.csv](requirements.csv).
";

const SENDING_HEAD: &str = "
## The sending half

The requirements that bind both ends, with the tests of senders that cite them: `protocol/iwarp`
makes the octets, and captures of Linux, the model and `protocol/wire` say whether they are right.
Two devices of one test exchange them (`sim/device/tests/live`).
";

/// Folders whose tests are of senders.
const SENDERS: [&str; 3] = [
    "protocol/iwarp/",
    "protocol/tcp/",
    "testbench/model/tests/iwarp_sender/",
];

/// The document.
///
/// # Errors
/// Files that cannot be read; ids that do not exist; requirements with neither a test nor a reason,
/// or with two reasons.
pub fn text() -> Result<String, String> {
    let (rows, reasons) = (requirements()?, reasons()?);
    let (proofs, sending) = proofs(&rows)?;
    verify_reasons(&rows, &reasons)?;
    verify_sending(&rows, &sending)?;
    let is_open = |row: &&Requirement| {
        !proofs.contains_key(&row.id) && reason_of(&reasons, &row.id).is_none()
    };
    let open: Vec<&str> = rows
        .iter()
        .filter(is_open)
        .map(|row| row.id.as_str())
        .collect();
    if !open.is_empty() {
        return Err(format!(
            "no test cites {}; cite each in the comment above the test that proves it, or give the \
             reason in docs/not-implemented.toml",
            open.join(" ")
        ));
    }
    let mut out = write(&rows, &reasons, &proofs);
    write_sending(&mut out, &rows, &sending);
    Ok(out)
}

fn reason_of<'a>(reasons: &'a [Reason], id: &str) -> Option<&'a Reason> {
    reasons.iter().find(|reason| reason.covers(id))
}

/// What the tests cite, and what those of senders cite of requirements that bind both ends; an id
/// that is no requirement's is an error, in a test or elsewhere.
fn proofs(rows: &[Requirement]) -> Result<(Proofs, Proofs), String> {
    let (mut proofs, mut sending) = (Proofs::new(), Proofs::new());
    for path in rust_files()? {
        // This folder's own tests are about made-up citations.
        if path.ends_with("docs/citations.rs") || path.ends_with("docs/requirements.rs") {
            continue;
        }
        let (text, file) = (read(&path)?, relative(&path));
        let unknown = |id: &String| !rows.iter().any(|row| row.id == *id);
        if let Some(id) = ids(&text).into_iter().find(unknown) {
            return Err(format!(
                "{file}: {id} is no row of docs/requirements.csv; correct the id"
            ));
        }
        let is_sender = SENDERS.iter().any(|folder| file.starts_with(folder));
        for test in citing_tests(&text) {
            for id in test.ids {
                let place = (test.name.clone(), file.clone());
                let row = rows.iter().find(|row| row.id == id);
                let row = row.filter(|row| is_sender && row.binds_both_ends());
                if row.is_some() {
                    sending.entry(id.clone()).or_default().insert(place.clone());
                }
                // Start-up of a sender, and of what receives, is the same.
                if row.is_none_or(Requirement::binds_others) {
                    proofs.entry(id).or_default().insert(place);
                }
            }
        }
    }
    Ok((proofs, sending))
}

/// A test of a sender cites every requirement that binds both ends: all of them, or it is an error.
fn verify_sending(rows: &[Requirement], sending: &Proofs) -> Result<(), String> {
    let is_open = |row: &&Requirement| row.binds_both_ends() && !sending.contains_key(&row.id);
    let open = rows.iter().filter(is_open).map(|row| row.id.as_str());
    let open: Vec<&str> = open.collect();
    match open.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "no test of a sender cites {}, which bind both ends; cite each in the comment above a \
             test in {}",
            open.join(" "),
            SENDERS.join(" or ")
        )),
    }
}

/// Every id of the table exists, and no requirement has two reasons.
fn verify_reasons(rows: &[Requirement], reasons: &[Reason]) -> Result<(), String> {
    for reason in reasons {
        for id in [&reason.first, &reason.last] {
            if !rows.iter().any(|row| row.id == *id) {
                return Err(format!(
                    "docs/not-implemented.toml: {id} is no row of docs/requirements.csv"
                ));
            }
        }
    }
    for row in rows {
        if reasons
            .iter()
            .filter(|reason| reason.covers(&row.id))
            .count()
            > 1
        {
            let id = &row.id;
            return Err(format!(
                "docs/not-implemented.toml: {id} has more than one reason"
            ));
        }
    }
    Ok(())
}

fn write(rows: &[Requirement], reasons: &[Reason], proofs: &Proofs) -> String {
    let mut out = HEAD.to_owned();
    let family = |row: &Requirement| row.id.split('-').next().unwrap_or_default().to_owned();
    out.push_str("\n| | rows | proved | in part | not implemented |\n|---|---|---|---|---|\n");
    for rows in rows.chunk_by(|a, b| family(a) == family(b)) {
        write_count(&mut out, &family(&rows[0]), rows, reasons, proofs);
    }
    write_count(&mut out, "all", rows, reasons, proofs);
    for rows in rows.chunk_by(|a, b| family(a) == family(b)) {
        let _ = write!(out, "\n## {}\n\n", family(&rows[0]));
        out.push_str("| id | level | requirement | proof, or why not |\n|---|---|---|---|\n");
        for row in rows {
            let proof = proof(reason_of(reasons, &row.id), proofs.get(&row.id));
            let text = row.text.replace('|', "\\|");
            let _ = writeln!(out, "| {} | {} | {text} | {proof} |", row.id, row.level);
        }
    }
    out
}

fn write_sending(out: &mut String, rows: &[Requirement], sending: &Proofs) {
    out.push_str(SENDING_HEAD);
    let two_ended = rows.iter().filter(|row| row.binds_both_ends());
    let _ = writeln!(out, "\nAll {} are proved.", two_ended.clone().count());
    out.push_str("\n| id | level | proof |\n|---|---|---|\n");
    for row in two_ended {
        let proof = proof(None, sending.get(&row.id));
        let _ = writeln!(out, "| {} | {} | {proof} |", row.id, row.level);
    }
}

fn write_count(
    out: &mut String,
    name: &str,
    rows: &[Requirement],
    reasons: &[Reason],
    proofs: &Proofs,
) {
    let count = |tests: bool, reason: bool| {
        let is = |row: &&Requirement| {
            proofs.contains_key(&row.id) == tests && reason_of(reasons, &row.id).is_some() == reason
        };
        rows.iter().filter(is).count()
    };
    let (proved, part, not) = (count(true, false), count(true, true), count(false, true));
    let _ = writeln!(
        out,
        "| {name} | {} | {proved} | {part} | {not} |",
        rows.len()
    );
}

fn proof(reason: Option<&Reason>, tests: Option<&BTreeSet<(String, String)>>) -> String {
    let tests = tests.into_iter().flatten();
    let links = tests.map(|(name, file)| format!("[`{name}`](../{file})"));
    let links = links.collect::<Vec<_>>().join(", ");
    match (links.is_empty(), reason) {
        (false, None) => links,
        (false, Some(reason)) => format!("{links}; *in part*: {}", reason.text),
        (true, Some(reason)) => format!("*not implemented*: {}", reason.text),
        (true, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, side: &str) -> Requirement {
        Requirement {
            id: id.to_owned(),
            source: String::new(),
            level: "MUST".to_owned(),
            side: side.to_owned(),
            text: String::new(),
        }
    }

    #[test]
    fn a_row_of_both_ends_needs_a_test_of_a_sender() {
        let rows = [
            row("MPA-001", "hw-rx+tx"),
            row("MPA-002", "hw-rx"),
            row("MPA-003", "tx"),
            row("MPA-004", "hw-rx+driver+tx"),
        ];
        let place = ("a_test".to_owned(), "protocol/iwarp/a.rs".to_owned());
        let mut sending = Proofs::from([("MPA-001".to_owned(), BTreeSet::from([place]))]);
        let problem = verify_sending(&rows, &sending).expect_err("MPA-004 has none");
        assert!(problem.starts_with("no test of a sender cites MPA-004,"));
        sending.insert("MPA-004".to_owned(), sending["MPA-001"].clone());
        assert_eq!(verify_sending(&rows, &sending), Ok(()));
        let mut out = String::new();
        write_sending(&mut out, &rows, &sending);
        let line = "| MPA-001 | MUST | [`a_test`](../protocol/iwarp/a.rs) |\n";
        assert!(out.contains(line) && !out.contains("MPA-002"));
        assert!(out.contains("All 2 are proved."));
        assert_eq!(
            rows.map(|row| row.binds_others()),
            [false, false, false, true]
        );
    }
}
