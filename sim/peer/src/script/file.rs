//! Files of cases. What is wrong is said with its line and its case.

use super::case::{Case, Written};
use serde::Deserialize;
use std::collections::BTreeSet;
use thiserror::Error;
use toml::Spanned;

/// What is wrong with a file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{file}:{line}: {}{problem}", of_case(.case))]
pub struct FileError {
    /// The file, as it was named.
    pub file: String,
    /// From 1 on.
    pub line: usize,
    /// The case that the line is in, if it has a name.
    pub case: Option<String>,
    /// What it is.
    pub problem: String,
}

fn of_case(case: &Option<String>) -> String {
    case.as_ref()
        .map_or(String::new(), |name| format!("case {name}: "))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    group: String,
    #[serde(default)]
    case: Vec<Spanned<Written>>,
}

/// The line of an octet of `text`.
fn line(text: &str, at: usize) -> usize {
    let before = text.as_bytes().iter().take(at);
    1 + before.filter(|&&octet| octet == b'\n').count()
}

/// The name of the case that an octet of `text` is in.
fn case_at(text: &str, at: usize) -> Option<String> {
    let begin = text.get(..at)?.rfind("[[case]]")?;
    let rest = &text[begin..];
    let case = rest["[[case]]".len()..].split("[[case]]").next()?;
    let line = case
        .lines()
        .find(|line| line.trim_start().starts_with("name"))?;
    let (_, value) = line.split_once('=')?;
    let name = value.trim().trim_matches('"');
    (!name.is_empty()).then(|| name.to_owned())
}

/// The cases of a file.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn parse(file: &str, text: &str) -> Result<Vec<Case>, FileError> {
    let wrong = |at: usize, problem: String| FileError {
        file: file.into(),
        line: line(text, at),
        case: case_at(text, at),
        problem,
    };
    let cases: Cases = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        // The span of a case begins at its bracket; what is wrong in it comes later.
        wrong(
            span.start + "[[case]]".len().min(span.len()),
            error.message().to_owned(),
        )
    })?;
    if cases.group.is_empty() || cases.case.is_empty() {
        return Err(wrong(
            0,
            "it has a group with a name, and one case at least".into(),
        ));
    }
    let mut names = BTreeSet::new();
    let mut checked = Vec::new();
    for case in cases.case {
        let at = case.span().start + "[[case]]".len();
        let case = case.into_inner().check(&cases.group);
        let case = case.map_err(|problem| wrong(at, problem))?;
        if !names.insert(case.name.clone()) {
            return Err(wrong(at, "another case has this name".into()));
        }
        checked.push(case);
    }
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
group = "own"

[[case]]
name = "first"
what = "nothing bad"
clause = "RFC 5044, 7.1"
steps = [{ start = {} }, { ping = {} }]
expect = ["goes on"]

[[case]]
name = "second"
what = "a Send too many"
clause = "RFC 5041, 7.1"
before = [{ start = { revision = 1 } }]
steps = [{ send = { record = "source", msn_off = 7 } }]
expect = ["terminate 1 2 0x02 ddp", "closed"]
cannot_tell = ["silent: the target may be slow"]
"#;

    #[test]
    fn a_good_file_is_read() {
        let cases = parse("own.toml", GOOD).expect("it is good");
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["first", "second"]);
        assert_eq!(cases[1].expect.len(), 2);
        assert_eq!(cases[1].cannot_tell[0].1, "the target may be slow");
        assert_eq!(cases[1].group, "own");
    }

    /// What replaces what, and the line, the case and a word of what is said.
    #[test]
    fn what_is_wrong_is_said_with_line_and_case() {
        for (from, to, line, case, word) in [
            ("group = \"own\"", "", 1, None, "group"),
            ("\"second\"", "\"first\"", 11, Some("first"), "another case"),
            (
                "\"second\"",
                "\"Second\"",
                11,
                Some("Second"),
                "small letters",
            ),
            ("msn_off = 7", "msn_of = 7", 16, Some("second"), "msn_of"),
            ("send =", "sent =", 16, Some("second"), "sent"),
            ("msn_off = 7", "opcode = 16", 11, Some("second"), "opcode"),
            ("msn_off = 7", "flip = [3, 0]", 11, Some("second"), "flip"),
            ("msn_off = 7", "to = \"xyz\"", 11, Some("second"), "hex"),
            (
                "msn_off = 7",
                "octets = 70000",
                11,
                Some("second"),
                "octets",
            ),
            ("0x02 ddp", "0x02 dpp", 11, Some("second"), "no outcome"),
            ("silent: ", "silent, ", 11, Some("second"), "colon"),
            (
                "clause = \"RFC 5041, 7.1\"",
                "clause = \"\"",
                11,
                Some("second"),
                "clause",
            ),
            (
                "clause = \"RFC 5041, 7.1\"",
                "",
                11,
                Some("second"),
                "clause",
            ),
            (
                "[{ send",
                "[{ reply = {} }, { send",
                11,
                Some("second"),
                "role",
            ),
            (
                "[{ send",
                "[{ request = { flags = \"X\" } }, { send",
                11,
                Some("second"),
                "MCRS",
            ),
            ("revision = 1", "revision = ", 15, Some("second"), ""),
            ("[\"goes on\"]", "[]", 4, Some("first"), "one entry"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from}");
            let error = parse("own.toml", &text).expect_err(to);
            assert_eq!(
                (error.line, error.case.as_deref()),
                (line, case),
                "{to}: {error}"
            );
            assert!(error.problem.contains(word), "{to}: {error}");
        }
        let error = parse("own.toml", "group = \"own\"\n").expect_err("no case");
        assert_eq!(
            error.to_string(),
            "own.toml:1: it has a group with a name, and one case at least"
        );
    }
}
