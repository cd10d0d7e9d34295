//! A test in a process of its own: nothing else allocates there, or has its network.

use std::process::{Command, Stdio};

/// Set in that process.
const INSIDE: &str = "FERROWARP_TEST_ALONE";

/// Whether this is that process. Otherwise the test that calls this has been run in it, by
/// `command` and its arguments, or directly without one, and was right.
///
/// # Panics
/// It was not.
pub fn is_alone(command: &[&str]) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let test = std::env::current_exe().expect("it runs");
    let test = test.to_str().expect("a path of letters");
    let name = std::thread::current().name().expect("a test").to_owned();
    let words = [command, &[test, "--exact", &name, "--nocapture"]].concat();
    // What it says of its effort is repeated at the end of all tests: its errors are those of here.
    let output = Command::new(words[0])
        .args(&words[1..])
        .env(INSIDE, "1")
        .stderr(Stdio::inherit())
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    let is_right = output.status.success() && text.contains("1 passed");
    assert!(is_right, "{name}, alone: {text}");
    false
}
