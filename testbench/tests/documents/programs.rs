//! The programs of the examples in documents: each program and script that a command runs is there,
//! and knows the options it is given.
//!
//! Looked for as in [`commands`](crate::commands), with `target/release/` or without. What a
//! program knows is read from its sources, as no test builds it for that: the fields under
//! `#[arg(long)]`, and those of the structs of `shared` that it flattens. Values are not parsed,
//! short options and arguments without a name are not judged.
use crate::commands::{commands, packages};
use crate::{all_pages, assert_none};
use rnic_testbench::docs::{read, workspace_root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "host-driver/examples";
const BUILT: &str = "target/release/";

/// Options, and the structs that are flattened into them.
#[derive(Clone, Debug, Default)]
struct Options {
    long: BTreeSet<String>,
    flattened: BTreeSet<String>,
}

/// The Rust files in `folder` and below.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let text = paths.into_iter().map(|path| match path.is_dir() {
        true => sources(&path),
        false if path.extension().is_some_and(|kind| kind == "rs") => source(&path),
        false => String::new(),
    });
    text.collect()
}

fn source(path: &Path) -> String {
    read(path).expect("it was just listed")
}

/// The options that `text` defines for clap: a field after an attribute, as rustfmt writes them.
fn options_in(text: &str) -> Options {
    let mut options = Options::default();
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let mut attribute = line.to_owned();
        while attribute.starts_with("#[arg(") && !attribute.ends_with(")]") {
            let Some(more) = lines.next() else {
                break;
            };
            attribute += more;
        }
        let is_flattened = attribute == "#[command(flatten)]";
        let words = attribute.strip_prefix("#[arg(").unwrap_or_default();
        let mut words = words.trim_end_matches(")]").split(',').map(str::trim);
        let long = words.find(|word| *word == "long" || word.starts_with("long ="));
        if !is_flattened && long.is_none() {
            continue;
        }
        let field = lines.next().unwrap_or_default();
        let field = field.trim_start_matches("pub ").trim_end_matches(',');
        let (name, kind) = field.split_once(": ").unwrap_or((field, ""));
        match long.and_then(|long| long.split_once('=')) {
            _ if is_flattened => options.flattened.insert(kind.to_owned()),
            Some((_, name)) => options
                .long
                .insert(name.trim_matches([' ', '"']).to_owned()),
            None => options.long.insert(name.replace('_', "-")),
        };
    }
    options
}

/// The structs of `text` with their options, by name.
fn structs(text: &str) -> BTreeMap<String, Options> {
    let parts = text.split("\npub struct ").skip(1);
    let parts = parts.filter_map(|part| part.split_once(" {\n"));
    parts
        .map(|(name, body)| {
            let body = body.split("\n}").next().unwrap_or_default();
            (name.to_owned(), options_in(body))
        })
        .collect()
}

/// What documents may run.
struct Programs {
    /// All programs of the workspace.
    all: BTreeSet<String>,
    /// Those of the examples, with the long options of each.
    examples: BTreeMap<String, BTreeSet<String>>,
}

impl Programs {
    fn of_workspace() -> Self {
        let mut all = BTreeSet::new();
        for (name, folder) in packages() {
            all.extend(named_programs(&folder).into_keys());
            if folder.join("src/main.rs").is_file() {
                all.insert(name);
            }
            let others = fs::read_dir(folder.join("src/bin")).into_iter().flatten();
            let others = others.flatten().map(|other| other.path());
            let names = others.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
            all.extend(names);
        }
        let folder = workspace_root().join(EXAMPLES);
        let shared = structs(&sources(&folder.join("shared")));
        let examples = named_programs(&folder).into_iter().map(|(name, path)| {
            let text = match path.file_name().is_some_and(|file| file == "main.rs") {
                true => sources(path.parent().expect("a folder")),
                false => source(&path),
            };
            (name, whole(options_in(&text), &shared))
        });
        let examples = examples.collect();
        Self { all, examples }
    }
}

/// All long options of a program that flattens structs of `shared`.
fn whole(options: Options, shared: &BTreeMap<String, Options>) -> BTreeSet<String> {
    let flattened = options.flattened.into_iter();
    let known = flattened.filter_map(|name| shared.get(&name).cloned());
    let mut long = options.long;
    long.extend(known.flat_map(|options| whole(options, shared)));
    long
}

/// The programs that a manifest names, with their first files.
fn named_programs(folder: &Path) -> BTreeMap<String, PathBuf> {
    let manifest: toml::Table = source(&folder.join("Cargo.toml"))
        .parse()
        .expect("cargo reads it too");
    let programs = manifest.get("bin").and_then(toml::Value::as_array);
    let text = |value: &toml::Value| value.as_str().expect("text").to_owned();
    let programs = programs.into_iter().flatten();
    programs
        .map(|program| {
            let name = text(&program["name"]);
            let path = program.get("path").map(text);
            let path = path.unwrap_or_else(|| format!("src/bin/{name}.rs"));
            (name, folder.join(path))
        })
        .collect()
}

/// The program that a command runs, if it is one of this project, and its arguments. The flag: it
/// has to be one.
fn program(words: &[String]) -> Option<(&str, &[String], bool)> {
    if words[0] == "cargo" {
        let at = words.iter().position(|word| word == "--bin")?;
        let name = words.get(at + 1)?;
        let end = words.iter().position(|word| word == "--");
        let is_name = name.starts_with(|first: char| first.is_ascii_lowercase());
        return Some((name, &words[end.unwrap_or(words.len())..], is_name));
    }
    let is_built = |word: &&String| word.starts_with(BUILT);
    let built = words.iter().find(is_built);
    let at = words.iter().position(|word| word.starts_with(BUILT));
    let name = built.map_or(words[0].as_str(), |word| &word[BUILT.len()..]);
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase());
    let arguments = &words[at.unwrap_or(0) + 1..];
    Some((name, arguments, built.is_some() && is_name))
}

/// What a command runs that is not there, and options that are none.
fn missing(words: &[String], programs: &Programs) -> Vec<String> {
    let is_script = |word: &&String| {
        word.ends_with(".sh") && word.contains('/') && word.starts_with(char::is_alphabetic)
    };
    let scripts = words.iter().filter(is_script);
    let scripts = scripts.filter(|script| !workspace_root().join(script).is_file());
    let mut missing: Vec<String> = scripts.map(|script| format!("script {script}")).collect();
    let Some((name, arguments, is_program)) = program(words) else {
        return missing;
    };
    if is_program && !programs.all.contains(name) {
        missing.push(format!("program {name}"));
    }
    if let Some(known) = programs.examples.get(name) {
        let options = arguments.iter().filter_map(|word| word.strip_prefix("--"));
        let options = options.filter_map(|option| option.split('=').next());
        let options = options.filter(|option| !option.is_empty() && *option != "help");
        let unknown = options.filter(|option| !known.contains(*option));
        missing.extend(unknown.map(|option| format!("option --{option} of {name}")));
    }
    missing
}

#[test]
fn what_documents_run_is_there() {
    let programs = Programs::of_workspace();
    let (mut seen, mut findings) = (0, Vec::new());
    for (path, page) in all_pages() {
        for words in commands(&page) {
            let name = program(&words).map(|(name, ..)| name);
            seen += usize::from(name.is_some_and(|name| programs.examples.contains_key(name)));
            let missing = missing(&words, &programs).into_iter();
            findings.extend(missing.map(|what| format!("{path}: no {what}: {}", words.join(" "))));
        }
    }
    assert!(seen > 20, "{seen} commands are too few to be all");
    assert_none(&findings);
}

#[test]
fn canary_programs_and_options_that_are_not_there_are_found() {
    let programs = Programs::of_workspace();
    let missing = |command: &str| {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        missing(&words, &programs)
    };
    for good in [
        "target/release/rping sim:model,unix:a -s --own 192.0.2.1/24 --peer-to-peer",
        "nfs_copy DEVICE --inline=4096 -a ADDR list /",
        "rpc_ping --program-version 3 --help",
        "cargo run -p rnic-examples --bin receive -- --host 1",
        "target/release/rnic play --whatever a.pcap",
        "host-driver/examples/peer.sh --case NAME",
    ] {
        assert_eq!(missing(good), Vec::<String>::new(), "{good}");
    }
    for (bad, what) in [
        ("target/release/ring sim:model,unix:a", "program ring"),
        ("cargo run --bin none -- x", "program none"),
        ("rping sim:rtl,unix:a --peers", "option --peers of rping"),
        ("rping --credits 3", "option --credits of rping"),
        (
            "nfs_copy --inline-octets=9",
            "option --inline-octets of nfs_copy",
        ),
        (
            "cargo run --bin bandwidth -- --deep 3",
            "option --deep of bandwidth",
        ),
        (
            "host-driver/examples/none.sh",
            "script host-driver/examples/none.sh",
        ),
    ] {
        assert_eq!(missing(bad), [what], "{bad}");
    }
}
