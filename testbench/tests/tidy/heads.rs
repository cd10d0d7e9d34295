//! Rules for what comments draw: the rows of a table are aligned, and a picture at the head of a
//! block names what is there.
//!
//! A name of a picture (a `text` fence of a comment) is a word with `_` between letters, or in
//! CamelCase. It must be in the code of the folder that holds the file: as a whole word, or as the
//! front of one, up to a `_`, for the ports of one stream; with a `*` after it any front will do.
//! Words without `_` or capitals are English as far as a rule can know.
use super::File;
use rnic_testbench::docs::{read, relative, rust_files, workspace_root};
use std::collections::{BTreeMap, BTreeSet};

/// Names in pictures that no code has: terms of standards and of arithmetic.
const PICTURE_TERMS: [&str; 2] = ["ULPDU_Length", "R_k"];

/// What a line holds after `//`, `///` or `//!`, if it is a comment and nothing else.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    let text = text.strip_prefix(['/', '!']).unwrap_or(text);
    Some(text.strip_prefix(' ').unwrap_or(text))
}

/// The lines of comments with their numbers, each with whether it is drawn, in a fence of `text`.
/// Other fences are left out, and so are the fences themselves.
fn drawn_lines<'a>(text: &'a str) -> Vec<(usize, &'a str, bool)> {
    let mut fence: Option<&'a str> = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(line) = comment(line) else {
            fence = None;
            continue;
        };
        match (line.trim_start().strip_prefix("```"), fence) {
            (Some(_), Some(_)) => fence = None,
            (Some(language), None) => fence = Some(language),
            (None, None) => lines.push((index + 1, line, false)),
            (None, Some("text")) => lines.push((index + 1, line, true)),
            (None, Some(_)) => {}
        }
    }
    lines
}

/// The columns of the bars of a table's row; a bar in a code span, or after a `\`, is text.
fn bars(row: &str) -> Vec<usize> {
    let (mut in_code, mut before) = (false, ' ');
    let mut found = Vec::new();
    for (column, letter) in row.chars().enumerate() {
        in_code ^= letter == '`';
        if letter == '|' && !in_code && before != '\\' {
            found.push(column);
        }
        before = letter;
    }
    found
}

/// Every row has its bars below those of the first one. A table with `|---|` below its head is not
/// drawn: it is the source of a document.
pub(super) fn tables_are_aligned(file: &File) -> Vec<String> {
    let mut findings = Vec::new();
    let mut table: Vec<(usize, &str)> = Vec::new();
    let lines = drawn_lines(file.text).into_iter();
    let rows = lines.filter(|(_, line, drawn)| !drawn && line.trim_start().starts_with('|'));
    for (number, row, _) in rows.chain([(usize::MAX, "", false)]) {
        if table.last().is_some_and(|(last, _)| last + 1 != number) {
            let is_source = table.iter().any(|(_, row)| row.contains("|---|"));
            let columns = bars(table[0].1);
            let astray = table.iter().find(|(_, row)| bars(row) != columns);
            if let (Some((number, _)), false) = (astray, is_source) {
                let name = file.name;
                findings.push(format!(
                    "{name}:{number}: a row is not aligned with its table"
                ));
            }
            table.clear();
        }
        table.push((number, row));
    }
    findings
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// `TwoWords`, not `KiB`: two capitals, each with a small letter after it.
fn is_camel_case(word: &str) -> bool {
    let letters: Vec<char> = word.chars().collect();
    let humps = letters.windows(2);
    let humps = humps.filter(|pair| pair[0].is_uppercase() && pair[1].is_lowercase());
    letters[0].is_uppercase() && humps.count() >= 2
}

/// The names of a picture's line, with the `*` of those that have one.
fn names(line: &str) -> Vec<&str> {
    let words = line.split(|letter: char| !is_word(letter) && letter != '*');
    let words = words.filter(|word| word.starts_with(|letter: char| letter.is_alphabetic()));
    words
        .filter(|word| {
            let name = word.trim_end_matches('*');
            name.trim_end_matches('_').contains('_') || name != *word || is_camel_case(name)
        })
        .collect()
}

/// Every word of `text` outside of comments.
fn code_words(text: &str) -> BTreeSet<String> {
    let code = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(line));
    let words = code.flat_map(|line| line.split(|letter: char| !is_word(letter)));
    words.map(str::to_owned).collect()
}

/// The names in pictures of `file` that are not among the `words` of its folder.
fn unknown_names(file: &File, words: &BTreeSet<String>) -> Vec<String> {
    let is_known = |name: &str| {
        let front = name.trim_end_matches('*');
        let group = if front == name {
            format!("{name}_")
        } else {
            front.to_owned()
        };
        let mut from = words.range(group.clone()..);
        words.contains(name)
            || PICTURE_TERMS.contains(&name)
            || from.next().is_some_and(|word| word.starts_with(&group))
    };
    let mut findings = Vec::new();
    for (number, line, drawn) in drawn_lines(file.text) {
        for name in names(line)
            .into_iter()
            .filter(|name| drawn && !is_known(name))
        {
            let file = file.name;
            findings.push(format!(
                "{file}:{number}: no `{name}` in the code of its folder"
            ));
        }
    }
    findings
}

/// The folder of a file, whose code its pictures may name.
fn folder(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[test]
fn pictures_name_what_is_there() {
    let files = rust_files().expect("the project's folders are there");
    let names = files.iter().map(|path| relative(path));
    let names: Vec<String> = names
        .filter(|name| name.starts_with("hdl/rnic/src/"))
        .collect();
    assert!(names.len() > 100, "{} files are too few", names.len());
    let text = |name: &str| read(&workspace_root().join(name)).expect("it was just listed");
    let words: BTreeMap<&String, BTreeSet<String>> = names
        .iter()
        .map(|name| (name, code_words(&text(name))))
        .collect();
    let (mut findings, mut pictures) = (Vec::new(), 0);
    for name in &names {
        let text = text(name);
        let file = File { name, text: &text };
        pictures += drawn_lines(&text)
            .iter()
            .filter(|(.., drawn)| *drawn)
            .count();
        let inside = format!("{}/", folder(name));
        let near = words.iter().filter(|(other, _)| other.starts_with(&inside));
        let near: BTreeSet<String> = near.flat_map(|(_, words)| words.iter().cloned()).collect();
        findings.extend(unknown_names(&file, &near));
    }
    assert!(pictures > 500, "{pictures} drawn lines are too few");
    assert!(
        findings.is_empty(),
        "stale pictures:\n{}",
        findings.join("\n")
    );
}

/// How many rules a table breaks.
fn astray(rows: &[&str]) -> usize {
    let text: String = rows.iter().map(|row| format!("//! {row}\n")).collect();
    let file = File {
        name: "a.rs",
        text: &text,
    };
    tables_are_aligned(&file).len()
}

#[test]
fn rows_that_are_not_aligned_are_found() {
    assert_eq!(astray(&["| a  | b |", "| aa | b |"]), 0);
    assert_eq!(astray(&["| a | b |", "| aa | b |"]), 1);
    assert_eq!(
        astray(&["| a  | b |", "| aa | b  |"]),
        1,
        "the last bar, too"
    );
    assert_eq!(astray(&["| a | b |", "", "| aa | b |"]), 0, "two tables");
    assert_eq!(astray(&["| a | b |", "", "| a  | b |", "| a | b |"]), 1);
    assert_eq!(
        astray(&["| `a|b` | c |", "| `abc` | d |"]),
        0,
        "a bar in code"
    );
    assert_eq!(
        astray(&["| a | b |", "|---|---|", "| aa | b |"]),
        0,
        "a source"
    );
    assert_eq!(
        astray(&["```text", "| a | b |", "| aa | b |", "```"]),
        0,
        "drawn"
    );
}

/// The names that a picture of `line` has and `code` has not.
fn stale(line: &str, code: &str) -> usize {
    let text = format!("//! ```text\n//! {line}\n//! ```\n//! some_text\n{code}\n// gone_now\n");
    let file = File {
        name: "a.rs",
        text: &text,
    };
    unknown_names(&file, &code_words(&text)).len()
}

#[test]
fn names_that_are_not_there_are_found() {
    assert_eq!(stale("page_release --> pool", "page_release: Signal"), 0);
    assert_eq!(stale("page_release --> pool", "page_free: Signal"), 1);
    assert_eq!(stale("gone_now", ""), 1, "comments are no code");
    assert_eq!(stale("a_b -> c_d", ""), 2);
    assert_eq!(stale("page_release", "page_release_valid"), 0, "a stream");
    assert_eq!(stale("page_release", "page_released"), 1);
    assert_eq!(stale("page_rel*", "page_released"), 0);
    assert_eq!(stale("tlp_*", "tlp_data"), 0);
    assert_eq!(stale("tlp_*", "tl_data"), 1);
    assert_eq!(stale("Idle -> RangeWrite", "RunWrite"), 1);
    assert_eq!(stale("Idle -> RangeWrite, 16 KiB", "RangeWrite"), 0);
    assert_eq!(stale("ULPDU_Length", ""), 0, "a term");
}
