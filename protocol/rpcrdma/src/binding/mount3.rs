//! MOUNT version 3 (RFC 1813, appendix I), which has no items that may be chunks. Lists of mounts
//! and exports, and that of security flavours, are as long as the server likes: the caller says how
//! much it takes.
use super::{Procedure, Program};

/// MOUNT version 3, program 100005.
pub const PROGRAM: Program<'static> = Program {
    name: "mount",
    number: 100_005,
    version: 3,
    procedures: &PROCEDURES,
};

/// Status, the longest handle, and the count of flavours.
const MOUNTED: u32 = 4 + 4 + 64 + 4;

const PROCEDURES: [Procedure<'static>; 6] = [
    Procedure::simple(0, "NULL", 0),
    Procedure::listing(1, "MNT", MOUNTED),
    Procedure::listing(2, "DUMP", 4),
    Procedure::simple(3, "UMNT", 0),
    Procedure::simple(4, "UMNTALL", 0),
    Procedure::listing(5, "EXPORT", 4),
];
