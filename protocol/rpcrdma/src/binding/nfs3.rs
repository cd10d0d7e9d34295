//! NFS version 3 (RFC 1813): chunks as of RFC 5667, 3 and 4.
//!
//! Each item that may be a chunk is the last field of its arguments or results: the data of WRITE
//! and READ, the path of SYMLINK and READLINK. A directory's listing is no item; its reply may be
//! in the reply chunk.
use super::{Items, Procedure, Program, ReplyBound};

/// Octets of a status.
const STATUS: u32 = 4;
/// Octets of `fattr3`.
const ATTRIBUTES: u32 = 84;
/// Octets of `post_op_attr`.
const POST_ATTRIBUTES: u32 = 4 + ATTRIBUTES;
/// Octets of `wcc_data`: size and two times from before, attributes from after.
const WCC: u32 = 4 + 24 + POST_ATTRIBUTES;
/// Octets of the longest `nfs_fh3`.
const HANDLE: u32 = 4 + 64;
/// Octets of what makes a new object: its handle, its attributes, those of the directory.
const MADE: u32 = STATUS + 4 + HANDLE + POST_ATTRIBUTES + WCC;
/// Octets around the entries of a directory: `cookieverf3`, the end of the list, and whether it is
/// that of the directory. The count of the arguments includes them; some servers do not count so.
const AROUND_ENTRIES: u32 = STATUS + POST_ATTRIBUTES + 8 + 8;

const fn bound(octets: u32) -> ReplyBound {
    ReplyBound {
        octets,
        asked: false,
    }
}

/// NFS version 3, program 100003.
pub const PROGRAM: Program<'static> = Program {
    name: "nfs",
    number: 100_003,
    version: 3,
    procedures: &PROCEDURES,
};

/// Numbers of the procedures with items.
pub mod procedure {
    /// READLINK.
    pub const READLINK: u32 = 5;
    /// READ.
    pub const READ: u32 = 6;
    /// WRITE.
    pub const WRITE: u32 = 7;
    /// SYMLINK.
    pub const SYMLINK: u32 = 10;
}

const PROCEDURES: [Procedure<'static>; 22] = [
    Procedure::simple(0, "NULL", 0),
    Procedure::simple(1, "GETATTR", STATUS + ATTRIBUTES),
    Procedure::simple(2, "SETATTR", STATUS + WCC),
    Procedure::simple(3, "LOOKUP", STATUS + HANDLE + 2 * POST_ATTRIBUTES),
    Procedure::simple(4, "ACCESS", STATUS + POST_ATTRIBUTES + 4),
    Procedure {
        number: procedure::READLINK,
        name: "READLINK",
        arguments: Items::None,
        results: Items::Last,
        reply: bound(STATUS + POST_ATTRIBUTES + 4),
    },
    Procedure {
        number: procedure::READ,
        name: "READ",
        arguments: Items::None,
        results: Items::Last,
        reply: bound(STATUS + POST_ATTRIBUTES + 12),
    },
    Procedure {
        number: procedure::WRITE,
        name: "WRITE",
        arguments: Items::Last,
        results: Items::None,
        reply: bound(STATUS + WCC + 16),
    },
    Procedure::simple(8, "CREATE", MADE),
    Procedure::simple(9, "MKDIR", MADE),
    Procedure {
        number: procedure::SYMLINK,
        name: "SYMLINK",
        arguments: Items::Last,
        results: Items::None,
        reply: bound(MADE),
    },
    Procedure::simple(11, "MKNOD", MADE),
    Procedure::simple(12, "REMOVE", STATUS + WCC),
    Procedure::simple(13, "RMDIR", STATUS + WCC),
    Procedure::simple(14, "RENAME", STATUS + 2 * WCC),
    Procedure::simple(15, "LINK", STATUS + POST_ATTRIBUTES + WCC),
    Procedure::listing(16, "READDIR", AROUND_ENTRIES),
    Procedure::listing(17, "READDIRPLUS", AROUND_ENTRIES),
    Procedure::simple(18, "FSSTAT", STATUS + POST_ATTRIBUTES + 6 * 8 + 4),
    Procedure::simple(19, "FSINFO", STATUS + POST_ATTRIBUTES + 7 * 4 + 2 * 8 + 4),
    Procedure::simple(20, "PATHCONF", STATUS + POST_ATTRIBUTES + 6 * 4),
    Procedure::simple(21, "COMMIT", STATUS + WCC + 8),
];
