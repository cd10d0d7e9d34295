//! What clients and servers of NFSv3 and MOUNT say to each other (RFC 1813), as far as these
//! programs do. Every length is checked before anything is allocated for it.
//!
//! | file         | what                                          |
//! |--------------|-----------------------------------------------|
//! | `status`     | how a procedure ended                         |
//! | `handle`     | file handles                                  |
//! | `attributes` | what is known of a file, and what is changed  |
//! | `options`    | the command line of these programs            |
//! | `caller`     | a client                                      |
//! | `headers`    | headers of messages, a line for each          |
//! | `records`    | record marks of RPC over TCP (RFC 5531, 11)   |

mod attributes;
mod caller;
mod handle;
mod headers;
mod options;
mod records;
mod status;

pub use attributes::{
    read_attributes, read_post_attributes, read_set_attributes, read_wcc, skip_set_attributes,
    FileAttributes, FileType,
};
pub use caller::{results, Caller, Procedure};
pub use handle::{Handle, HANDLE_OCTETS_MAX};
pub use headers::HeaderLog;
pub use options::RpcOptions;
pub use records::{read_record, write_record};
pub use status::Status;

/// NFS version 3.
pub const NFS: u32 = 100_003;
/// MOUNT version 3.
pub const MOUNT: u32 = 100_005;
/// The version of both.
pub const VERSION: u32 = 3;
/// Where NFS over RDMA is (RFC 5667, 6).
pub const RDMA_PORT: u16 = 20_049;
/// The most octets of READ and WRITE.
pub const IO_OCTETS_MAX: u32 = 1 << 20;

/// Procedures of NFS.
pub mod procedure {
    #![allow(missing_docs, reason = "the names are those of RFC 1813")]
    pub const NULL: u32 = 0;
    /// Of version 4, which has no other.
    pub const COMPOUND: u32 = 1;
    pub const GETATTR: u32 = 1;
    pub const SETATTR: u32 = 2;
    pub const LOOKUP: u32 = 3;
    pub const ACCESS: u32 = 4;
    pub const READLINK: u32 = 5;
    pub const READ: u32 = 6;
    pub const WRITE: u32 = 7;
    pub const CREATE: u32 = 8;
    pub const MKDIR: u32 = 9;
    pub const SYMLINK: u32 = 10;
    pub const MKNOD: u32 = 11;
    pub const REMOVE: u32 = 12;
    pub const RMDIR: u32 = 13;
    pub const RENAME: u32 = 14;
    pub const LINK: u32 = 15;
    pub const READDIR: u32 = 16;
    pub const READDIRPLUS: u32 = 17;
    pub const FSSTAT: u32 = 18;
    pub const FSINFO: u32 = 19;
    pub const PATHCONF: u32 = 20;
    pub const COMMIT: u32 = 21;
}

/// Procedures of MOUNT.
pub mod mount {
    #![allow(missing_docs, reason = "the names are those of RFC 1813")]
    pub const NULL: u32 = 0;
    pub const MNT: u32 = 1;
    pub const DUMP: u32 = 2;
    pub const UMNT: u32 = 3;
    pub const UMNTALL: u32 = 4;
    pub const EXPORT: u32 = 5;
    /// Octets of the longest path.
    pub const PATH_OCTETS_MAX: u32 = 1024;
}

/// What WRITE and COMMIT leave where: FILE_SYNC, as nothing here is ever written later.
pub const FILE_SYNC: u32 = 2;
