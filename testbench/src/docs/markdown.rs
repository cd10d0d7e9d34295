//! What a test needs to know of a page in Markdown: links, anchors, code.
//!
//! ```text
//!  page --> fenced code --> lines of commands
//!       \-> prose ------> code spans, link targets
//!       \-> headings ---> anchors, as GitHub makes them
//! ```
//!
//! Only what the project's pages use is read: fences of three backticks, spans of one, and inline
//! links.

use std::collections::{BTreeMap, BTreeSet};

/// The lines of a page, each with whether it belongs to fenced code; the fences are left out.
fn lines(page: &str) -> Vec<(&str, bool)> {
    let (mut found, mut is_code) = (Vec::new(), false);
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else {
            found.push((line, is_code));
        }
    }
    found
}

/// The lines of fenced code. One that ends with a backslash is joined with the next; what follows
/// ` #` is a comment and left out.
pub fn code_lines(page: &str) -> Vec<String> {
    let (mut found, mut begun) = (Vec::new(), String::new());
    for (line, _) in lines(page).into_iter().filter(|(_, is_code)| *is_code) {
        let line = line.split(" #").next().unwrap_or_default().trim();
        if let Some(part) = line.strip_suffix('\\') {
            begun.push_str(part);
        } else {
            found.push(std::mem::take(&mut begun) + line);
        }
    }
    found
}

/// The fenced code after the comment `<!-- NAME sample: begin`.
pub fn sample<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let (_, marked) = page.split_once(&format!("<!-- {name} sample: begin"))?;
    let (_, fenced) = marked.split_once("```")?;
    let (_, code) = fenced.split_once('\n')?;
    let (code, _) = code.split_once("```")?;
    Some(code)
}

/// Spans of code in the prose, and the prose without them. A span may go over a line's end, not
/// over a paragraph's.
fn prose(page: &str) -> (Vec<String>, String) {
    let (mut spans, mut rest, mut paragraph) = (Vec::new(), String::new(), String::new());
    let lines = lines(page)
        .into_iter()
        .map(|(line, is_code)| match is_code {
            true => "",
            false => line,
        });
    for line in lines.chain([""]) {
        let is_row = line.starts_with('|');
        if !line.trim().is_empty() && !is_row {
            paragraph.push_str(line);
            paragraph.push('\n');
            continue;
        }
        for text in [std::mem::take(&mut paragraph).as_str(), line] {
            for (number, part) in text.split('`').enumerate() {
                if number % 2 == 1 {
                    spans.push(part.split_whitespace().collect::<Vec<_>>().join(" "));
                } else {
                    rest.push_str(part);
                }
            }
            rest.push('\n');
        }
    }
    (spans, rest)
}

/// Spans of code in the prose.
pub fn code_spans(page: &str) -> Vec<String> {
    prose(page).0
}

/// The targets of inline links and pictures.
pub fn links(page: &str) -> Vec<String> {
    let (_, prose) = prose(page);
    let targets = prose.split("](").skip(1);
    let targets = targets.filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// The anchors of a page's headings: lower case, hyphens for spaces, no other punctuation; a second
/// heading of the same text has a number.
pub fn anchors(page: &str) -> BTreeSet<String> {
    let (mut found, mut seen) = (BTreeSet::new(), BTreeMap::<String, usize>::new());
    for (line, _) in lines(page).into_iter().filter(|(_, is_code)| !is_code) {
        let text = line.trim_start_matches('#');
        if text.len() == line.len() || !text.starts_with(' ') {
            continue;
        }
        let text = text.trim().to_lowercase();
        let kept = text.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            _ => letter.is_alphanumeric().then_some(letter),
        });
        let anchor: String = kept.collect();
        let before = seen.entry(anchor.clone()).or_default();
        found.insert(match *before {
            0 => anchor,
            number => format!("{anchor}-{number}"),
        });
        *before += 1;
    }
    found
}

/// The cells of a row of a table; none of a line that is not one, or that only rules off its head.
pub fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let is_rule = row.chars().all(|letter| "|-: ".contains(letter));
    (!is_rule).then(|| row.split('|').map(str::trim).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# A page: `x`, y

Run `make
test`, see [`a`](b.md#c) and [d](https://e).

```sh
make demo   # not `this`
rnic gen --out a \\
  --seed 7
```

## A page: x, y
| `one` | [two](three) |
|---|---|
";

    #[test]
    fn code_links_and_anchors_are_found() {
        assert_eq!(code_lines(PAGE), ["make demo", "rnic gen --out a --seed 7"]);
        assert_eq!(code_spans(PAGE), ["x", "make test", "a", "one"]);
        assert_eq!(links(PAGE), ["b.md#c", "https://e", "three"]);
        let anchors: Vec<String> = anchors(PAGE).into_iter().collect();
        assert_eq!(anchors, ["a-page-x-y", "a-page-x-y-1"]);
    }

    #[test]
    fn a_sample_is_the_code_after_its_comment() {
        let page = "```\na\n```\n<!-- b sample: begin (c) -->\n```text\nd\n\ne\n```\nf\n";
        assert_eq!(sample(page, "b"), Some("d\n\ne\n"));
        assert_eq!(sample(page, "c"), None);
    }

    #[test]
    fn a_row_has_cells() {
        assert_eq!(cells("| a | `b` |"), Some(vec!["a", "`b`"]));
        assert_eq!(cells("|---|:-:|"), None);
        assert_eq!(cells("a | b"), None);
    }
}
