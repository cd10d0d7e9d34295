//! A program that moves a pattern.

use rpcrdma::binding::{Items, Procedure, Program, ReplyBound};

/// Octets of the pattern that each end has.
pub const PATTERN_OCTETS: u32 = (1 << 20) + 4_096;

/// Nothing.
pub const NULL: u32 = 0;
/// The pattern's octets at an offset, as an item: answered by their count.
pub const PUT: u32 = 1;
/// Answered by the pattern's octets at an offset, as an item.
pub const GET: u32 = 2;
/// Answered by them inline.
pub const LIST: u32 = 3;
/// As PUT, but inline.
pub const TELL: u32 = 4;
/// Answered when the client has answered a reverse call with these octets by the same ones.
pub const CALL_BACK: u32 = 5;

/// What CALL_BACK is answered when the client has refused the reverse call.
pub const REFUSED: u32 = u32::MAX;

/// The program.
pub const NUMBER: u32 = 0x2000_0001;
pub static PROGRAMS: [Program<'static>; 1] = [Program {
    name: "pattern",
    number: NUMBER,
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
        Procedure::simple(TELL, "TELL", 4),
        Procedure::simple(CALL_BACK, "CALL_BACK", 4),
    ],
}];

/// Octets of the pattern.
pub fn pattern(offset: u32, length: u32) -> Vec<u8> {
    let octet = |at: u32| (at.wrapping_mul(0x9e37_79b9) >> 23) as u8 ^ at as u8;
    (offset..offset + length).map(octet).collect()
}
