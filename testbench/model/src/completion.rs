//! Completion entries, words 0 to 6 as `rnic_abi::cqe` lays them out, and slots of the host ring.

use crate::mpa::Fpdu;
use crate::segment::{word, Head, Tagged, Untagged};
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
) -> [u32; 7] {
    let opcode = u32::from(segment.head.opcode);
    let first = word_0(KIND_RECEIVE, opcode, segment.qn, connection);
    [
        first,
        segment.msn,
        length,
        invalidated_stag,
        fpdu.sequence_end,
        pool_entry,
        0,
    ]
}

/// The last segment of a Read Response is placed; `pool_entry` held the read.
pub fn read_response(connection: u16, fpdu: &Fpdu, segment: &Tagged, pool_entry: u32) -> [u32; 7] {
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
        pool_entry,
        0,
    ]
}

/// Slot of a host frame: words 0 to 2 of its header, and the frame (`rnic_abi::host_ring`).
pub fn host_slot(frame: &[u8]) -> Vec<u8> {
    let header = [frame.len() as u32, 0, 0].into_iter();
    let header = header.flat_map(u32::to_le_bytes);
    header.chain(frame.iter().copied()).collect()
}

/// The connection stops with `error`; where a header can be trusted and is whole, with that.
pub fn error(connection: u16, fpdu: &Fpdu, error: StreamError) -> [u32; 7] {
    let (layer, error_type, code) = error.terminate();
    let first = word_0(KIND_ERROR, 0, 0, connection);
    let second = layer | error_type << 4 | code << 8 | (fpdu.ulpdu.len() as u32) << 16;
    let Some(head) = Head::trusted(fpdu) else {
        return [first, second, fpdu.sequence, 0, 0, 0, 0];
    };
    let number = |at: usize| word(&fpdu.ulpdu, at);
    let flags = u32::from(head.tagged)
        | u32::from(head.last) << 1
        | u32::from(head.ddp_version) << 2
        | u32::from(head.rdmap_version) << 4;
    // A tagged header ends with TO, 14 octets; an untagged one has QN, MSN and MO.
    let (qn, mo) = match head.tagged {
        true => (0, 0),
        false => (Untagged::qn_of(&fpdu.ulpdu) & 3, number(14)),
    };
    let first = first | u32::from(head.opcode) << 4 | qn << 8 | flags << 10;
    let [stag, high, low] = [2, 6, 10].map(number);
    [first, second, fpdu.sequence, stag, high, low, mo]
}
