//! The Rust version that `Cargo.toml` promises is enough for every locked package.
//!
//! Each package says itself what it needs (`rust-version`); here that is compared, on any
//! toolchain. `make test` builds with the promised version itself where it is installed.

use serde_json::{json, Value};
use std::process::Command;

/// `1.85` or `1.85.0`, as numbers.
fn version(text: &str) -> Vec<u32> {
    let number = |part: &str| part.parse().expect("a Rust version is numbers and dots");
    let mut parts: Vec<u32> = text.split('.').map(number).collect();
    parts.resize(3, 0);
    parts
}

/// The packages of `cargo metadata` that need more than this workspace promises.
fn too_new(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let ours = |package: &&Value| package["name"] == "rnic-testbench";
    let promised = packages.iter().find(ours).expect("it is in the workspace");
    let promised = version(promised["rust_version"].as_str().expect("it has one"));
    let needs_more = |package: &&Value| {
        let needed = package["rust_version"].as_str();
        needed.is_some_and(|needed| version(needed) > promised)
    };
    let name = |package: &Value| {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let (name, version) = (text("name"), text("version"));
        format!("{name} {version} needs Rust {}", text("rust_version"))
    };
    packages.iter().filter(needs_more).map(name).collect()
}

fn said(command: &mut Command) -> String {
    let output = command.output().expect("cargo and rustc run this test");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn no_locked_package_needs_a_newer_rust_than_is_promised() {
    let rustc = said(Command::new("rustc").arg("-vV"));
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    // What is built here is what is downloaded: packages of other platforms need not be.
    let metadata = said(
        Command::new(env!("CARGO"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["metadata", "--format-version", "1", "--locked", "--offline"])
            .args(["--filter-platform", host.expect("rustc names its host")]),
    );
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let found = too_new(&metadata);
    assert!(
        found.is_empty(),
        "Cargo.lock: {found:?}; `cargo update PACKAGE` finds an older version, \
         or a newer `rust-version` in Cargo.toml promises less"
    );
}

/// A package as `cargo metadata` lists it.
fn package(name: &str, version: &str, rust_version: Value) -> Value {
    json!({ "name": name, "version": version, "rust_version": rust_version })
}

#[test]
fn a_package_that_needs_more_is_named() {
    let metadata = json!({ "packages": [
        package("rnic-testbench", "0.1.0", json!("1.85")),
        package("silent", "1.0.0", Value::Null),
        package("same", "1.0.0", json!("1.85.0")),
        package("older", "1.0.0", json!("1.9")),
        package("newer", "2.1.0", json!("1.85.1")),
        package("newest", "3.0.0", json!("1.100")),
    ] });
    let expected = [
        "newer 2.1.0 needs Rust 1.85.1",
        "newest 3.0.0 needs Rust 1.100",
    ];
    assert_eq!(too_new(&metadata), expected);
}
