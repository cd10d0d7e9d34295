//! Words that are not written, and what is written instead: one word for one thing, as engineers
//! write it.
//!
//! Enters any text of the project, code and document alike; leaves a finding for each place. Marks
//! of comments and ends of lines count as a blank, and so does `_`: names are held as well. The
//! same word for a place (a device behind a socket) is English, and no phrase below.
use crate::File;
use rnic_testbench::docs::{read, relative, workspace_root};
use std::fs;
use std::path::{Path, PathBuf};

/// Phrases, and what to write.
const PHRASES: [(&str, &str); 13] = [
    ("octets behind", "octets after, or beyond"),
    ("fpdus behind", "FPDUs after"),
    ("fin behind", "a FIN after"),
    ("right behind", "right after"),
    ("in front of", "before"),
    ("of before", "earlier"),
    ("looked at", "read, or checked"),
    ("deed", "action"),
    ("deeds", "actions"),
    ("hasty", "what is short, or early"),
    ("told when it is made", "settings"),
    ("as it is told", "as given"),
    ("fn told", "what the function does"),
];

/// What comes in a sequence has others after it, or beyond it: never behind it.
const IN_SEQUENCE: [&str; 16] = [
    "fin",
    "terminate",
    "gap",
    "gaps",
    "reply",
    "request",
    "header",
    "limit",
    "fpdu",
    "send",
    "write",
    "read",
    "item",
    "frame",
    "cookie",
    "field",
];
const ARTICLES: [&str; 7] = ["a", "an", "the", "its", "our", "each", "one"];

/// Where a phrase stays, each with its reason.
const KEPT: [(&str, &str, &str); 4] = [
    ("CHANGELOG.md", "deeds", "the former key of JSON"),
    ("testbench/src/former_keys.rs", "deeds", "the former key"),
    (
        "testbench/src/play/hostile/mod.rs",
        "deeds",
        "the former key",
    ),
    ("testbench/tests/fuzz/hostile.rs", "deeds", "the former key"),
];

/// Folders whose text is read, below those at the top.
const FOLDERS: [&str; 8] = [
    "constraints",
    "docs",
    "formal",
    "hdl",
    "host-driver",
    "protocol",
    "sim",
    "testbench",
];
/// Kinds of files that are text.
const KINDS: [&str; 9] = ["c", "csv", "md", "py", "rs", "sh", "sv", "toml", "txt"];
/// Holds the phrases themselves.
const THIS_FILE: &str = "testbench/tests/tidy/words.rs";

/// All phrases with what to write.
fn phrases() -> Vec<(String, &'static str)> {
    let articles = || ARTICLES.iter();
    let in_sequence = IN_SEQUENCE.iter().flat_map(|what| {
        articles().map(move |article| (format!("behind {article} {what}"), "after, or beyond"))
    });
    let plain = PHRASES
        .iter()
        .map(|&(phrase, write)| (phrase.to_owned(), write));
    plain.chain(in_sequence).collect()
}

/// A line without the marks of a comment, or of a string that goes on, in small letters.
fn words_of(line: &str) -> String {
    let line = line.trim().trim_end_matches('\\').trim_end();
    let line = line
        .trim_start_matches(['/', '!', '#', '*', '>'])
        .trim_start();
    line.to_lowercase().replace('_', " ")
}

/// Each phrase of `phrases` in a file, by its line.
fn phrases_in<'a>(file: &File, phrases: &'a [(String, &str)]) -> Vec<(usize, &'a str, &'a str)> {
    let (mut text, mut ends) = (String::new(), Vec::new());
    for line in file.text.lines() {
        text.push_str(&words_of(line));
        text.push(' ');
        ends.push(text.len());
    }
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let mut found = Vec::new();
    for (phrase, write) in phrases {
        for (at, _) in text.match_indices(phrase.as_str()) {
            let (before, after) = (&text[..at], &text[at + phrase.len()..]);
            if !is_letter(before.chars().next_back()) && !is_letter(after.chars().next()) {
                let line = 1 + ends.partition_point(|end| *end <= at);
                found.push((line, phrase.as_str(), *write));
            }
        }
    }
    found
}

fn is_kept(name: &str, phrase: &str) -> bool {
    KEPT.iter().any(|kept| (kept.0, kept.1) == (name, phrase))
}

/// The phrases of a file that do not stay.
fn old_words(file: &File) -> Vec<String> {
    let phrases = phrases();
    let found = phrases_in(file, &phrases).into_iter();
    let found = found.filter(|(_, phrase, _)| !is_kept(file.name, phrase));
    found
        .map(|(line, phrase, write)| format!("{}:{line}: `{phrase}`: write {write}", file.name))
        .collect()
}

/// The files of text in `folder`, and below it if it is not the top.
fn text_files(folder: &Path, is_top: bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("it is there"));
        let extension = path.extension().and_then(|extension| extension.to_str());
        if kind.is_dir() && !is_top {
            text_files(&path, false, found);
        } else if kind.is_file() && extension.is_some_and(|kind| KINDS.contains(&kind)) {
            found.push(path);
        }
    }
}

#[test]
fn one_word_is_used_for_one_thing() {
    let (root, mut files) = (workspace_root(), Vec::new());
    text_files(&root, true, &mut files);
    for folder in FOLDERS {
        text_files(&root.join(folder), false, &mut files);
    }
    files.sort();
    assert!(files.len() > 500, "{} files are too few", files.len());
    let mut findings = Vec::new();
    for path in files {
        let name = relative(&path);
        if name != THIS_FILE {
            let text = read(&path).expect("it was just listed");
            findings.extend(old_words(&File {
                name: &name,
                text: &text,
            }));
        }
    }
    assert!(findings.is_empty(), "words:\n{}", findings.join("\n"));
}

#[test]
fn what_is_kept_is_there() {
    for (name, phrase, _) in KEPT {
        let text = read(&workspace_root().join(name)).expect("an excepted file exists");
        let phrases = [(phrase.to_owned(), "")];
        let found = phrases_in(&File { name, text: &text }, &phrases);
        assert!(!found.is_empty(), "{name}: `{phrase}` is no more there");
    }
}

#[test]
fn canary_old_words_are_found() {
    let found = |text: &str| old_words(&File { name: "a.rs", text });
    for text in [
        "/// The peer sent octets behind it.",
        "fn data_behind_a_fin_aborts() {}",
        "// Behind a Terminate the device takes nothing.",
        "//! octets in\n//! front of the range",
        "\"a report of \\\n    before\"",
        "# What is looked at.",
        "enum Deed {}",
        "let hasty = 1;",
        "/// What an endpoint is told when it is made.",
    ] {
        assert_eq!(found(text).len(), 1, "{text}: {:?}", found(text));
    }
    for text in [
        "/// A guest behind an IOMMU, and nothing is left behind.",
        "let is_behind = self.behind_lead;",
        "// Indeed, it is overlooked at times.",
        "// The record in front.",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
    let second = "x\n\n// after that\n// behind the FIN\n";
    assert_eq!(
        found(second),
        ["a.rs:4: `behind the fin`: write after, or beyond"]
    );
}
