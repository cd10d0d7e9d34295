//! The `rnicctl` commands in documents: the command line parses each; none is run.
use crate::cli::command;
use std::fs;
use std::path::Path;

/// Documents that show commands, from the project's folder on.
const DOCUMENTS: [&str; 2] = ["README.md", "docs/driver.md"];

/// The commands of a page: its lines that begin with `rnicctl`, without comments.
fn commands(page: &str) -> Vec<&str> {
    let lines = page.lines().map(str::trim);
    let lines = lines.filter(|line| line.starts_with("rnicctl "));
    lines.filter_map(|line| line.split(" #").next()).collect()
}

/// The reason why the command line does not take a command.
fn refusal(text: &str) -> Option<String> {
    let parsed = command().try_get_matches_from(text.split_whitespace());
    parsed.err().map(|error| format!("{text}: {error}"))
}

#[test]
fn every_command_in_a_document_is_parsed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    for document in DOCUMENTS {
        let page = fs::read_to_string(root.join(document)).expect("the document is there");
        let commands = commands(&page);
        seen += commands.len();
        let refused: Vec<String> = commands.into_iter().filter_map(refusal).collect();
        assert!(refused.is_empty(), "{document}:\n{}", refused.join("\n"));
    }
    assert!(seen > 4, "{seen} commands are too few to be all");
}

#[test]
fn canary_a_command_that_is_none_is_found() {
    let page = "x rnicctl list\n  rnicctl list   # all\nrnicctl look vfio:0000:01:00.0\n";
    let commands = commands(page);
    assert_eq!(
        commands,
        ["rnicctl list  ", "rnicctl look vfio:0000:01:00.0"]
    );
    let refused: Vec<bool> = commands
        .into_iter()
        .map(|text| refusal(text).is_some())
        .collect();
    assert_eq!(refused, [false, true]);
}
