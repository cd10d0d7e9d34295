//! What each program lets be a chunk, and how long its replies get (RPC-007).
//!
//! RFC 5666 leaves both to the upper layer. Here they are tables, so that a program of the user's
//! is one more table:
//!
//! ```
//! use rpcrdma::binding::{Items, Procedure, Program, ReplyBound};
//!
//! /// A store of blobs: `put` has the blob as its last argument, `get` as its only result.
//! const BLOBS: Program = Program {
//!     name: "blobs",
//!     number: 0x2000_0001,
//!     version: 1,
//!     procedures: &[
//!         Procedure::simple(0, "NULL", 0),
//!         Procedure { arguments: Items::Last, ..Procedure::simple(1, "PUT", 4) },
//!         Procedure {
//!             number: 2,
//!             name: "GET",
//!             arguments: Items::None,
//!             results: Items::Last,
//!             reply: ReplyBound { octets: 8, asked: false },
//!         },
//!     ],
//! };
//! assert_eq!(BLOBS.procedure(2).map(|get| get.reply.octets_max(0)), Some(8));
//! ```
//!
//! | module        | program                             | source                        |
//! |---------------|-------------------------------------|-------------------------------|
//! | [`nfs3`]      | NFS version 3                       | RFC 1813, RFC 5667            |
//! | [`mount3`]    | MOUNT version 3                     | RFC 1813, appendix I          |
//! | [`nfs4`]      | NFS version 4.0, some operations    | RFC 7530, RFC 5667            |
//! | [`conf_rdma`] | the connection configuration        | RFC 5666, 6.2                 |
//! | [`rpc`]       | headers of calls and replies of all | RFC 5531                      |
//! | [`address`]   | where a service is                  | RFC 5665, RFC 5666, 10 and 12 |
//! | [`auth`]      | who calls                           | RFC 5531                      |

pub mod auth;
pub mod rpc;
mod check;
pub mod nfs3;
pub mod mount3;
pub mod nfs4;
pub mod conf_rdma;
pub mod address;

/// Where the items of arguments or results are that may be chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// There is none.
    None,
    /// One counted opaque, the last field: its position is where the inline octets end.
    Last,
    /// At most so many counted opaques, which the program finds as it decodes.
    Anywhere(u32),
}

/// How long the results of a call may get, without items that may be chunks: so much has room
/// inline or needs a reply chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyBound {
    /// Octets, whatever the arguments are.
    pub octets: u32,
    /// As many octets more as the arguments ask for: a directory's, or a list's.
    pub asked: bool,
}

impl ReplyBound {
    /// Octets of the longest results of a call that asks for `asked` octets.
    #[must_use]
    pub fn octets_max(self, asked: u32) -> u64 {
        let asked = if self.asked { asked.into() } else { 0 };
        u64::from(self.octets) + asked
    }
}

/// A procedure of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Procedure<'a> {
    /// Its number.
    pub number: u32,
    /// Its name in the program's specification.
    pub name: &'a str,
    /// Arguments that may be read chunks.
    pub arguments: Items,
    /// Results that may be in write chunks, or in read chunks of the reply.
    pub results: Items,
    /// How long the results may get.
    pub reply: ReplyBound,
}

impl<'a> Procedure<'a> {
    /// A procedure without items, whose results have at most `octets` octets.
    #[must_use]
    pub const fn simple(number: u32, name: &'a str, octets: u32) -> Self {
        let reply = ReplyBound {
            octets,
            asked: false,
        };
        Self {
            number,
            name,
            arguments: Items::None,
            results: Items::None,
            reply,
        }
    }

    /// A procedure without items, whose results grow with what is asked for.
    #[must_use]
    pub const fn listing(number: u32, name: &'a str, octets: u32) -> Self {
        let reply = ReplyBound {
            octets,
            asked: true,
        };
        Self {
            number,
            name,
            arguments: Items::None,
            results: Items::None,
            reply,
        }
    }
}

/// A version of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its number.
    pub number: u32,
    /// Its version.
    pub version: u32,
    /// Its procedures.
    pub procedures: &'a [Procedure<'a>],
}

impl<'a> Program<'a> {
    /// The procedure with this number.
    #[must_use]
    pub fn procedure(&self, number: u32) -> Option<&'a Procedure<'a>> {
        self.procedures
            .iter()
            .find(|procedure| procedure.number == number)
    }
}

#[cfg(test)]
mod tests;
