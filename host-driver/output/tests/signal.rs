//! What a handler of signals does, in a process of its own: it removes all temporary files.

use rnic_output::temporary::{remove_all, TemporaryFolder};
use rnic_output::Claims;
use std::fs;

#[test]
fn a_signal_leaves_no_temporary_file() {
    let place = tempfile::tempdir().expect("a folder");
    let count = || fs::read_dir(place.path()).expect("a folder").count();
    let path = place.path().join("report");
    let mut output = Claims::new().output("--json", &path).expect("room");
    output.write(b"part").expect("room");
    let folder = TemporaryFolder::new_in(place.path()).expect("room");
    fs::write(folder.path().join("wave.fst"), "part").expect("room");
    assert_eq!(count(), 2);
    remove_all();
    assert_eq!(count(), 0);
}
