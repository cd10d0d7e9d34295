//! The figures of `docs/figures.md`: what was measured, by which command, of which commit, on which
//! machine. `docs/figures.py` reads the same tables and reports which are old.
use super::markdown::cells;
use super::{read, workspace_root};

const BEGIN: &str = "<!-- figures: begin -->";
const END: &str = "<!-- figures: end -->";
const COLUMNS: [&str; 7] = [
    "what", "goal", "measured", "command", "commit", "machine", "measures",
];

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What is measured.
    pub what: String,
    /// What it should be, and what it was.
    pub text: String,
    /// The command that measures it, as one types it.
    pub command: String,
    /// The commit it was measured at: 7 or more hexadecimal digits.
    pub commit: String,
    /// Paths, from the project's folder on, of what it depends on.
    pub paths: Vec<String>,
}

/// The figures of the project.
///
/// # Errors
/// As [`parse`]; the page cannot be read.
pub fn figures() -> Result<Vec<Figure>, String> {
    parse(&read(&workspace_root().join("docs/figures.md"))?)
}

/// The figures of a page.
///
/// # Errors
/// The marks are gone, or a row is not as it should be.
pub fn parse(page: &str) -> Result<Vec<Figure>, String> {
    let tables = page.split_once(BEGIN);
    let tables = tables.and_then(|(_, rest)| Some(rest.split_once(END)?.0));
    let tables = tables.ok_or("docs/figures.md: the marks of its tables are gone")?;
    let rows = tables.lines().filter_map(cells);
    rows.filter(|row| *row != COLUMNS)
        .map(|row| figure(&row))
        .collect()
}

fn figure(row: &[&str]) -> Result<Figure, String> {
    let wrong = |reason: &str| Err(format!("docs/figures.md: {reason}: {}", row.join(" | ")));
    let [what, goal, measured, command, commit, machine, measures] = row else {
        return wrong("a row has seven cells");
    };
    let code = |cell: &str| {
        let inner = cell.strip_prefix('`')?.strip_suffix('`')?;
        (!inner.is_empty() && !inner.contains('`')).then(|| inner.to_owned())
    };
    let paths: Option<Vec<String>> = measures.split(", ").map(code).collect();
    let (Some(command), Some(commit), Some(paths)) = (code(command), code(commit), paths) else {
        return wrong("command, commit and each path are code");
    };
    if commit.len() < 7 || !commit.chars().all(|digit| digit.is_ascii_hexdigit()) {
        return wrong("the commit is no commit");
    }
    if [what, goal, measured, machine]
        .iter()
        .any(|cell| cell.is_empty())
    {
        return wrong("a cell is empty");
    }
    Ok(Figure {
        what: (*what).to_owned(),
        text: format!("{what} {goal} {measured}"),
        command,
        commit,
        paths,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(row: &str) -> String {
        format!(
            "{BEGIN}\n| {} |\n|---|\n{row}\n{END}\n",
            COLUMNS.join(" | ")
        )
    }

    #[test]
    fn a_row_is_a_figure() {
        let page = page("| rate | 1 | 2 | `make a B=1` | `0123abc` | any | `a/b`, `c` |");
        let figure = Figure {
            what: "rate".to_owned(),
            text: "rate 1 2".to_owned(),
            command: "make a B=1".to_owned(),
            commit: "0123abc".to_owned(),
            paths: vec!["a/b".to_owned(), "c".to_owned()],
        };
        assert_eq!(parse(&page), Ok(vec![figure]));
    }

    #[test]
    fn canary_a_row_that_lacks_something_is_refused() {
        for row in [
            "| rate | 1 | 2 | `make a` | `0123abc` | any |",
            "| rate | 1 |  | `make a` | `0123abc` | any | `a` |",
            "| rate | 1 | 2 | make a | `0123abc` | any | `a` |",
            "| rate | 1 | 2 | `make a` | `0123` | any | `a` |",
            "| rate | 1 | 2 | `make a` | `of today` | any | `a` |",
            "| rate | 1 | 2 | `make a` | `0123abc` | any | `a`, b |",
        ] {
            parse(&page(row)).expect_err(row);
        }
        parse("no marks").expect_err("marks");
    }
}
