//! Style as a test: what a reader may rely on in every Rust file of the project.
//!
//! Line length, file length, function length, a text at the head of each file, nothing left open,
//! no place of one machine, `unsafe` only where it is allowed and argued, in [`heads`] tables and
//! pictures of comments, and in [`words`] one word for one thing, in documents and scripts, too.
//! Each rule is a function from a file to its findings, and has a test that shows it can find
//! something.
//!
//! Sources are as rustfmt writes them, which `make lint` asserts first.
mod heads;
mod words;

use rnic_testbench::docs::{read, relative, rust_files, workspace_root};

/// Columns of a line, in characters.
const LINE_COLUMNS_MAX: usize = 100;
/// Lines of a file. A file of the hardware is one decision or one stage of the pipeline, with the
/// blocks that make it; a limit that splits one over two files would hide it.
const FILE_LINES_MAX: usize = 600;
/// Lines of a function, from its name to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;
/// Lines of a test function: a random run keeps its expectations next to its stimulus.
const TEST_FUNCTION_LINES_MAX: usize = 100;
/// Lines of a kernel: it cannot call helpers, and each operation has a line of its own
/// (docs/rust-hdl.md), so it may be longer.
const KERNEL_LINES_MAX: usize = 220;

/// Functions that may be longer, each with its reason.
const LONG_FUNCTIONS: [(&str, &str, &str); 2] = [
    (
        "hdl/rnic/src/receive/stream/control.rs",
        "fn update",
        "one machine, an arm for each of its states; parts of it that stand alone are blocks",
    ),
    (
        "hdl/tools/src/testkit/verilator.rs",
        "fn main_program",
        "the text of a C++ program, to be read as one",
    ),
];

/// The one private module of each crate that may hold `unsafe`.
const UNSAFE_FILES: [&str; 4] = [
    "host-driver/src/bus/raw.rs",
    "sim/src/verilator/ffi.rs",
    "sim/vfio-user/src/mapped.rs",
    "sim/device/src/tun.rs",
];

/// A source file.
struct File<'a> {
    /// Path from the project's folder on.
    name: &'a str,
    text: &'a str,
}

type Rule = fn(&File) -> Vec<String>;

const RULES: [Rule; 8] = [
    lines_are_short,
    files_are_short,
    functions_are_short,
    files_say_what_they_are,
    nothing_is_left_open,
    no_place_of_one_machine,
    unsafe_is_argued,
    heads::tables_are_aligned,
];

#[test]
fn every_file_is_tidy() {
    let files = rust_files().expect("the project's folders are there");
    assert!(files.len() > 50, "{} files are too few", files.len());
    let mut findings = Vec::new();
    for path in files {
        let (name, text) = (relative(&path), read(&path).expect("it was just listed"));
        let file = File {
            name: &name,
            text: &text,
        };
        findings.extend(RULES.iter().flat_map(|rule| rule(&file)));
    }
    assert!(findings.is_empty(), "untidy:\n{}", findings.join("\n"));
}

#[test]
fn no_exception_is_stale() {
    for (name, function, _) in LONG_FUNCTIONS {
        let text = read(&workspace_root().join(name)).expect("an excepted file exists");
        let long = long_functions(&File { name, text: &text });
        assert!(
            long.iter().any(|long| long.head.contains(function)),
            "{name}: {function}"
        );
    }
}

fn lines_are_short(file: &File) -> Vec<String> {
    let lines = file.text.lines().enumerate();
    // A table's row in a comment cannot be broken.
    let is_row = |line: &str| line.trim_start_matches([' ', '/', '!']).starts_with('|');
    let long = lines.filter(|(_, line)| {
        line.chars().count() > LINE_COLUMNS_MAX && !(line.contains("//") && is_row(line))
    });
    long.map(|(index, _)| {
        let name = file.name;
        format!("{name}:{}: more than {LINE_COLUMNS_MAX} columns", index + 1)
    })
    .collect()
}

fn files_are_short(file: &File) -> Vec<String> {
    let name = file.name;
    let mut findings = Vec::new();
    let lines = file.text.lines().count();
    if lines > FILE_LINES_MAX {
        findings.push(format!(
            "{name}: {lines} lines, at most {FILE_LINES_MAX}; would two files read better?"
        ));
    }
    findings
}

/// The file holds nothing but tests and what they need.
fn is_test(name: &str) -> bool {
    let mut parts = name.split('/').map(|part| part.trim_end_matches(".rs"));
    parts.any(|part| ["testing", "bench"].contains(&part) || part.ends_with("tests"))
}

fn lines_above_tests(text: &str) -> usize {
    text.lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .count()
}

fn functions_are_short(file: &File) -> Vec<String> {
    let excepted = |head: &str| {
        let mut exceptions = LONG_FUNCTIONS.iter();
        exceptions.any(|(name, function, _)| *name == file.name && head.contains(function))
    };
    let long = long_functions(file).into_iter();
    long.filter(|function| !excepted(function.head))
        .map(
            |Long {
                 head: _,
                 line,
                 length,
                 most,
             }| {
                let name = file.name;
                format!("{name}:{line}: a function of {length} lines, at most {most}")
            },
        )
        .collect()
}

/// A function that is longer than functions of its kind may be.
struct Long<'a> {
    head: &'a str,
    line: usize,
    length: usize,
    most: usize,
}

fn long_functions<'a>(file: &File<'a>) -> Vec<Long<'a>> {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let head = line.trim_start();
        if !is_function(head) || head.ends_with('}') {
            continue;
        }
        // rustfmt puts the closing brace below the first letter of the opening line.
        let indent = &line[..line.len() - head.len()];
        let closing = format!("{indent}}}");
        let length = lines[index..]
            .iter()
            .take_while(|line| **line != closing && !is_declaration(line))
            .count()
            + 1;
        let above = lines[index.saturating_sub(1)].trim();
        let most = if is_test(file.name) || index > lines_above_tests(file.text) {
            TEST_FUNCTION_LINES_MAX
        } else if ["#[kernel]", "#[hdl_gen]"].contains(&above) {
            KERNEL_LINES_MAX
        } else {
            FUNCTION_LINES_MAX
        };
        if length > most {
            let line = index + 1;
            found.push(Long {
                head,
                line,
                length,
                most,
            });
        }
    }
    found
}

fn is_function(line: &str) -> bool {
    let mut words = line.split(' ');
    let qualifiers = [
        "pub",
        "pub(crate)",
        "pub(super)",
        "const",
        "async",
        "unsafe",
    ];
    words.find(|word| !qualifiers.contains(word)) == Some("fn")
}

/// A method of a trait without a body ends in a semicolon on a line of its own form.
fn is_declaration(line: &str) -> bool {
    is_function(line.trim_start()) && line.ends_with(';')
}

fn files_say_what_they_are(file: &File) -> Vec<String> {
    // What `x/tests.rs` is, its name says: the tests of `x.rs`.
    if file.text.starts_with("//! ") || file.name.ends_with("/tests.rs") {
        return Vec::new();
    }
    vec![format!("{}: does not open with a `//!` text", file.name)]
}

/// `words`, each made of two halves so that this file does not hold it, found in the code.
fn find_words(file: &File, words: &[(&str, &str)], what: &str) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|(a, b)| format!("{a}{b}")).collect();
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for word in words.iter().filter(|word| line.contains(*word)) {
            findings.push(format!("{}:{}: {what} `{word}`", file.name, index + 1));
        }
    }
    findings
}

fn nothing_is_left_open(file: &File) -> Vec<String> {
    let words = [
        ("todo", "!("),
        ("unimplemented", "!("),
        ("dbg", "!("),
        ("FIX", "ME"),
        ("XX", "X"),
        ("allow(dead", "_code"),
    ];
    find_words(file, &words, "left open:")
}

fn no_place_of_one_machine(file: &File) -> Vec<String> {
    let words = [("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/")];
    find_words(file, &words, "a place of one machine:")
}

fn unsafe_is_argued(file: &File) -> Vec<String> {
    let mut findings = Vec::new();
    let lines: Vec<&str> = file.text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        // A function pointer's type is no use of it; the call is.
        let code = line.split("//").next().unwrap_or_default();
        if !uses_unsafe(code) {
            continue;
        }
        let place = format!("{}:{}", file.name, index + 1);
        if !UNSAFE_FILES.contains(&file.name) {
            findings.push(format!("{place}: `unsafe` outside of {UNSAFE_FILES:?}"));
        }
        let above = lines[..index].iter().rev();
        let comment = above.take_while(|line| line.trim_start().starts_with("//"));
        let argued = |line: &&str| line.contains("SAFETY:") || line.contains("# Safety");
        if !comment.into_iter().any(argued) {
            findings.push(format!("{place}: `unsafe` without a SAFETY comment above"));
        }
    }
    findings
}

fn uses_unsafe(code: &str) -> bool {
    let keyword = ["uns", "afe"].concat();
    let uses = ["{", "fn", "impl"].map(|next| format!("{keyword} {next}"));
    uses.iter().any(|written| code.contains(written))
}

/// What `rule` finds in a file that holds `text`.
fn found(rule: Rule, name: &str, text: &str) -> usize {
    rule(&File { name, text }).len()
}

#[test]
fn long_lines_are_found() {
    let columns = |count: usize| "é".repeat(count);
    assert_eq!(found(lines_are_short, "a.rs", &columns(100)), 0);
    assert_eq!(found(lines_are_short, "a.rs", &columns(101)), 1);
}

#[test]
fn long_files_are_found() {
    let lines = |count: usize| "x\n".repeat(count);
    assert_eq!(found(files_are_short, "sim/a.rs", &lines(600)), 0);
    assert_eq!(found(files_are_short, "sim/a.rs", &lines(601)), 1);
}

#[test]
fn long_functions_are_found() {
    let function =
        |head: &str, count: usize| format!("{head} {{\n{}}}\n", "    x;\n".repeat(count));
    assert_eq!(
        found(functions_are_short, "a.rs", &function("fn f()", 68)),
        0
    );
    assert_eq!(
        found(functions_are_short, "a.rs", &function("fn f()", 69)),
        1
    );
    let public = function("pub(crate) const fn f()", 69);
    assert_eq!(found(functions_are_short, "a.rs", &public), 1);
    assert_eq!(found(functions_are_short, "tests/a.rs", &public), 0);
    let below = function("#[cfg(test)]\nmod tests;\nfn f()", 98);
    assert_eq!(found(functions_are_short, "a.rs", &below), 0);
    let below = function("#[cfg(test)]\nmod tests;\nfn f()", 99);
    assert_eq!(found(functions_are_short, "a.rs", &below), 1);
    let kernel = function("#[kernel]\nfn update(&mut self)", 218);
    assert_eq!(found(functions_are_short, "a.rs", &kernel), 0);
    let kernel = function("#[kernel]\nfn update(&mut self)", 219);
    assert_eq!(found(functions_are_short, "a.rs", &kernel), 1);
}

#[test]
fn what_is_left_open_is_found() {
    for (first, second) in [("todo", "!()"), ("// FIX", "ME: x"), ("dbg", "!(x)")] {
        let text = format!("{first}{second}");
        assert_eq!(found(nothing_is_left_open, "a.rs", &text), 1, "{text}");
    }
    assert_eq!(found(nothing_is_left_open, "a.rs", "let done = 1;"), 0);
}

#[test]
fn places_of_one_machine_are_found() {
    let text = format!("let path = \"/{}/x\";", "home");
    assert_eq!(found(no_place_of_one_machine, "a.rs", &text), 1);
    assert_eq!(found(no_place_of_one_machine, "a.rs", "\"hdl/rnic\""), 0);
}

#[test]
fn files_without_a_head_are_found() {
    assert_eq!(found(files_say_what_they_are, "a.rs", "use x;\n"), 1);
    assert_eq!(found(files_say_what_they_are, "a.rs", "//! What.\n"), 0);
    assert_eq!(found(files_say_what_they_are, "a/tests.rs", "use x;\n"), 0);
}

#[test]
fn unsafe_without_an_argument_or_elsewhere_is_found() {
    let allowed = UNSAFE_FILES[0];
    let word = ["uns", "afe"].concat();
    let bare = format!("{word} {{ f() }}\n");
    let argued = format!("// SAFETY: f has no conditions.\n{bare}");
    assert_eq!(found(unsafe_is_argued, allowed, &argued), 0);
    assert_eq!(found(unsafe_is_argued, allowed, &bare), 1);
    assert_eq!(found(unsafe_is_argued, "a.rs", &argued), 1);
    let pointer = format!("type F = {word} extern \"C\" fn();\n");
    assert_eq!(found(unsafe_is_argued, allowed, &pointer), 0);
}
