//! Names of a directory. Each has a cookie that it keeps, and that no other name gets: a listing
//! that goes on after names came and went misses none that was there throughout (RFC 1813, 3.3.16).

use super::tree::FileId;
use std::collections::BTreeMap;

/// The cookies of `.` and `..`.
pub const SELF_COOKIE: u64 = 1;
pub const PARENT_COOKIE: u64 = 2;

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where a listing goes on after it.
    pub cookie: u64,
    /// The name.
    pub name: Vec<u8>,
    /// What it names.
    pub file: FileId,
}

/// A directory.
#[derive(Debug)]
pub struct Directory {
    /// That has it; the root is its own.
    pub parent: FileId,
    cookies: BTreeMap<Vec<u8>, u64>,
    entries: BTreeMap<u64, Entry>,
    next_cookie: u64,
}

impl Directory {
    pub fn new(parent: FileId) -> Self {
        Self {
            parent,
            cookies: BTreeMap::new(),
            entries: BTreeMap::new(),
            next_cookie: PARENT_COOKIE + 1,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn get(&self, name: &[u8]) -> Option<FileId> {
        let cookie = self.cookies.get(name)?;
        self.entries.get(cookie).map(|entry| entry.file)
    }

    /// Add a name that is not there.
    pub fn add(&mut self, name: &[u8], file: FileId) {
        let cookie = self.next_cookie;
        self.next_cookie += 1;
        self.cookies.insert(name.to_vec(), cookie);
        let entry = Entry {
            cookie,
            name: name.to_vec(),
            file,
        };
        self.entries.insert(cookie, entry);
    }

    pub fn remove(&mut self, name: &[u8]) {
        if let Some(cookie) = self.cookies.remove(name) {
            self.entries.remove(&cookie);
        }
    }

    /// Names after a cookie, without `.` and `..`.
    pub fn after(&self, cookie: u64) -> impl Iterator<Item = &Entry> {
        let first = cookie.saturating_add(1);
        self.entries.range(first..).map(|(_, entry)| entry)
    }
}
