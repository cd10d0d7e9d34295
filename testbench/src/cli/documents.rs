//! The `rnic` commands in documents: the command line parses each; none is run.
//!
//! Looked for: lines of fenced code that begin with `rnic`, and the commands of the figures. Values
//! are parsed, too, as far as the command line does before it opens a file.
use super::Cli;
use clap::CommandFactory;
use rnic_testbench::docs::figures::figures;
use rnic_testbench::docs::markdown::code_lines;
use rnic_testbench::docs::pages;

/// The reason why the command line does not take `command`.
fn refusal(command: &str) -> Option<String> {
    let parsed = Cli::command().try_get_matches_from(command.split_whitespace());
    let error = parsed.err()?;
    let first = error
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    Some(format!("{command}: {first}"))
}

/// The `rnic` commands in a page's fenced code.
fn commands(page: &str) -> Vec<String> {
    let lines = code_lines(page).into_iter();
    let lines = lines.map(|line| line.trim_start_matches("target/release/").to_owned());
    lines.filter(|line| line.starts_with("rnic ")).collect()
}

#[test]
fn every_rnic_command_in_a_document_is_parsed() {
    let pages = pages().expect("the pages are there");
    let mut all: Vec<String> = pages.iter().flat_map(|(_, page)| commands(page)).collect();
    let figures = figures().expect("the figures are there").into_iter();
    let of_figures = figures.map(|figure| figure.command);
    all.extend(of_figures.filter(|command| command.starts_with("rnic ")));
    assert!(
        all.len() > 20,
        "{} commands are too few to be all",
        all.len()
    );
    let refused: Vec<String> = all.iter().filter_map(|command| refusal(command)).collect();
    assert!(refused.is_empty(), "\n{}", refused.join("\n"));
}

#[test]
fn canary_a_command_that_is_none_is_found() {
    assert_eq!(refusal("rnic play --width 128 capture.pcap"), None);
    for command in [
        "rnic replay capture.pcap",
        "rnic play --depth 3 capture.pcap",
        "rnic play --width 65 capture.pcap",
        "rnic gen --loss 0.1",
    ] {
        assert!(refusal(command).is_some(), "{command}");
    }
    let page = "rnic none\n```sh\nrnic play \\\n  --stall 0.3 a.pcap # b\nx rnic y\n```\n";
    assert_eq!(commands(page), ["rnic play --stall 0.3 a.pcap"]);
}
