//! The example `receive` over a served capture, against the model.

use crate::server::{with_each, Server};
use rnic_effort::skipped;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What a program prints, if it succeeds.
fn output(command: &mut Command) -> String {
    let output = command.output().expect("cargo has built it");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// The lines of `receive` for the flows of one host, as the model has them.
fn expected(report: &Value, host: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let mut lines = Vec::new();
    for flow in report["flows"].as_array().expect("flows") {
        if !text(&flow["dst"]).starts_with(host) {
            continue;
        }
        for region in flow["regions"].as_array().expect("regions") {
            let (stag, sha256) = (text(&region["stag"]), text(&region["sha256"]));
            let octets = &region["length"];
            lines.push(format!("region {stag}: {octets} octets, sha256 {sha256}"));
        }
        for receive in flow["receives"].as_array().expect("receives") {
            let [qn, msn, octets] = ["qn", "msn", "length"].map(|name| &receive[name]);
            let sha256 = text(&receive["sha256"]);
            lines.push(format!(
                "queue {qn} message {msn}: {octets} octets, sha256 {sha256}"
            ));
        }
    }
    lines
}

#[test]
fn receive_has_the_memory_and_the_messages_of_the_model() {
    let receive = Path::new(env!("CARGO_BIN_EXE_rnic")).with_file_name("receive");
    if !receive.exists() {
        let name = "receive_has_the_memory_and_the_messages_of_the_model";
        return skipped(
            name,
            "the example receive, which `cargo test --workspace` builds,",
        );
    }
    with_each(move |dut| {
        let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/rping-v4-crc.pcap");
        let report = output(
            Command::new(env!("CARGO_BIN_EXE_rnic"))
                .args(["play", "--dut", "model", "--json", "-"])
                .arg(&capture),
        );
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let server = Server::start_with_capture(dut, &capture);
        // Host 0 of the capture, twice: each client has all of it.
        for round in 0..2 {
            let mut command = Command::new(&receive);
            let printed = output(command.arg(server.address()).arg(&capture));
            let mut lines = printed.lines();
            let flow = lines.next().expect("a flow");
            let (_, destination) = flow.split_once(" > ").expect("two addresses");
            let (host, _) = destination.rsplit_once(':').expect("a port");
            let found: Vec<&str> = lines
                .map(str::trim)
                .filter(|line| line.contains("sha256"))
                .collect();
            let expected = expected(&report, host);
            assert!(expected.len() > 10, "{expected:?}");
            assert_eq!(found, expected, "client {round}");
        }
    });
}
