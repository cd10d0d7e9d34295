//! Every type of message of RPC over RDMA, each way that it goes, between two devices in software
//! over a wire that loses 1 % of the frames, with markers, into a capture: for other programs to
//! look at. `--plain`: without loss and markers, which some of them cannot follow.
//!
//! ```text
//! cargo run --release -p rnic-rpcrdma --example every_type -- FILE HEADERS [--plain]
//! ```
//!
//! HEADERS gets a line for each message: `client` or `server`, then what `--headers` of
//! `nfs_server` writes.
//!
//! Every payload is compared, and the counters of both ends with each other. The client's counts of
//! RDMA_MSG, NOMSG, MSGP, DONE and ERROR are printed.

// Each program takes what it needs of it.
#[allow(unused)]
#[path = "../tests/devices/every_type.rs"]
mod every_type;
#[allow(unused)]
#[path = "../tests/devices/lossy.rs"]
mod lossy;
#[allow(unused)]
#[path = "../../../protocol/rpcrdma/tests/harness/program.rs"]
mod program;
#[allow(unused)]
#[path = "../tests/devices/serving.rs"]
mod serving;
#[allow(unused)]
#[path = "../tests/devices/world.rs"]
mod world;

use rnic_output::stdout::{complain, print};
use std::path::PathBuf;
use std::process::ExitCode;

/// Frames of each end that are lost.
const LOSS: f64 = 0.01;
const ROUNDS: u32 = 8;
const PLAIN: &str = "--plain";

/// The capture, the log of headers, and whether the wire is plain.
fn arguments() -> Option<(PathBuf, PathBuf, bool)> {
    let mut words = std::env::args_os().skip(1);
    let mut file = || words.next().filter(|word| word != PLAIN).map(PathBuf::from);
    let (capture, headers) = (file()?, file()?);
    let option = words.next();
    let is_known = option.as_ref().is_none_or(|word| word == PLAIN);
    (is_known && words.next().is_none()).then(|| (capture, headers, option.is_some()))
}

fn main() -> ExitCode {
    let Some((capture, headers, is_plain)) = arguments() else {
        complain("every_type FILE HEADERS [--plain]: name the capture and the log of headers");
        return ExitCode::from(2);
    };
    let loss = if is_plain { 0.0 } else { LOSS };
    let wire = lossy::Wire::new(loss, Some(&capture));
    let exchanged = every_type::exchange(wire, ROUNDS, !is_plain);
    let ends = ["client", "server"].into_iter().zip(&exchanged.headers);
    let log: String = ends
        .flat_map(|(end, lines)| lines.iter().map(move |line| format!("{end} {line}\n")))
        .collect();
    if let Err(error) = std::fs::write(&headers, log) {
        complain(&format!("{}: {error}", headers.display()));
        return ExitCode::FAILURE;
    }
    let line = |name: &str, counts: [u64; 5]| {
        format!("{name} {}", counts.map(|count| count.to_string()).join(" "))
    };
    let lines = [
        line("sent", exchanged.client.sent),
        line("received", exchanged.client.received),
    ];
    let text = format!("{}\n{}\nlost {}\n", lines[0], lines[1], exchanged.lost);
    match print(&text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
