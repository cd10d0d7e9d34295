//! What docs/peer.md says of case files is so.

use rnic_peer::script::{embedded, parse};
use std::path::Path;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/peer.md");
    std::fs::read_to_string(path).expect("it is there")
}

#[test]
fn the_example_of_a_case_file_is_one() {
    let page = page();
    let (_, example) = page.split_once("```toml\n").expect("it has an example");
    let (example, _) = example.split_once("```").expect("it ends");
    let cases = parse("docs/peer.md", example).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(cases.len(), 3);
}

#[test]
fn every_group_is_described() {
    let page = page();
    for case in embedded() {
        let row = format!("| `{}` |", case.group);
        assert!(page.contains(&row), "{row} is missing");
    }
}
