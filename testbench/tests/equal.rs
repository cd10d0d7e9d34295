//! `formal/equal.py` proves what is equal, and does not prove what is not.

use rnic_testbench::docs::workspace_root;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A counter that writes to a memory and shows a word of it.
const OLD: &str = "
module top(input clock, input reset, input [3:0] where, output [7:0] seen);
    reg [7:0] count; initial count = 8'h0;
    reg [7:0] memory[0:15];
    reg [7:0] word; initial word = 8'h0;
    always @(posedge clock) begin
        count <= reset ? 8'h0 : count + 8'h3;
        if (count[0] & ~reset) memory[count[7:4]] <= count;
        word <= memory[where];
    end
    assign seen = word;
endmodule
";

/// The same under other names, with a block of its own for the memory.
const SAME: &str = "
module top(input clock, input reset, input [3:0] where, output [7:0] seen);
    reg [7:0] tally; initial tally = 8'h0;
    wire running = ~reset;
    always @(posedge clock) if (reset) tally <= 8'h0; else tally <= tally + 8'h3;
    store kept(.clock(clock), .put(running & tally[0]), .value(tally), .at(where), .word(seen));
endmodule
module store(input clock, input put, input [7:0] value, input [3:0] at, output reg [7:0] word);
    reg [7:0] words[0:15];
    initial word = 8'h0;
    always @(posedge clock) begin
        if (put) words[value[7:4]] <= value;
        word <= words[at];
    end
endmodule
";

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("cargo's folder for tests");
    path
}

/// Exit status and output of a comparison of [`OLD`] with `new`.
fn compared(name: &str, new: &str) -> (Option<i32>, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let old = written(folder, &format!("old-{name}"), OLD);
    let new = written(folder, name, new);
    let python = workspace_root().join(".tools/venv/bin/python3");
    let output = Command::new(&python)
        .arg(workspace_root().join("formal/equal.py"))
        .args([old, new])
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}; run `make tools`", python.display()));
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into())
}

#[test]
fn names_and_hierarchy_do_not_count() {
    let (status, text) = compared("equal-same.v", SAME);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.starts_with("equal: 8 output bits"), "{text}");
}

#[test]
fn canary_each_single_change_is_found() {
    for (from, to) in [
        ("tally + 8'h3", "tally + 8'h5"),
        ("initial tally = 8'h0", "initial tally = 8'h1"),
        ("running & tally[0]", "running | tally[0]"),
        ("words[value[7:4]] <= value", "words[value[6:3]] <= value"),
        ("words[at]", "words[~at]"),
    ] {
        assert_eq!(SAME.matches(from).count(), 1, "{from}");
        let (status, text) = compared("equal-changed.v", &SAME.replace(from, to));
        assert_eq!(status, Some(1), "{from} -> {to}: {text}");
        assert!(text.contains("seen"), "{text}");
    }
}

#[test]
fn a_missing_file_is_an_error() {
    let tool = workspace_root().join("formal/equal.py");
    let python = workspace_root().join(".tools/venv/bin/python3");
    let output = Command::new(python)
        .arg(tool)
        .args(["none.v", "none.v"])
        .output();
    let output = output.expect("`make tools` installs it");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("none.v: no such file"));
}
