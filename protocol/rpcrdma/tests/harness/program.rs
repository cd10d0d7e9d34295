//! A program that moves octets both ways, for all tests with two ends: over the fabric here, over
//! devices in `host-driver/rpcrdma`.
use rpcrdma::binding::{Items, Procedure, Program, ReplyBound};

/// Octets of the pattern that each end has.
pub const PATTERN_OCTETS: u32 = 1 << 20 | 4_096;

/// Nothing.
pub const NULL: u32 = 0;
/// The pattern's octets at an offset, as an item: answered by their count.
pub const PUT: u32 = 1;
/// Answered by the pattern's octets at an offset, as an item.
pub const GET: u32 = 2;
/// Answered by them inline.
pub const LIST: u32 = 3;
/// As PUT, but with as many octets inline before the item.
pub const LONG_PUT: u32 = 4;
/// Answered by two items: the octets at the offset, and half as many from there.
pub const PAIR: u32 = 5;
/// As LIST, with as many octets inline in the call.
pub const LONG_LIST: u32 = 6;
/// As PUT, but inline.
pub const TELL: u32 = 7;
/// Answered when the client has answered a reverse call with these octets by the same ones.
pub const CALL_BACK: u32 = 8;

/// As PUT, with three items: the octets, and those from one and from two octets further on.
pub const PARTS: u32 = 9;

/// What CALL_BACK is answered when the client has refused the reverse call.
pub const REFUSED: u32 = u32::MAX;

/// The program. Each test answers the procedures that it calls.
pub const TEST: Program<'static> = Program {
    name: "pattern",
    number: 0x2000_0001,
    version: 1,
    procedures: &[
        Procedure::simple(NULL, "NULL", 0),
        Procedure {
            arguments: Items::Last,
            ..Procedure::simple(PUT, "PUT", 4)
        },
        Procedure {
            results: Items::Last,
            reply: ReplyBound {
                octets: 4,
                asked: false,
            },
            ..Procedure::simple(GET, "GET", 4)
        },
        Procedure::listing(LIST, "LIST", 4),
        Procedure {
            arguments: Items::Last,
            ..Procedure::simple(LONG_PUT, "LONG_PUT", 4)
        },
        Procedure {
            results: Items::Anywhere(2),
            ..Procedure::simple(PAIR, "PAIR", 8)
        },
        Procedure::listing(LONG_LIST, "LONG_LIST", 4),
        Procedure::simple(TELL, "TELL", 4),
        Procedure::simple(CALL_BACK, "CALL_BACK", 4),
        Procedure {
            arguments: Items::Anywhere(3),
            ..Procedure::simple(PARTS, "PARTS", 4)
        },
    ],
};
pub static PROGRAMS: [Program<'static>; 1] = [TEST];

/// Octets of the pattern.
pub fn pattern(offset: u32, length: u32) -> Vec<u8> {
    let octet = |at: u32| (at.wrapping_mul(0x9e37_79b9) >> 23) as u8 ^ at as u8;
    (offset..offset + length).map(octet).collect()
}
