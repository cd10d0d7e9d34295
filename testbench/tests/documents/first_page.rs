//! The first pages are short, and what README shows of other pages is what these say.
//!
//! Words are counted as `wc -w` does: runs of characters between white space, whatever they are;
//! the marks of tables and code count, too.
use crate::assert_none;
use rnic_testbench::docs::figures::{figures, Figure};
use rnic_testbench::docs::markdown::{cells, sample};
use rnic_testbench::docs::{read, workspace_root};
use std::collections::BTreeSet;

const WORDS_MAX: [(&str, usize); 2] = [("README.md", 1_000), ("ARCHITECTURE.md", 2_800)];
/// Lines of the sample of a run, and of the list of verbs.
const SAMPLE_LINES_MAX: usize = 8;
const VERB_LINES_MAX: usize = 15;
/// Rows of README's table of figures.
const FIGURES: usize = 6;

fn page(path: &str) -> String {
    read(&workspace_root().join(path)).expect("the page is there")
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The part of a page from a heading of the second level on to the next.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or_default();
    rest.split("\n## ").next().unwrap_or_default()
}

/// The lines of the first fenced block of a language.
fn block<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let (_, rest) = text
        .split_once(&format!("```{language}\n"))
        .unwrap_or_default();
    rest.split("```")
        .next()
        .unwrap_or_default()
        .lines()
        .collect()
}

/// The numbers in a text, each as it is written.
fn numbers(text: &str) -> BTreeSet<&str> {
    let parts = text.split(|letter: char| !letter.is_ascii_digit() && !".,".contains(letter));
    let parts = parts.map(|part| part.trim_matches(['.', ',']));
    parts.filter(|part| !part.is_empty()).collect()
}

/// Rows of README's figures that are not, number by number, those of a figure with that command.
fn foreign_figures(readme: &str, figures: &[Figure]) -> Vec<String> {
    let rows = section(readme, "Figures").lines().filter_map(cells).skip(1);
    let is_known = |row: &Vec<&str>| {
        let [_, measured, command] = row[..] else {
            return false;
        };
        let of_it = figures
            .iter()
            .filter(|figure| figure.command == command.trim_matches('`'));
        let has_all = |figure: &Figure| numbers(measured).is_subset(&numbers(&figure.text));
        of_it.into_iter().any(has_all)
    };
    let foreign = rows.filter(|row| !is_known(row));
    foreign
        .map(|row| {
            format!(
                "README.md: no such row in docs/figures.md: {}",
                row.join(" | ")
            )
        })
        .collect()
}

/// Lines of README's sample that the whole one does not have.
fn foreign_lines<'a>(readme: &'a str, play: &str) -> Vec<&'a str> {
    let whole: Vec<&str> = sample(play, "demo").unwrap_or_default().lines().collect();
    let sample = block(section(readme, "Four commands"), "text").into_iter();
    sample.filter(|line| !whole.contains(line)).collect()
}

#[test]
fn the_first_pages_are_short() {
    let counts = WORDS_MAX.map(|(path, most)| (path, words(&page(path)), most));
    let long = counts.iter().filter(|(_, words, most)| words > most);
    let long = long.map(|(path, words, most)| format!("{path}: {words} words, at most {most}"));
    assert_none(&long.collect::<Vec<_>>());
    let readme = page("README.md");
    let sample = block(section(&readme, "Four commands"), "text").len();
    assert!(
        (1..=SAMPLE_LINES_MAX).contains(&sample),
        "{sample} lines of output"
    );
    let verbs = block(section(&readme, "Verbs"), "sh").len();
    assert!(
        (1..=VERB_LINES_MAX).contains(&verbs),
        "{verbs} lines of verbs"
    );
}

#[test]
fn words_are_counted_as_wc_counts_them() {
    assert_eq!(words("a |  b-c\n\n```sh\tx\n"), 5);
    assert_eq!(words(" \n"), 0);
}

#[test]
fn what_readme_shows_is_what_the_other_pages_say() {
    let (readme, figures_page) = (page("README.md"), page("docs/figures.md"));
    let figures = figures().unwrap_or_else(|problem| panic!("{problem}"));
    let rows = section(&readme, "Figures")
        .lines()
        .filter_map(cells)
        .count();
    assert_eq!(rows, FIGURES + 1, "the head and the figures");
    assert_none(&foreign_figures(&readme, &figures));
    assert_eq!(foreign_lines(&readme, &page("docs/play.md")), [""; 0]);
    let (head, _) = readme.split_once("\n## ").expect("it has sections");
    let bullets: Vec<&str> = head
        .lines()
        .filter(|line| line.starts_with("- **"))
        .collect();
    assert_eq!(bullets.len(), 3, "three numbers: {bullets:?}");
    let known = numbers(&figures_page);
    let unknown = bullets
        .iter()
        .flat_map(|line| numbers(line))
        .filter(|number| !known.contains(number));
    assert_eq!(unknown.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn canary_other_figures_and_lines_are_found() {
    let figure = |command: &str, text: &str| Figure {
        what: String::new(),
        text: text.to_owned(),
        command: command.to_owned(),
        commit: String::new(),
        paths: Vec::new(),
    };
    let figures = [
        figure("rnic a", "goal 1, 2,000 found"),
        figure("rnic b", "3.5 MHz"),
    ];
    let readme = "\n## Figures\n\n| what | measured | command |\n|---|---|---|\n\
                  | x | 2,000 | `rnic a` |\n| y | 3.5 | `rnic a` |\n| z | 3.5. | `rnic b` |\n\
                  | v | 3 | `rnic b` |\n| w | 1 | `rnic c` |\n";
    let found = foreign_figures(readme, &figures);
    assert_eq!(found.len(), 3, "{found:?}");
    let readme = "\n## Four commands\n```text\none\ntwo\n```\n";
    let play = "<!-- demo sample: begin -->\n```text\none\nthree\n```\n";
    assert_eq!(foreign_lines(readme, play), ["two"]);
}
