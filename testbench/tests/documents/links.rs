//! Every relative link leads to a file or folder of the project, and every anchor to a heading.
//! Addresses outside of the project are not visited.
use crate::{all_pages, assert_none};
use rnic_testbench::docs::markdown::{anchors, links};
use rnic_testbench::docs::{read, workspace_root};
use std::path::Path;

/// The links of the page at `path`, from the project's folder on, that lead nowhere.
fn dead_links(path: &str, text: &str) -> Vec<String> {
    let folder = workspace_root().join(path);
    let folder = folder.parent().expect("a page is in a folder");
    let targets = links(text).into_iter();
    let targets =
        targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    let dead = targets.filter(|target| !leads_somewhere(folder, text, target));
    dead.map(|target| format!("{path}: {target} leads nowhere"))
        .collect()
}

/// `target` of a link in a page of `folder` with this `text`.
fn leads_somewhere(folder: &Path, text: &str, target: &str) -> bool {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = folder.join(file);
    if anchor.is_empty() || file.is_empty() {
        return path.exists() && (anchor.is_empty() || anchors(text).contains(anchor));
    }
    file.ends_with(".md") && read(&path).is_ok_and(|text| anchors(&text).contains(anchor))
}

#[test]
fn every_link_and_anchor_leads_somewhere() {
    let pages = all_pages();
    let count: usize = pages.iter().map(|(_, text)| links(text).len()).sum();
    assert!(count > 300, "{count} links are too few to be all");
    let dead = pages.iter().flat_map(|(path, text)| dead_links(path, text));
    assert_none(&dead.collect::<Vec<_>>());
}

#[test]
fn canary_links_that_lead_nowhere_are_found() {
    let text = "# One\n[a](README.md) [b](docs/adr) [c](#one) [d](https://example.org/none)\n\
                [e](docs/play.md#random-traffic) [f](none.md) [g](#two) [h](docs/play.md#two)\n\
                [i](Makefile#one) ![j](docs/none.svg) `[k](none)`\n";
    let dead = dead_links("README.md", text);
    let named = [
        "none.md",
        "#two",
        "docs/play.md#two",
        "Makefile#one",
        "docs/none.svg",
    ];
    let expected = named.map(|target| format!("README.md: {target} leads nowhere"));
    assert_eq!(dead, expected);
    assert_eq!(
        dead_links("docs/play.md", "[a](../README.md) [b](README.md)").len(),
        1
    );
}
