//! Layout as a test: the files of a crate import each other without a circle, as do the driver's
//! rooms, which are few; crates bring along only what they may; and the list of files that one FPDU
//! passes is true.
//!
//! ```text
//!  src/*.rs --> modules: definitions, bindings, paths --> arrows from file to file --> circles
//! ```
//!
//! What counts:
//!
//! - A file is a node. It has an arrow to each file that defines a name that it uses, by a `use` or
//!   by a path in its code, macro arguments included. Re-exports are followed to the definition.
//! - A re-export (`pub use`, `pub(crate) use`, ...) is not a use: a `mod.rs` that only declares and
//!   re-exports its children is a face without arrows. Its arrow appears if its own code uses the
//!   name too.
//! - `mod x;` is no arrow. A child that uses `super::Type` of a parent whose code uses the child
//!   makes a circle.
//! - Code under `#[cfg(test)]` is left out: tests may look at everything.
//!
//! What is not seen: names that only a method call brings in (the type's name draws the arrow), and
//! paths that a macro makes of its arguments. A name that a macro defines counts as defined in the
//! file of the module where it is looked up. Cargo refuses circles of crates.
mod crates;
mod graph;
mod rooms;
mod source;

use graph::{circles, Circle};
use rnic_testbench::docs::{read, relative, rust_files, workspace_root};
use rooms::{count, room_arrows, room_circles, rooms};
use source::{load, Crate};
use std::collections::{BTreeMap, BTreeSet};

/// The folders of the workspace's crates.
fn members() -> Vec<String> {
    let text = read(&workspace_root().join("Cargo.toml")).expect("the workspace has a manifest");
    let manifest: toml::Table = text.parse().expect("cargo reads it too");
    let members = manifest["workspace"]["members"].as_array();
    let members = members.expect("a list").iter();
    let member = |member: &toml::Value| member.as_str().expect("a folder").to_owned();
    members.map(member).collect()
}

/// The sources of every crate of the workspace, by crate.
fn workspace_sources() -> BTreeMap<String, BTreeMap<String, String>> {
    let files = rust_files().expect("the project's folders are there");
    let mut crates = BTreeMap::<_, BTreeMap<_, _>>::new();
    for member in members() {
        let folder = format!("{member}/src/");
        for path in &files {
            if let Some(name) = relative(path).strip_prefix(&folder) {
                let text = read(path).expect("it was just listed");
                let sources = crates.entry(folder.clone()).or_default();
                sources.insert(name.to_owned(), text);
            }
        }
    }
    crates
}

/// Files that a reader of one in-order FPDU opens, `messages.rs` included.
const FPDU_FILES_MAX: usize = 40;

/// The files of the table in docs/fpdu.md, below `hdl/rnic/src`.
fn files_of_an_fpdu(page: &str) -> Vec<String> {
    let (mut room, mut files) = ("", Vec::new());
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        if cells[2].ends_with(".rs") {
            room = if cells[1].is_empty() { room } else { cells[1] };
            files.push(format!("{room}/{}", cells[2]));
        }
    }
    files
}

#[test]
fn one_fpdu_is_followed_in_forty_files() {
    let page = read(&workspace_root().join("docs/fpdu.md")).expect("it is there");
    let files = files_of_an_fpdu(&page);
    assert!(files.len() > 30, "{files:?}");
    assert!(
        files.len() < FPDU_FILES_MAX,
        "{} and messages.rs",
        files.len()
    );
    for file in &files {
        let path = workspace_root().join("hdl/rnic/src").join(file);
        assert!(
            path.is_file(),
            "docs/fpdu.md names {file}, which is not there"
        );
    }
}

#[test]
fn no_import_circle_in_the_workspace() {
    let crates = workspace_sources();
    // The users' examples are a file each.
    let folders = members();
    let has_sources = |member: &&String| workspace_root().join(member).join("src").is_dir();
    let expected = folders.iter().filter(has_sources).count();
    assert_eq!((crates.len(), expected + 1), (expected, folders.len()));
    let (mut found, mut arrows) = (Vec::new(), 0);
    for (folder, sources) in &crates {
        let loaded = load(sources);
        let unread: Vec<_> = unread(&loaded, sources).collect();
        assert_eq!(unread, Vec::<&String>::new(), "{folder}: no module");
        let graph = loaded.arrows();
        arrows += graph.values().map(BTreeMap::len).sum::<usize>();
        for circle in circles(&graph) {
            found.push(describe(&circle, folder));
        }
    }
    assert!(arrows > 300, "{arrows} arrows are too few to be all");
    let count = found.len();
    assert!(found.is_empty(), "{count} circles:\n{}", found.join("\n"));
}

/// Files that no `mod` leads to: the test would be blind to them.
fn unread<'a>(
    loaded: &'a Crate,
    sources: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = &'a String> {
    let read: BTreeSet<&String> = loaded.files.iter().collect();
    sources.keys().filter(move |name| !read.contains(name))
}

/// A circle, one line an arrow: who takes which names from whom.
fn describe(circle: &Circle, folder: &str) -> String {
    let arrow = |(from, to, names): &(String, String, BTreeSet<String>)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("  {folder}{from} -> {folder}{to}: {}", names.join(", "))
    };
    let lines: Vec<String> = circle.arrows.iter().map(arrow).collect();
    format!("{} files\n{}", circle.files.len(), lines.join("\n"))
}

/// Folders of the driver whose rooms import each other in one direction; how many rooms stand side
/// by side in each, and how many imports are between them, at most.
const DRIVER_FOLDERS: [(&str, usize, usize); 2] = [("", 8, 17), ("device/", 10, 40)];

#[test]
fn the_drivers_rooms_are_few_and_import_each_other_in_one_direction() {
    let crates = workspace_sources();
    let sources = &crates["host-driver/src/"];
    let arrows = load(sources).arrows();
    for (folder, rooms_max, imports_max) in DRIVER_FOLDERS {
        let (rooms, between) = (rooms(folder, sources.keys()), room_arrows(folder, &arrows));
        let (count, imports) = (rooms.len(), count(&between));
        let inside = format!("host-driver/src/{folder}");
        println!("{inside}: {count} rooms, {imports} imports");
        assert!(count <= rooms_max, "{inside} has {count} rooms: {rooms:?}");
        assert!(imports <= imports_max, "{inside}: {imports} imports");
        assert!(count > 3 && imports > 3, "{inside}: too few to be all");
        let found = room_circles(folder, &arrows);
        let found: Vec<_> = found
            .iter()
            .map(|circle| describe(circle, &inside))
            .collect();
        let circles = found.len();
        assert!(found.is_empty(), "{circles} circles:\n{}", found.join("\n"));
    }
}

/// No two files import each other, but their folders do.
#[test]
fn canary_two_rooms_that_import_each_other_are_found_though_no_files_do() {
    let sources = [
        ("lib.rs", "mod a; mod b; pub use a::x::X;"),
        ("a/mod.rs", "pub mod x; pub mod y;"),
        ("a/x.rs", "use crate::b::z::Z; pub struct X(Z);"),
        ("a/y.rs", "pub struct Y;"),
        ("b.rs", "pub mod z;"),
        ("b/z.rs", "use crate::a::y::Y; pub struct Z(Y);"),
    ];
    assert!(circles_of(&sources).is_empty());
    let sources = sources.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let sources = sources.into();
    let arrows = load(&sources).arrows();
    let found = room_circles("", &arrows);
    assert_eq!(found.len(), 1);
    assert_eq!(describe(&found[0], ""), "2 files\n  a -> b: Z\n  b -> a: Y");
    assert_eq!(rooms("", sources.keys()), ["a", "b"].into());
    assert_eq!(rooms("a/", sources.keys()), ["x", "y"].into());
    assert!(room_circles("a/", &arrows).is_empty());
}

/// The circles of a crate given as text, each as its files.
fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let sources = files.iter().copied();
    let sources = sources.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let loaded = load(&sources.collect());
    let circles = circles(&loaded.arrows());
    circles.into_iter().map(|circle| circle.files).collect()
}

const MODULES: (&str, &str) = ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;");

#[test]
fn canary_two_files_that_import_each_other_are_found_with_their_names() {
    let sources = [
        MODULES,
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "use super::a::A; pub struct B(Option<Box<A>>);"),
    ];
    assert_eq!(circles_of(&sources), [["a.rs", "b.rs"]]);
    let sources = sources.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let circle = circles(&load(&sources.into()).arrows()).remove(0);
    let text = describe(&circle, "x/");
    assert_eq!(
        text,
        "2 files\n  x/a.rs -> x/b.rs: B\n  x/b.rs -> x/a.rs: A"
    );
}

#[test]
fn canary_a_longer_circle_is_found_whole_and_others_stay_out_of_it() {
    let found = circles_of(&[
        ("main.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::{self, x::Y as Z}; use crate::d::D;"),
        ("b/mod.rs", "pub mod x;"),
        ("b/x.rs", "pub struct Y(crate::c::C);"),
        ("c.rs", "use crate::a; pub struct C; fn f() { a::g(); }"),
        ("d.rs", "pub struct D;"),
    ]);
    assert_eq!(found, [["a.rs", "b/x.rs", "c.rs"]]);
}

#[test]
fn imports_in_one_direction_are_no_circle() {
    let found = circles_of(&[
        MODULES,
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "pub struct B; impl B { fn a(self) {} }"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

/// `a.rs` finds `B` through the face, which is no node of its own.
#[test]
fn re_exports_neither_make_a_circle_nor_hide_one() {
    let b = ("b.rs", "pub struct B;");
    let a = ("a.rs", "use super::B; pub struct A(B);");
    assert!(circles_of(&[MODULES, a, b]).is_empty());
    let b = ("b.rs", "pub struct B(Vec<crate::A>);");
    assert_eq!(circles_of(&[MODULES, a, b]), [["a.rs", "b.rs"]]);
    let glob = ("lib.rs", "mod a; mod b; pub use a::*; pub use b::*;");
    assert_eq!(circles_of(&[glob, a, b]), [["a.rs", "b.rs"]]);
}

#[test]
fn a_parent_that_uses_its_child_is_no_face() {
    let child = ("a.rs", "use super::Size; pub struct A(Size);");
    let face = ("lib.rs", "mod a; pub use a::A; pub struct Size(u32);");
    assert!(circles_of(&[face, child]).is_empty());
    let used = [
        "mod a; pub use a::A; pub struct Size(u32); fn f(a: A) {}",
        "mod a; pub struct Size(u32); fn f(a: a::A) {}",
        "mod a; use a::A; pub struct Size(u32);",
    ];
    for parent in used {
        let found = circles_of(&[("lib.rs", parent), child]);
        assert_eq!(found, [["a.rs", "lib.rs"]], "{parent}");
    }
}

#[test]
fn paths_in_code_and_in_macros_count() {
    for code in [
        "fn f() { crate::b::g(); }",
        "fn f() { println!(\"{}\", crate::b::g()); }",
        "fn f() -> crate::b::Local { panic!() }",
        "use super::b; fn f() { let _ = b::g; }",
        "fn f() { use crate::b::g; g(); }",
        "use crate::b::*; fn f() { g(); }",
        "mod inner { fn f() { crate::b::g(); } }",
    ] {
        let a = format!("{code} pub struct A;");
        let b = "use crate::a::A; pub fn g() {} pub struct Local;";
        let found = circles_of(&[MODULES, ("a.rs", &a), ("b.rs", b)]);
        assert_eq!(found, [["a.rs", "b.rs"]], "{code}");
    }
}

#[test]
fn tests_may_look_at_everything() {
    let a = "use crate::b::B; pub struct A(B); #[cfg(test)] pub mod testing;";
    let b = "pub struct B; #[cfg(test)] mod tests { use crate::a::A; } \
             impl B { #[cfg(test)] fn a() -> crate::a::A { panic!() } }";
    let testing = "use crate::b::B; fn f() { crate::a::g(); }";
    let files = [MODULES, ("a.rs", a), ("b.rs", b), ("a/testing.rs", testing)];
    assert!(circles_of(&files).is_empty());
}

#[test]
fn a_file_without_a_module_is_noticed() {
    let sources = [("lib.rs", "mod a;"), ("a.rs", ""), ("b.rs", "")];
    let sources = sources.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let sources = sources.into();
    let loaded = load(&sources);
    assert_eq!(unread(&loaded, &sources).collect::<Vec<_>>(), ["b.rs"]);
}
