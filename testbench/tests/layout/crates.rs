//! What the crates of the workspace may bring along: their normal dependencies, and those of these.
use rnic_testbench::docs::{read, workspace_root};
use std::collections::{BTreeMap, BTreeSet};

/// Crates of the workspace by package name, with the names in their `[dependencies]`.
type Needs = BTreeMap<String, BTreeSet<String>>;

fn needs(members: &[String]) -> Needs {
    let manifest = |member: &String| {
        let text = read(&workspace_root().join(member).join("Cargo.toml"));
        let manifest: toml::Table = text.expect("a member").parse().expect("cargo reads it too");
        let name = manifest["package"]["name"].as_str().expect("a name");
        let mut tables = vec![manifest.get("dependencies")];
        let targets = manifest.get("target").and_then(toml::Value::as_table);
        let targets = targets.into_iter().flat_map(toml::Table::values);
        tables.extend(targets.map(|target| target.get("dependencies")));
        let tables = tables
            .into_iter()
            .flatten()
            .filter_map(toml::Value::as_table);
        let names = tables.flat_map(toml::Table::keys).cloned();
        (name.to_owned(), names.collect())
    };
    members.iter().map(manifest).collect()
}

/// All that `name` brings along, itself included.
fn brought(needs: &Needs, name: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(next) = open.pop() {
        open.extend(needs.get(&next).into_iter().flatten().cloned());
        all.insert(next);
    }
    all
}

/// A crate, what it must not bring along, and why.
const FORBIDDEN: [(&str, &[&str], &str); 7] = [
    (
        "rnic-model",
        &[
            "rnic-hdl",
            "rnic-hdl-tools",
            "rnic-macros",
            "rnic-sim",
            "rust-hdl",
        ],
        "what the hardware is compared with shares no code with it (ADR 10)",
    ),
    (
        "rnic-capture",
        &["rnic-model", "rnic-hdl", "rnic-sim"],
        "the model's parser does not choose what is played (ADR 38)",
    ),
    (
        "rnic-driver",
        &[
            "rnic-hdl",
            "rnic-sim",
            "rnic-model",
            "rnic-device",
            "rnic-testbench",
        ],
        "the driver knows no simulation",
    ),
    (
        "rnic-iwarp",
        &["rnic-abi", "rnic-driver", "rnic-hdl", "rnic-model"],
        "the protocol knows no device, and others can use it",
    ),
    (
        "rnic-peer",
        &[
            "rnic-iwarp",
            "rnic-tcp",
            "rnic-wire",
            "rnic-driver",
            "rnic-device",
            "rnic-model",
            "rnic-testbench",
        ],
        "the scripted peer shares no code with what it judges",
    ),
    (
        "rnic-device",
        &["rnic-testbench"],
        "a user's program brings no test bench (ADR 38)",
    ),
    (
        "rnic-examples",
        &["rnic-testbench"],
        "examples for users bring no test bench (ADR 38)",
    ),
];

#[test]
fn crates_bring_along_only_what_they_may() {
    let needs = needs(&super::members());
    for (name, forbidden, why) in FORBIDDEN {
        assert!(needs.contains_key(name), "{name} is no member");
        let brought = brought(&needs, name);
        let found: Vec<_> = forbidden
            .iter()
            .filter(|&&other| brought.contains(other))
            .collect();
        assert!(found.is_empty(), "{name} brings {found:?}: {why}");
    }
}

/// The device brings the hardware through the simulation: the search finds what is two steps away.
#[test]
fn canary_what_others_bring_is_found() {
    let needs = needs(&super::members());
    assert!(!needs["rnic-device"].contains("rust-hdl"));
    assert!(brought(&needs, "rnic-device").contains("rust-hdl"));
    assert!(
        needs["rnic-driver"].contains("vfio-ioctls"),
        "for Linux alone"
    );
}
