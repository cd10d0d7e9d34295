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

/// Names and octets of all messages.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    let none = [0, 0, 0];
    let prefix = |kind: u32| [XID, 1, CREDITS, kind];
    let (msg, nomsg, msgp) = (prefix(0), prefix(1), prefix(2));
    let (done, error) = (prefix(3), prefix(4));
    // Two segments, of a handle each; the second one is at the end of the address space.
    let first = [0xaabb_cc01, 0x1000, 0, 0x10];
    let last = [0xaabb_cc02, 0x0800, 0xffff_ffff, 0xffff_f800];
    let filled = [0xaabb_cc02, 0x0009, 0xffff_ffff, 0xffff_f800];
    let unused = [0xaabb_cc02, 0, 0xffff_ffff, 0xffff_f800];
    let write = [call(7).as_slice(), &HANDLE, &[0, 0, 0x1005, 2]].concat();
    let read = [call(6).as_slice(), &HANDLE, &[0, 0, 0x1800]].concat();
    let read_ok = [REPLY.as_slice(), &[0, 0, 0x1009, 1]].concat();
    let write_ok = [REPLY.as_slice(), &[0], &NO_WCC, &[0x1005, 2, 7, 7]].concat();
    let position = 4 * write.len() as u32 + 4;
    vec![
        ("3.1 short call", words(&[&msg, &none, &call(1), &HANDLE])),
        (
            "3.1 short reply",
            words(&[&msg, &none, &REPLY, &[0], &[5; 21]]),
        ),
        (
            "3.8 call with write chunks",
            words(&[&msg, &[0, 1, 2], &first, &last, &[0, 0], &read]),
        ),
        (
            "3.8 reply after RDMA Write",
            words(&[
                &msg,
                &[0, 1, 2],
                &first,
                &filled,
                &[0, 0],
                &read_ok,
                &[0x1009],
            ]),
        ),
        (
            "3.8 call with read chunks",
            words(&[
                &msg,
                &[1, position],
                &first,
                &[1, position, 0xaabb_cc02, 5, 0, 0x2010],
                &none,
                &write,
                &[0x1005],
            ]),
        ),
        ("3.8 reply of that call", words(&[&msg, &none, &write_ok])),
        (
            "3.8 reply with read chunks",
            words(&[
                &msg,
                &[1, 44],
                &first,
                &[1, 44],
                &filled,
                &none,
                &read_ok,
                &[0x1009],
            ]),
        ),
        ("3.8 done", words(&[&done])),
        // The count ends at 132 octets, the buffers of the server are of 256: 124 of pad.
        (
            "3.9 padded call",
            words(&[
                &msgp,
                &[256, 128],
                &none,
                &write,
                &[131],
                &[0; 31],
                &[0x4444_4444; 33],
            ]),
        ),
        (
            "3.9 unpadded call",
            words(&[&msg, &none, &write, &[131], &[0x4444_4444; 33]]),
        ),
        ("4.1 call with chunk lists", {
            let lists = [
                &[1, position][..],
                &first,
                &[0, 1, 1],
                &last,
                &[0, 1, 1],
                &[9, 8, 7, 6],
            ];
            words(&[&msg, &lists.concat(), &write, &[0x1000]])
        }),
        ("5.1 long call", words(&[&nomsg, &[1, 0], &first, &none])),
        (
            "5.1 long call, two segments",
            words(&[&nomsg, &[1, 0], &first, &[1, 0], &last, &none]),
        ),
        (
            "5.1 long call with an item",
            words(&[&nomsg, &[1, 0], &first, &[1, 0x1000], &last, &none]),
        ),
        (
            "5.1 long reply by RDMA Read",
            words(&[&nomsg, &[1, 0], &last, &none]),
        ),
        (
            "5.1 long call and long reply",
            words(&[&nomsg, &[1, 0], &first, &[0, 0, 1, 1], &last]),
        ),
        (
            "5.2 call with a reply chunk",
            words(&[
                &msg,
                &[0, 0, 1, 2],
                &first,
                &last,
                &call(16),
                &HANDLE,
                &[0, 0, 0, 0, 0x1000],
            ]),
        ),
        (
            "5.2 long reply by RDMA Write",
            words(&[&nomsg, &[0, 0, 1, 2], &first, &filled]),
        ),
        (
            "5.2 unused reply chunk",
            words(&[&msg, &[0, 0, 1, 1], &unused, &REPLY, &[10_001], &[0]]),
        ),
        (
            "5.2 empty write chunk",
            words(&[&msg, &[0, 1, 0, 0, 0], &call(0)]),
        ),
        ("4.2 versions", words(&[&error, &[1, 1, 1]])),
        ("4.2 versions that are others", words(&[&error, &[1, 2, 5]])),
        ("4.2 chunk error", words(&[&error, &[2]])),
        (
            "4.2 other error",
            words(&[&error, &[9], &[1, 2, 3, 4, 5, 6, 7, 8]]),
        ),
    ]
}
