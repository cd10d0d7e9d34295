//! Nodes by number: attributes, octets, limits.

use super::arena::{Arena, Loan, RUN_OCTETS_MAX};
use super::content::{Content, Memory, Piece, Source};
use super::directory::{Directory, Entry, PARENT_COOKIE, SELF_COOKIE};
use super::error::Error;
use super::node::{Attributes, Body, Node, Owner, SetAttributes, Time, MODE_MASK};
use super::{FILE_OCTETS_MAX, PATH_OCTETS_MAX};
use rpcrdma::place::Place;

/// A file, a directory or a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// Its number, which is used again when it is gone.
    pub number: u32,
    /// How often it was.
    pub generation: u32,
}

/// The first directory.
const ROOT: FileId = FileId {
    number: 0,
    generation: 0,
};

/// How much there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Files, directories and symbolic links, with the root.
    pub files: u32,
}

/// How much there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Octets of memory.
    pub octets: u64,
    /// Those that nobody has.
    pub octets_free: u64,
    /// Files that there may be.
    pub files: u64,
    /// Those that there are not.
    pub files_free: u64,
}

#[derive(Debug)]
pub(super) struct Slot {
    generation: u32,
    node: Option<Node>,
}

/// A file system.
#[derive(Debug)]
pub struct Files<M> {
    pub(super) memory: M,
    pub(super) arena: Arena,
    slots: Vec<Slot>,
    free: Vec<u32>,
    limits: Limits,
    octets: u64,
    /// What holes are read from.
    zeros: Place,
}

impl<M: Memory> Files<M> {
    /// An empty file system in `place`, of which [`RUN_OCTETS_MAX`] are the zeros of holes.
    ///
    /// # Errors
    /// [`Error::NoSpace`]: two runs of the largest size are the least.
    pub fn new(memory: M, place: Place, limits: Limits, now: Time) -> Result<Self, Error> {
        let mut arena = Arena::new(place);
        let zeros = arena.take(RUN_OCTETS_MAX).ok_or(Error::NoSpace)?;
        memory.clear(zeros);
        let octets = arena.octets_free();
        if octets == 0 {
            return Err(Error::NoSpace);
        }
        let body = Body::Directory(Directory::new(ROOT));
        let root = Node::new(body, 0o777, Owner::default(), now);
        Ok(Self {
            memory,
            arena,
            slots: vec![Slot {
                generation: ROOT.generation,
                node: Some(root),
            }],
            free: Vec::new(),
            limits,
            octets,
            zeros,
        })
    }

    /// The directory that all others are in.
    #[must_use]
    pub fn root(&self) -> FileId {
        ROOT
    }

    /// Where the octets of files are.
    #[must_use]
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// How much there is.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let in_use = self.slots.len() - self.free.len();
        Usage {
            octets: self.octets,
            octets_free: self.arena.octets_free(),
            files: self.limits.files.into(),
            files_free: u64::from(self.limits.files).saturating_sub(in_use as u64),
        }
    }

    /// Pieces that were read and not given back.
    #[must_use]
    pub fn loans(&self) -> u64 {
        self.arena.loans()
    }

    /// End a loan: the octets of the piece may change.
    pub fn give_back(&mut self, loan: Loan) {
        self.arena.give_back(loan);
    }

    pub(super) fn node(&self, file: FileId) -> Result<&Node, Error> {
        let slot = self.slots.get(file.number as usize);
        let slot = slot.filter(|slot| slot.generation == file.generation);
        slot.and_then(|slot| slot.node.as_ref()).ok_or(Error::Stale)
    }

    pub(super) fn node_mut(&mut self, file: FileId) -> Result<&mut Node, Error> {
        let slot = self.slots.get_mut(file.number as usize);
        let slot = slot.filter(|slot| slot.generation == file.generation);
        slot.and_then(|slot| slot.node.as_mut()).ok_or(Error::Stale)
    }

    /// A place for a node.
    pub(super) fn insert(&mut self, node: Node) -> Result<FileId, Error> {
        let number = match self.free.pop() {
            Some(number) => number,
            None if self.slots.len() < self.limits.files as usize => {
                self.slots.push(Slot {
                    generation: 0,
                    node: None,
                });
                self.slots.len() as u32 - 1
            }
            None => return Err(Error::NoSpace),
        };
        let slot = &mut self.slots[number as usize];
        slot.node = Some(node);
        Ok(FileId {
            number,
            generation: slot.generation,
        })
    }

    /// The end of a node: its memory is free, its number another file's.
    pub(super) fn delete(&mut self, file: FileId) {
        let slot = &mut self.slots[file.number as usize];
        if let Some(Body::File(mut content) | Body::Link(mut content)) =
            slot.node.take().map(|node| node.body)
        {
            content.resize(0, &mut self.arena);
        }
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(file.number);
    }

    /// What is known of a file.
    ///
    /// # Errors
    /// [`Error::Stale`].
    pub fn attributes(&self, file: FileId) -> Result<Attributes, Error> {
        Ok(self.node(file)?.attributes(file))
    }

    /// Change attributes. `guard` is when the caller believes that it was last changed.
    ///
    /// # Errors
    /// What is named by [`Error`]; then nothing has changed.
    pub fn set(
        &mut self,
        file: FileId,
        set: &SetAttributes,
        guard: Option<Time>,
        now: Time,
    ) -> Result<(), Error> {
        let node = self.node(file)?;
        if guard.is_some_and(|guard| guard != node.changed) {
            return Err(Error::NotSynchronised);
        }
        if let Some(size) = set.size {
            self.resize(file, size, now)?;
        }
        let node = self.node_mut(file)?;
        node.mode = set.mode.map_or(node.mode, |mode| mode & MODE_MASK);
        node.owner.uid = set.uid.unwrap_or(node.owner.uid);
        node.owner.gid = set.gid.unwrap_or(node.owner.gid);
        node.accessed = set.accessed.unwrap_or(node.accessed);
        node.modified = set.modified.unwrap_or(node.modified);
        node.changed = now;
        Ok(())
    }

    fn resize(&mut self, file: FileId, size: u64, now: Time) -> Result<(), Error> {
        let slot = self.slots.get_mut(file.number as usize);
        let node = slot.and_then(|slot| slot.node.as_mut());
        let node = node.ok_or(Error::Stale)?;
        let content = content_of(node)?;
        if size > FILE_OCTETS_MAX {
            return Err(Error::TooLarge);
        }
        content.resize(size, &mut self.arena);
        node.touch(now);
        Ok(())
    }

    /// Write to a file: as much as there is memory for, and how much that was.
    ///
    /// # Errors
    /// What is named by [`Error`]; then nothing was written.
    pub fn write(
        &mut self,
        file: FileId,
        offset: u64,
        source: Source<'_>,
        now: Time,
    ) -> Result<u32, Error> {
        self.node(file)?;
        let node = self.slots[file.number as usize].node.as_mut();
        let node = node.ok_or(Error::Stale)?;
        let content = content_of(node)?;
        let end = offset.checked_add(source.length().into());
        if end.is_none_or(|end| end > FILE_OCTETS_MAX) {
            return Err(Error::TooLarge);
        }
        let written = content.write(offset, source, &mut self.arena, &self.memory)?;
        node.touch(now);
        Ok(written)
    }

    /// Read from a file: as many of `count` octets as follow each other in memory, and whether the
    /// file ends after them. A hole is read from zeros that all holes share.
    ///
    /// # Errors
    /// What is named by [`Error`].
    pub fn read(
        &mut self,
        file: FileId,
        offset: u64,
        count: u32,
    ) -> Result<(Place, Option<Loan>, bool), Error> {
        self.node(file)?;
        let node = self.slots[file.number as usize].node.as_mut();
        let content = content_of(node.ok_or(Error::Stale)?)?;
        let piece = content.read(offset, count, &mut self.arena);
        let is_end = offset.saturating_add(piece.length.into()) >= content.size();
        let (place, loan) = placed(piece, self.zeros);
        Ok((place, loan, is_end))
    }

    /// The path of a symbolic link.
    ///
    /// # Errors
    /// [`Error::Invalid`]: it is none.
    pub fn read_link(&mut self, file: FileId) -> Result<(Place, Option<Loan>), Error> {
        self.node(file)?;
        let node = self.slots[file.number as usize].node.as_ref();
        let Some(Body::Link(content)) = node.map(|node| &node.body) else {
            return Err(Error::Invalid);
        };
        let piece = content.read(0, PATH_OCTETS_MAX as u32, &mut self.arena);
        Ok(placed(piece, self.zeros))
    }

    /// Names of a directory after `cookie`, in the order of their cookies; 0 is the begin.
    ///
    /// # Errors
    /// [`Error::NotDirectory`].
    pub fn list(
        &self,
        directory: FileId,
        cookie: u64,
    ) -> Result<impl Iterator<Item = Entry> + '_, Error> {
        let names = self.directory(directory)?;
        let own = [
            (SELF_COOKIE, &b"."[..], directory),
            (PARENT_COOKIE, b"..", names.parent),
        ];
        let own = own.into_iter().filter(move |own| own.0 > cookie);
        let own = own.map(|(cookie, name, file)| Entry {
            cookie,
            name: name.to_vec(),
            file,
        });
        Ok(own.chain(names.after(cookie).cloned()))
    }

    pub(super) fn directory(&self, file: FileId) -> Result<&Directory, Error> {
        match &self.node(file)?.body {
            Body::Directory(directory) => Ok(directory),
            Body::File(_) | Body::Link(_) => Err(Error::NotDirectory),
        }
    }
}

/// The octets of a regular file.
fn content_of(node: &mut Node) -> Result<&mut Content, Error> {
    match &mut node.body {
        Body::File(content) => Ok(content),
        Body::Directory(_) => Err(Error::IsDirectory),
        Body::Link(_) => Err(Error::Invalid),
    }
}

fn placed(piece: Piece, zeros: Place) -> (Place, Option<Loan>) {
    match piece.place {
        Some((place, loan)) => (place, Some(loan)),
        None => (zeros.first(piece.length), None),
    }
}
