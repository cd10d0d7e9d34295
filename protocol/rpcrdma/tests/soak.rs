//! The soak within a second or two: every mode, with a cut after each step of a few calls.
// Each program takes what it needs of it.
#[allow(unused)]
mod harness;
#[path = "../examples/soak/run.rs"]
mod run;

use run::{soak, MODES};

/// RPC-001, RPC-002, RPC-006, RPC-010, RPC-013, RPC-016, RPC-032, RPC-033, RPC-037, RPC-039: all
/// payloads right, and nothing valid, lent or waiting at the end, whatever the order and wherever
/// the connection is cut.
#[test]
fn calls_of_every_size_end_well() {
    for seed in [11, 12] {
        for mode in MODES {
            println!("{}", soak(mode, 500, seed));
        }
    }
}
