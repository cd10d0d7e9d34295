//! Completion entries, words 0 to 5 as `rnic_abi::cqe` lays them out.

use crate::model::ddp::{Head, Tagged, Untagged};
use crate::model::mpa::Fpdu;
use rnic_abi::cqe::{KIND_ERROR, KIND_READ_RESPONSE, KIND_RECEIVE};
use rnic_abi::errors::StreamError;

fn word_0(kind: u32, opcode: u32, qn: u32, connection: u16) -> u32 {
    kind | opcode << 4 | qn << 8 | u32::from(connection) << 16
}

/// An untagged message of `length` octets is whole.
pub fn receive(
    connection: u16,
    fpdu: &Fpdu,
    segment: &Untagged,
    length: u32,
    invalidated_stag: u32,
    pool_entry: u32,
) -> [u32; 6] {
    let opcode = u32::from(segment.head.opcode);
    let first = word_0(KIND_RECEIVE, opcode, segment.qn, connection);
    [
        first,
        segment.msn,
        length,
        invalidated_stag,
        fpdu.sequence_end,
        pool_entry,
    ]
}

/// The last segment of a Read Response is placed.
pub fn read_response(connection: u16, fpdu: &Fpdu, segment: &Tagged) -> [u32; 6] {
    let first = word_0(
        KIND_READ_RESPONSE,
        u32::from(segment.head.opcode),
        0,
        connection,
    );
    let end = segment.offset.wrapping_add(segment.payload.len() as u64);
    [
        first,
        segment.stag,
        end as u32,
        (end >> 32) as u32,
        fpdu.sequence_end,
        0,
    ]
}

/// The connection stops with `error`.
pub fn error(connection: u16, fpdu: &Fpdu, error: StreamError) -> [u32; 6] {
    let (layer, error_type, code) = error.terminate();
    // Opcode and QN are reported where the head can be trusted and is whole.
    let head = Head::trusted(fpdu);
    let opcode = head.map_or(0, |head| u32::from(head.opcode));
    let qn = head
        .filter(|head| !head.tagged)
        .map_or(0, |_| Untagged::qn_of(&fpdu.ulpdu) & 3);
    let second = layer | error_type << 4 | code << 8 | (fpdu.ulpdu.len() as u32) << 16;
    let first = word_0(KIND_ERROR, opcode, qn, connection);
    [first, second, fpdu.sequence, 0, fpdu.sequence_end, 0]
}
