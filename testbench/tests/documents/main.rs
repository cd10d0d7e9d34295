//! What documents promise, as a test: their length, their links, and the commands they name.
//!
//! ```text
//!  README, ARCHITECTURE, ..., docs/**.md --> [ links ] ----> findings
//!                                        \-> [ commands ] -> findings <-- Makefile, Cargo.toml
//!                                         `> [ programs ] -> findings <-- host-driver/examples
//!  README, ARCHITECTURE ------------------> [ first_page ] > findings <-- docs/figures.md, play.md
//!  docs/figures.md -----------------------> [ figures ] ---> findings <-- git, docs/figures.py
//! ```
//!
//! Each rule is a function from a page to its findings, and has a canary: a page that it must find
//! something in. The `rnic` commands are parsed by the command line itself, in
//! `testbench/src/cli/documents.rs`; those of `rnicctl` in its own tests. Of the examples' programs
//! the names and long options are compared with their sources.
mod commands;
mod figures;
mod first_page;
mod links;
mod programs;

use rnic_testbench::docs::{check, pages, proofs};

/// All pages, each by its path.
fn all_pages() -> Vec<(String, String)> {
    let pages = pages().unwrap_or_else(|problem| panic!("{problem}"));
    assert!(pages.len() > 40, "{} pages are too few", pages.len());
    pages
}

/// Fails with all findings, a line each.
fn assert_none(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}

/// Fails when the document was not generated since the last change of a proof.
#[test]
fn the_document_of_verification_lists_the_proofs() {
    let text = proofs::text().unwrap_or_else(|problem| panic!("{problem}"));
    if let Err(difference) = check("verification.md", &text) {
        panic!("{difference}");
    }
}
