//! What a file, a directory or a symbolic link is.

use super::content::Content;
use super::directory::Directory;
use super::tree::FileId;

/// Seconds and nanoseconds since 1970, as NFSv3 has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Seconds.
    pub seconds: u32,
    /// Nanoseconds of the next one.
    pub nanoseconds: u32,
}

/// Whose a new file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
}

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Which file.
    pub file: FileId,
    /// What it is.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// Its names; of a directory, those of `.` and `..`, too.
    pub links: u32,
    /// Whose it is.
    pub owner: Owner,
    /// Octets of it.
    pub size: u64,
    /// Octets of memory that it has.
    pub used: u64,
    /// When it was read. Reading alone does not change it here.
    pub accessed: Time,
    /// When its octets or names were changed.
    pub modified: Time,
    /// When anything of it was changed.
    pub changed: Time,
}

/// What is to be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetAttributes {
    /// Permission bits.
    pub mode: Option<u32>,
    /// User.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Octets.
    pub size: Option<u64>,
    /// When it was read.
    pub accessed: Option<Time>,
    /// When it was written.
    pub modified: Option<Time>,
}

/// Permission bits that are kept: with set-user-id, set-group-id and sticky.
pub const MODE_MASK: u32 = 0o7777;

#[derive(Debug)]
pub enum Body {
    File(Content),
    Directory(Directory),
    Link(Content),
}

#[derive(Debug)]
pub struct Node {
    pub body: Body,
    pub mode: u32,
    pub links: u32,
    pub owner: Owner,
    pub accessed: Time,
    pub modified: Time,
    pub changed: Time,
    /// The verifier of the exclusive CREATE that made it (RFC 1813, 3.3.8).
    pub verifier: Option<u64>,
}

impl Node {
    pub fn new(body: Body, mode: u32, owner: Owner, now: Time) -> Self {
        let links = match body {
            Body::Directory(_) => 2,
            Body::File(_) | Body::Link(_) => 1,
        };
        Self {
            body,
            mode: mode & MODE_MASK,
            links,
            owner,
            accessed: now,
            modified: now,
            changed: now,
            verifier: None,
        }
    }

    pub fn attributes(&self, file: FileId) -> Attributes {
        let (kind, size, used) = match &self.body {
            Body::File(content) => (Kind::File, content.size(), content.used()),
            Body::Link(content) => (Kind::Link, content.size(), content.used()),
            Body::Directory(directory) => (Kind::Directory, directory.len() as u64, 0),
        };
        Attributes {
            file,
            kind,
            mode: self.mode,
            links: self.links,
            owner: self.owner,
            size,
            used,
            accessed: self.accessed,
            modified: self.modified,
            changed: self.changed,
        }
    }

    /// Its octets or names have changed.
    pub fn touch(&mut self, now: Time) {
        self.modified = now;
        self.changed = now;
    }
}
