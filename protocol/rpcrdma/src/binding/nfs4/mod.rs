//! NFS version 4.0 (RFC 7530), as far as a compound of PUTROOTFH, LOOKUP, GETFH, READ, WRITE and
//! READDIR needs it; and the other operations of plain reading. Chunks are those of RFC 5667, 5.
//!
//! A compound has an item for each WRITE, and its reply for each READ or READLINK, in their order.
//! Bounds are those of operations: [`reply_octets_max`] adds them up. The client's half of the
//! codec is here, too: [`begin`], [`Operation::write`], and [`Results`].
mod compound;

pub use compound::{begin, Attributes, Bitmap, Entry, Operation, Outcome, Results, StateId};

use super::{Items, Procedure, Program, ReplyBound};

/// NFS version 4, program 100003.
pub const PROGRAM: Program<'static> = Program {
    name: "nfs",
    number: 100_003,
    version: 4,
    procedures: &PROCEDURES,
};

/// Items of one compound, in arguments and in results.
pub const ITEMS_MAX: u32 = 16;

const PROCEDURES: [Procedure<'static>; 2] = [
    Procedure::simple(0, "NULL", 0),
    Procedure {
        number: 1,
        name: "COMPOUND",
        arguments: Items::Anywhere(ITEMS_MAX),
        results: Items::Anywhere(ITEMS_MAX),
        reply: ReplyBound {
            octets: AROUND_OPERATIONS,
            asked: true,
        },
    },
];

/// Status, the count of the tag, and that of operations.
const AROUND_OPERATIONS: u32 = 12;
/// The number of an operation, and its status.
const RESULT: u32 = 8;

/// Operations of a compound; their bounds include number and status.
pub mod operation {
    use super::{Items, Procedure, ReplyBound, RESULT};

    /// GETATTR; asked are the octets of the attributes.
    pub const GETATTR: Procedure<'static> = Procedure::listing(9, "GETATTR", RESULT + 4 * 4);
    /// GETFH.
    pub const GETFH: Procedure<'static> = Procedure::simple(10, "GETFH", RESULT + 4 + 128);
    /// LOOKUP.
    pub const LOOKUP: Procedure<'static> = Procedure::simple(15, "LOOKUP", RESULT);
    /// PUTFH.
    pub const PUTFH: Procedure<'static> = Procedure::simple(22, "PUTFH", RESULT);
    /// PUTROOTFH.
    pub const PUTROOTFH: Procedure<'static> = Procedure::simple(24, "PUTROOTFH", RESULT);
    /// READ.
    pub const READ: Procedure<'static> = Procedure {
        number: 25,
        name: "READ",
        arguments: Items::None,
        results: Items::Anywhere(1),
        reply: ReplyBound {
            octets: RESULT + 8,
            asked: false,
        },
    };
    /// READDIR; asked is its `maxcount`.
    pub const READDIR: Procedure<'static> = Procedure::listing(26, "READDIR", RESULT + 8 + 8);
    /// READLINK.
    pub const READLINK: Procedure<'static> = Procedure {
        number: 27,
        name: "READLINK",
        arguments: Items::None,
        results: Items::Anywhere(1),
        reply: ReplyBound {
            octets: RESULT + 4,
            asked: false,
        },
    };
    /// WRITE.
    pub const WRITE: Procedure<'static> = Procedure {
        number: 38,
        name: "WRITE",
        arguments: Items::Anywhere(1),
        results: Items::None,
        reply: ReplyBound {
            octets: RESULT + 16,
            asked: false,
        },
    };
    /// All of these.
    pub const ALL: [Procedure<'static>; 9] = [
        GETATTR, GETFH, LOOKUP, PUTFH, PUTROOTFH, READ, READDIR, READLINK, WRITE,
    ];
}

/// Octets of the longest results of a compound, without items: its tag, and its operations with
/// what each asks for.
#[must_use]
pub fn reply_octets_max<'a, O>(tag_octets: u32, operations: O) -> u64
where
    O: IntoIterator<Item = (&'a Procedure<'a>, u32)>,
{
    let tag = crate::stream::rounded(tag_octets);
    let operations = operations.into_iter();
    let results: u64 = operations
        .map(|(operation, asked)| operation.reply.octets_max(asked))
        .sum();
    u64::from(AROUND_OPERATIONS) + tag + results
}
