//! Some of the attacks on the verilated core, of each layer.

use crate::hostile::play_all;
use crate::hostile_ddp::{SHORT_CASES, TAGGED_CASES, UNTAGGED_CASES};
use crate::hostile_ground::Role;
use crate::hostile_mpa::{CRC_CASES, MARKER_CASES};
use crate::hostile_rdmap::{
    OPCODE_CASES, PROTECTION_CASES, READ_CASES, RESPONSE_CASES, SHAPE_CASES,
};

/// MPA-054, MPA-055, DDP-036, DDP-043, DDP-045, RDMAP-009, RDMAP-011, RDMAP-012, RDMAP-014,
/// RDMAP-020, RDMAP-021: the hardware's errors reach the wire and the queue pair as the model's do.
#[test]
fn attacks_end_in_the_same_way_at_the_verilated_core() {
    let cases = [
        &CRC_CASES[7],
        &MARKER_CASES[1],
        &SHORT_CASES[1],
        &TAGGED_CASES[8],
        &UNTAGGED_CASES[4],
        &UNTAGGED_CASES[13],
        &OPCODE_CASES[2],
        &PROTECTION_CASES[1],
        &RESPONSE_CASES[3],
        &READ_CASES[3],
        &SHAPE_CASES[0],
    ];
    play_all("rtl", cases, &[Role::Responder]);
}
