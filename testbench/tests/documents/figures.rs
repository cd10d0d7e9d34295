//! The figures: each has a commit, paths and a command that are there, and `docs/figures.py` reads
//! the same rows.
//!
//! Commits need the history: a clone without it says that it was skipped.
use crate::assert_none;
use rnic_effort::not_possible;
use rnic_testbench::docs::figures::{figures, Figure};
use rnic_testbench::docs::workspace_root;
use std::process::{Command, Output};

fn run(program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.current_dir(workspace_root()).args(arguments);
    let output = command.output();
    output.unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// Whether this clone has the commits that figures may name.
fn has_history() -> bool {
    let output = run("git", &["rev-parse", "--is-shallow-repository"]);
    output.status.success() && output.stdout.starts_with(b"false")
}

/// The figures of the project.
fn all() -> Vec<Figure> {
    let figures = figures().unwrap_or_else(|problem| panic!("{problem}"));
    assert!(figures.len() > 25, "{} figures are too few", figures.len());
    figures
}

/// What is wrong with a figure, its commit aside.
fn findings(figure: &Figure) -> Vec<String> {
    let root = workspace_root();
    let gone = figure.paths.iter().filter(|path| !root.join(path).exists());
    let mut found: Vec<String> = gone.map(|path| format!("no path {path}")).collect();
    let mut words = figure
        .command
        .split(' ')
        .skip_while(|word| word.contains('='));
    if !words
        .next()
        .is_some_and(|program| ["make", "rnic", "cargo"].contains(&program))
    {
        found.push(format!(
            "`{}` is neither make, rnic nor cargo",
            figure.command
        ));
    }
    let named = |what| format!("{}: {what}", figure.what);
    found.into_iter().map(named).collect()
}

fn is_commit(name: &str) -> bool {
    let object = format!("{name}^{{commit}}");
    run("git", &["cat-file", "-e", &object]).status.success()
}

#[test]
fn every_figure_has_a_command_and_paths() {
    assert_none(&all().iter().flat_map(findings).collect::<Vec<_>>());
}

#[test]
fn every_figure_has_a_commit_and_the_script_reads_them_all() {
    let figures = all();
    if !has_history() {
        let test = "every_figure_has_a_commit_and_the_script_reads_them_all";
        return not_possible(test, "this clone has no history; git fetch --unshallow");
    }
    let lost = figures.iter().filter(|figure| !is_commit(&figure.commit));
    let lost = lost.map(|figure| format!("{}: no commit {}", figure.what, figure.commit));
    assert_none(&lost.collect::<Vec<_>>());
    let output = run("python3", &["docs/figures.py"]);
    let text = String::from_utf8(output.stdout).expect("text");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{error}");
    let last = format!("{} figures, ", figures.len());
    assert!(
        text.lines()
            .last()
            .is_some_and(|line| line.starts_with(&last)),
        "{text}"
    );
}

#[test]
fn canary_a_path_and_a_command_that_are_not_there_are_found() {
    let figure = Figure {
        what: "rate".to_owned(),
        text: String::new(),
        command: "X=1 cargo test".to_owned(),
        commit: "0000000".to_owned(),
        paths: vec!["hdl".to_owned()],
    };
    assert_eq!(findings(&figure), [""; 0]);
    let wrong = Figure {
        command: "a stopwatch".to_owned(),
        paths: vec!["hdl".to_owned(), "hdl/none".to_owned()],
        ..figure
    };
    let expected = [
        "rate: no path hdl/none",
        "rate: `a stopwatch` is neither make, rnic nor cargo",
    ];
    assert_eq!(findings(&wrong), expected);
    assert!(!is_commit(&wrong.commit));
}
