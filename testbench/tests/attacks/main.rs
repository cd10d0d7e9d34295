//! Attacks by a peer or by a third party on the path, each through the hardware at W = 64 and
//! through the model, which must agree.
//!
//! ```text
//!  a row: frames of the attack -> good traffic after it -> 44 frames of another connection
//!              |                        |                            |
//!  asserted: error record, counter   nothing placed if stopped,   all placed and completed, in
//!            no other octet written  else all of it               the usual number of cycles
//! ```
//!
//! A row is a test and a line of `docs/security.md`; the table there is written from them
//! (`make generate`), and a test holds it against them.
//!
//! - [`table`]: what a row is, and how it is played.
//! - [`scene`]: the device, three connections, their regions and buffers with guards around them.
//! - [`framing`], [`tags`], [`reads`], [`untagged`], [`revocation`], [`tcp`], [`link`],
//!   [`exhaustion`], [`neighbours`]: the rows.
//! - [`bare`], [`host_side`], [`completion_queues`], [`state`], [`reuse`], [`reset`], [`events`],
//!   [`reports`]: a device without a player; what only its wire and host can do, what its driver
//!   reads of a connection, who gets the id of a closed one, what resets it, what it reports to a
//!   TCP sender, and what it reports of frames.

mod scene;
#[macro_use]
mod table;
mod framing;
mod tags;
mod reads;
mod untagged;
mod revocation;
mod tcp;
mod link;
mod memory;
mod exhaustion;
mod neighbours;
mod bare;
mod completion_queues;
mod host_side;
mod state;
mod reuse;
mod reset;
mod events;
mod reports;

use rnic_abi::errors::{self, StreamError};
use rnic_testbench::docs::security::Answer;
use rnic_testbench::docs::{check, security};
use table::Attack;

const FAMILIES: [&[Attack]; 9] = [
    framing::ROWS,
    tags::ROWS,
    reads::ROWS,
    untagged::ROWS,
    revocation::ROWS,
    tcp::ROWS,
    link::ROWS,
    exhaustion::ROWS,
    neighbours::ROWS,
];

/// DDP-046: there is an attack for each cause of an error, and the record it must give. No peer can
/// cause an overflow of a completion queue, only the driver ([`completion_queues`]).
#[test]
fn every_error_of_a_stream_is_played() {
    let of_peers = |error: &StreamError| *error != StreamError::CqOverflow;
    for error in errors::ALL.into_iter().filter(of_peers) {
        let stops = |attack: &&Attack| attack.answer == Answer::Stops(error);
        let played = FAMILIES.into_iter().flatten().find(stops);
        assert!(played.is_some(), "{}", error.name());
    }
}

#[test]
fn the_security_document_lists_the_attacks_that_are_played() {
    let attacks = FAMILIES.into_iter().flatten();
    let texts: Vec<(&Attack, String)> = attacks.map(|attack| (attack, attack.text())).collect();
    let rows: Vec<security::Row> = texts
        .iter()
        .map(|(attack, text)| security::Row {
            family: attack.family(),
            test: attack.test,
            text,
            answer: attack.answer,
        })
        .collect();
    let text = security::text(&rows).unwrap_or_else(|problem| panic!("{problem}"));
    if let Err(difference) = check("security.md", &text) {
        panic!("{difference}");
    }
}
