//! Documents that are made from the sources they speak of: `docs/registers.md` from the crate
//! `rnic-abi`, `docs/conformance.md` from the requirements and the tests that cite them, the table
//! of attacks in `docs/security.md` from the attacks that are played, and that of proofs in
//! `docs/verification.md` from `formal/proofs.toml`. And what the tests of all documents read of
//! them: Markdown, and the figures.
//!
//! They are committed; a test makes each anew and compares, so none can go stale unseen.
//! `make generate` writes all.
use std::fs;
use std::path::{Path, PathBuf};

pub mod source;
mod values;
pub mod plain;
pub mod registers;
pub mod requirements;
pub mod citations;
pub mod conformance;
pub mod security;
pub mod proofs;
pub mod markdown;
pub mod figures;

/// The folder of the whole project.
pub fn workspace_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest
        .parent()
        .expect("the crate is a folder of the workspace")
        .to_path_buf()
}

/// The text of a file of the project; an error names the file.
pub fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Every Rust file of the project, sorted by its path; build results are not searched.
pub fn rust_files() -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for folder in ["hdl", "host-driver", "protocol", "sim", "testbench"] {
        collect_rust_files(&workspace_root().join(folder), &mut found)?;
    }
    found.sort();
    Ok(found)
}

fn collect_rust_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() && !path.ends_with("target") {
            collect_rust_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// `path` as it is written in documents: from the project's folder on.
pub fn relative(path: &Path) -> String {
    let root = workspace_root();
    path.strip_prefix(&root)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Compares a document of `docs/` with `text`, which its source gives; with `UPDATE_DOCS` in the
/// environment it is written instead.
///
/// # Errors
/// The first line that differs and the command that puts it right.
pub fn check(name: &str, text: &str) -> Result<(), String> {
    let path = workspace_root().join("docs").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()));
    }
    let committed = read(&path).unwrap_or_default();
    if committed == text {
        return Ok(());
    }
    let same = committed.lines().zip(text.lines());
    let line = same.take_while(|(old, new)| old == new).count();
    Err(format!(
        "docs/{name} is not what its source gives, from line {} on:\n  committed: {}\n  source:    \
         {}\nrun: make generate",
        line + 1,
        committed.lines().nth(line).unwrap_or("(end)"),
        text.lines().nth(line).unwrap_or("(end)"),
    ))
}

/// `document` with `table` between the two marks; `None` if they are not there.
fn between(document: &str, (begin, end): (&str, &str), table: &str) -> Option<String> {
    let (head, rest) = document.split_once(begin)?;
    let (_, tail) = rest.split_once(end)?;
    Some(format!("{head}{begin}{table}{end}{tail}"))
}

/// The pages that people write and read, each with its path from the project's folder on.
///
/// # Errors
/// One cannot be read.
pub fn pages() -> Result<Vec<(String, String)>, String> {
    let root = workspace_root();
    let mut paths = Vec::new();
    for folder in [".", "docs", "docs/adr", "docs/timing"] {
        let entries =
            fs::read_dir(root.join(folder)).map_err(|error| format!("{folder}: {error}"))?;
        let entries = entries.flatten().map(|entry| entry.file_name());
        let names = entries.filter_map(|name| name.into_string().ok());
        let pages = names.filter(|name| name.ends_with(".md"));
        paths.extend(pages.map(|name| match folder {
            "." => name,
            _ => format!("{folder}/{name}"),
        }));
    }
    paths.sort();
    let page = |path: String| Ok((read(&root.join(&path))?, path));
    let pages: Result<Vec<_>, String> = paths.into_iter().map(page).collect();
    Ok(pages?
        .into_iter()
        .map(|(text, path)| (path, text))
        .collect())
}
