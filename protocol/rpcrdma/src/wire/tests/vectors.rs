//! One message for each figure of RFC 5666 and each form of its header, as words.

/// The transaction of all of them.
pub const XID: u32 = 0x1122_3344;
/// Their credits.
pub const CREDITS: u32 = 0x20;

/// A call of NFSv3 with AUTH_NONE up to its arguments: ten words.
const fn call(procedure: u32) -> [u32; 10] {
    [XID, 0, 2, 100_003, 3, procedure, 0, 0, 0, 0]
}

/// A reply that succeeds up to its results: six words.
const REPLY: [u32; 6] = [XID, 1, 0, 0, 0, 0];
/// A file handle of 32 octets with its count.
const HANDLE: [u32; 9] = [32, 1, 2, 3, 4, 5, 6, 7, 8];
/// No attributes, before and after.
const NO_WCC: [u32; 2] = [0, 0];

/// The words of a message, from parts.
fn words(parts: &[&[u32]]) -> Vec<u8> {
    parts
        .concat()
        .into_iter()
        .flat_map(u32::to_be_bytes)
        .collect()
}

/// A name and the octets of its message.
type Vector = (&'static str, Vec<u8>);

const MSG: [u32; 4] = [XID, 1, CREDITS, 0];
const NOMSG: [u32; 4] = [XID, 1, CREDITS, 1];
const MSGP: [u32; 4] = [XID, 1, CREDITS, 2];
const DONE: [u32; 4] = [XID, 1, CREDITS, 3];
const ERROR: [u32; 4] = [XID, 1, CREDITS, 4];
/// No chunks at all.
const NONE: [u32; 3] = [0, 0, 0];
/// Two segments, of a handle each; the second one is at the end of the address space.
const FIRST: [u32; 4] = [0xaabb_cc01, 0x1000, 0, 0x10];
const LAST: [u32; 4] = [0xaabb_cc02, 0x0800, 0xffff_ffff, 0xffff_f800];
/// The second one with nine octets in it, and with none.
const FILLED: [u32; 4] = [0xaabb_cc02, 0x0009, 0xffff_ffff, 0xffff_f800];
const UNUSED: [u32; 4] = [0xaabb_cc02, 0, 0xffff_ffff, 0xffff_f800];

/// A WRITE up to the count of its data.
fn write() -> Vec<u32> {
    [call(7).as_slice(), &HANDLE, &[0, 0, 0x1005, 2]].concat()
}

/// Where its data is.
const POSITION: u32 = 96;

/// The results of a READ up to the count of its data.
fn read_ok() -> Vec<u32> {
    [REPLY.as_slice(), &[0, 0, 0x1009, 1]].concat()
}

/// Sections 3.1, 3.8 and 4.1: messages with their items in chunks, or without.
fn items() -> Vec<Vector> {
    let read = [call(6).as_slice(), &HANDLE, &[0, 0, 0x1800]].concat();
    let write_ok = [REPLY.as_slice(), &[0], &NO_WCC, &[0x1005, 2, 7, 7]].concat();
    let (offer, reads) = ([0, 1, 2], [1, POSITION]);
    let rest = [1, POSITION, 0xaabb_cc02, 5, 0, 0x2010];
    let call_read = words(&[&MSG, &offer, &FIRST, &LAST, &[0, 0], &read]);
    let reply_read = [&offer[..], &FIRST, &FILLED, &[0, 0]].concat();
    let call_write = [&reads[..], &FIRST, &rest, &NONE].concat();
    let reply_list = [&[1, 44][..], &FIRST, &[1, 44], &FILLED, &NONE].concat();
    let layout = [
        &reads[..],
        &FIRST,
        &[0, 1, 1],
        &LAST,
        &[0, 1, 1, 9, 8, 7, 6],
    ]
    .concat();
    vec![
        ("3.1 short call", words(&[&MSG, &NONE, &call(1), &HANDLE])),
        (
            "3.1 short reply",
            words(&[&MSG, &NONE, &REPLY, &[0], &[5; 21]]),
        ),
        ("3.8 call with write chunks", call_read),
        (
            "3.8 reply after RDMA Write",
            words(&[&MSG, &reply_read, &read_ok(), &[0x1009]]),
        ),
        (
            "3.8 call with read chunks",
            words(&[&MSG, &call_write, &write(), &[0x1005]]),
        ),
        ("3.8 reply of that call", words(&[&MSG, &NONE, &write_ok])),
        (
            "3.8 reply with read chunks",
            words(&[&MSG, &reply_list, &read_ok(), &[0x1009]]),
        ),
        ("3.8 done", words(&[&DONE])),
        (
            "4.1 call with chunk lists",
            words(&[&MSG, &layout, &write(), &[0x1000]]),
        ),
    ]
}

/// Section 3.9: the count ends at 132 octets, and the buffers of the server are of 256, so that
/// there are 124 of pad.
fn padded() -> Vec<Vector> {
    let padding = [&MSGP[..], &[256, 128], &NONE].concat();
    let (count, data) = ([131], [0x4444_4444; 33]);
    vec![
        (
            "3.9 padded call",
            words(&[&padding, &write(), &count, &[0; 31], &data]),
        ),
        (
            "3.9 unpadded call",
            words(&[&MSG, &NONE, &write(), &count, &data]),
        ),
    ]
}

/// Sections 5.1 and 5.2: messages that are chunks.
fn long() -> Vec<Vector> {
    let (zero, item) = ([1, 0], [1, 0x1000]);
    let two = [&zero[..], &FIRST, &zero, &LAST, &NONE].concat();
    let with_item = [&zero[..], &FIRST, &item, &LAST, &NONE].concat();
    let both = [&zero[..], &FIRST, &[0, 0, 1, 1], &LAST].concat();
    let (offer, listing) = ([0, 0, 1, 2], [0, 0, 0, 0, 0x1000]);
    let room = [&offer[..], &FIRST, &LAST].concat();
    vec![
        ("5.1 long call", words(&[&NOMSG, &zero, &FIRST, &NONE])),
        ("5.1 long call, two segments", words(&[&NOMSG, &two])),
        ("5.1 long call with an item", words(&[&NOMSG, &with_item])),
        (
            "5.1 long reply by RDMA Read",
            words(&[&NOMSG, &zero, &LAST, &NONE]),
        ),
        ("5.1 long call and long reply", words(&[&NOMSG, &both])),
        (
            "5.2 call with a reply chunk",
            words(&[&MSG, &room, &call(16), &HANDLE, &listing]),
        ),
        (
            "5.2 long reply by RDMA Write",
            words(&[&NOMSG, &offer, &FIRST, &FILLED]),
        ),
        (
            "5.2 unused reply chunk",
            words(&[&MSG, &[0, 0, 1, 1], &UNUSED, &REPLY, &[0]]),
        ),
        (
            "5.2 empty write chunk",
            words(&[&MSG, &[0, 1, 0, 0, 0], &call(0)]),
        ),
    ]
}

/// Sections 4.2 and 4.3: every form of an error.
fn errors() -> Vec<Vector> {
    vec![
        ("4.2 versions", words(&[&ERROR, &[1, 1, 1]])),
        ("4.2 versions that are others", words(&[&ERROR, &[1, 2, 5]])),
        ("4.2 chunk error", words(&[&ERROR, &[2]])),
        (
            "4.2 other error",
            words(&[&ERROR, &[9], &[1, 2, 3, 4, 5, 6, 7, 8]]),
        ),
    ]
}

/// Names and octets of all messages.
pub fn all() -> Vec<Vector> {
    [items(), padded(), long(), errors()].concat()
}
