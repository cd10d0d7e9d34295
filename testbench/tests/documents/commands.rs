//! The commands in documents: every `make VERB` is a target of the Makefile, and every package,
//! test and example that a `cargo` command names is there.
//!
//! Looked for in fenced code and in code spans of the prose. Words in capitals stand for something
//! that the reader fills in.
use crate::{all_pages, assert_none};
use rnic_testbench::docs::markdown::{code_lines, code_spans};
use rnic_testbench::docs::{read, workspace_root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The commands of a page as their words, without variables before them.
pub(crate) fn commands(page: &str) -> Vec<Vec<String>> {
    let texts = code_lines(page).into_iter().chain(code_spans(page));
    let mut found = Vec::new();
    for text in texts {
        for command in text.split([';', '&', '|']) {
            let words = command.split_whitespace().map(str::to_owned);
            let is_before = |word: &String| word.contains('=') || word == "time";
            let words: Vec<String> = words.skip_while(is_before).collect();
            if !words.is_empty() {
                found.push(words);
            }
        }
    }
    found
}

/// The verbs that `make` is given in a command.
fn verbs(words: &[String]) -> Vec<&str> {
    let [program, arguments @ ..] = words else {
        return Vec::new();
    };
    let is_verb = |word: &&String| word.starts_with(|first: char| first.is_ascii_lowercase());
    let verbs = arguments.iter().filter(|_| program == "make");
    let verbs = verbs.filter(is_verb).map(String::as_str);
    verbs.filter(|word| !word.contains('=')).collect()
}

/// The targets of a Makefile.
fn targets(makefile: &str) -> BTreeSet<&str> {
    let rules = makefile.lines().filter_map(|line| line.split_once(':'));
    let is_verb = |target: &str| target.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let rules = rules.filter(|(target, rest)| is_verb(target) && !rest.starts_with('='));
    rules.map(|(target, _)| target).collect()
}

/// The verbs of a page that the Makefile does not have.
fn missing_verbs(path: &str, page: &str, targets: &BTreeSet<&str>) -> Vec<String> {
    let commands = commands(page);
    let verbs = commands.iter().flat_map(|words| verbs(words));
    let missing = verbs.filter(|verb| !targets.contains(verb));
    missing
        .map(|verb| format!("{path}: make {verb} is no verb of the Makefile"))
        .collect()
}

/// The folders of the workspace's packages, by name.
pub(crate) fn packages() -> BTreeMap<String, PathBuf> {
    let manifest = |folder: &PathBuf| -> toml::Table {
        let text = read(&folder.join("Cargo.toml")).expect("a package has a manifest");
        text.parse().expect("cargo reads it too")
    };
    let root = workspace_root();
    let workspace = manifest(&root);
    let members = workspace["workspace"]["members"]
        .as_array()
        .expect("a list");
    let folders = members
        .iter()
        .map(|member| root.join(member.as_str().expect("a folder")));
    let named = |folder: PathBuf| {
        let name = manifest(&folder)["package"]["name"]
            .as_str()
            .map(str::to_owned);
        (name.expect("a package has a name"), folder)
    };
    folders.map(named).collect()
}

/// What a `cargo` command names and is not there.
fn missing_of_cargo(words: &[String], packages: &BTreeMap<String, PathBuf>) -> Vec<String> {
    if words[0] != "cargo" {
        return Vec::new();
    }
    let values = |names: [&str; 2]| -> Vec<&String> {
        let pairs = words.windows(2);
        let pairs = pairs.filter(|pair| names.contains(&pair[0].as_str()));
        let is_name = |value: &&String| value.starts_with(|first: char| first.is_ascii_lowercase());
        pairs.map(|pair| &pair[1]).filter(is_name).collect()
    };
    let (known, unknown): (Vec<_>, Vec<_>) = values(["-p", "--package"])
        .into_iter()
        .partition(|name| packages.contains_key(*name));
    let folders: Vec<&PathBuf> = match known.is_empty() {
        true => packages.values().collect(),
        false => known.iter().map(|name| &packages[*name]).collect(),
    };
    let mut missing: Vec<String> = unknown
        .iter()
        .map(|name| format!("package {name}"))
        .collect();
    for (option, folder) in [("--test", "tests"), ("--example", "examples")] {
        for name in values([option, option]) {
            let is_there = folders.iter().any(|package| {
                let place = package.join(folder).join(name);
                place.join("main.rs").is_file() || place.with_extension("rs").is_file()
            });
            if !is_there {
                missing.push(format!("{option} {name}"));
            }
        }
    }
    missing
}

#[test]
fn every_verb_of_make_is_a_target() {
    let makefile = read(&workspace_root().join("Makefile")).expect("it is there");
    let targets = targets(&makefile);
    assert!(targets.len() > 20, "{targets:?}");
    let pages = all_pages();
    let missing = pages.iter();
    let missing = missing.flat_map(|(path, page)| missing_verbs(path, page, &targets));
    assert_none(&missing.collect::<Vec<_>>());
}

#[test]
fn canary_a_verb_that_is_not_there_is_found() {
    let targets = targets("A := b\ndemo: tools ## plays\n\tc: d\nip: X := 1\n");
    assert_eq!(targets, BTreeSet::from(["demo", "ip"]));
    let page =
        "`make`, `make demo X=y`, `make VERB`, `make\ngone`, make nothing, `X=1 make lost`\n\
                ```sh\nmake ip; make away   # make this\n```\n";
    let expected = ["away", "gone", "lost"];
    let expected = expected.map(|verb| format!("a.md: make {verb} is no verb of the Makefile"));
    assert_eq!(missing_verbs("a.md", page, &targets), expected);
}

#[test]
fn what_cargo_commands_name_is_there() {
    let packages = packages();
    let (mut seen, mut findings) = (0, Vec::new());
    for (path, page) in all_pages() {
        for words in commands(&page) {
            seen += usize::from(words[0] == "cargo");
            let missing = missing_of_cargo(&words, &packages).into_iter();
            findings.extend(missing.map(|what| format!("{path}: no {what}: {}", words.join(" "))));
        }
    }
    assert!(seen > 15, "{seen} cargo commands are too few to be all");
    assert_none(&findings);
}

#[test]
fn canary_a_package_or_test_that_is_not_there_is_found() {
    let packages = packages();
    let missing = |command: &str| {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        missing_of_cargo(&words, &packages)
    };
    assert!(missing("cargo test -p rnic-testbench --test documents").is_empty());
    assert!(missing("cargo test -p NAME some::").is_empty());
    assert_eq!(missing("cargo test -p rnic-none"), ["package rnic-none"]);
    assert_eq!(
        missing("cargo test -p rnic-abi --test documents"),
        ["--test documents"]
    );
    assert_eq!(
        missing("cargo run --example nothing"),
        ["--example nothing"]
    );
}
