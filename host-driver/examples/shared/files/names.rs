//! Operations on names: make, remove, rename, link.

use super::content::{Content, Memory, Source};
use super::directory::Directory;
use super::error::Error;
use super::node::{Body, Node, Owner, Time};
use super::tree::{FileId, Files};
use super::{LINKS_MAX, NAME_OCTETS_MAX, PATH_OCTETS_MAX};

/// What is made.
#[derive(Clone, Copy, Debug)]
pub enum New<'a> {
    /// An empty file; of an exclusive CREATE, with its verifier.
    File(Option<u64>),
    /// An empty directory.
    Directory,
    /// A symbolic link with this path.
    Link(Source<'a>),
}

/// A name that something new can have.
fn check_new(name: &[u8]) -> Result<(), Error> {
    match name {
        b"" => Err(Error::Invalid),
        b"." | b".." => Err(Error::Exists),
        _ if name.len() > NAME_OCTETS_MAX => Err(Error::NameTooLong),
        _ if name.contains(&b'/') || name.contains(&0) => Err(Error::Invalid),
        _ => Ok(()),
    }
}

/// A name that can be taken away.
fn check_old(name: &[u8]) -> Result<(), Error> {
    match name {
        b"" | b"." => Err(Error::Invalid),
        b".." => Err(Error::NotEmpty),
        _ if name.len() > NAME_OCTETS_MAX => Err(Error::NameTooLong),
        _ => Ok(()),
    }
}

impl<M: Memory> Files<M> {
    fn directory_mut(&mut self, file: FileId) -> Result<&mut Directory, Error> {
        match &mut self.node_mut(file)?.body {
            Body::Directory(directory) => Ok(directory),
            Body::File(_) | Body::Link(_) => Err(Error::NotDirectory),
        }
    }

    fn is_directory(&self, file: FileId) -> Result<bool, Error> {
        Ok(matches!(self.node(file)?.body, Body::Directory(_)))
    }

    /// What a name in a directory names.
    ///
    /// # Errors
    /// What is named by [`Error`].
    pub fn look_up(&self, directory: FileId, name: &[u8]) -> Result<FileId, Error> {
        let names = self.directory(directory)?;
        match name {
            b"." => Ok(directory),
            b".." => Ok(names.parent),
            _ if name.len() > NAME_OCTETS_MAX => Err(Error::NameTooLong),
            _ => names.get(name).ok_or(Error::NotFound),
        }
    }

    /// The verifier of the exclusive CREATE that made a file.
    ///
    /// # Errors
    /// [`Error::Stale`].
    pub fn verifier(&self, file: FileId) -> Result<Option<u64>, Error> {
        Ok(self.node(file)?.verifier)
    }

    /// Make something.
    ///
    /// # Errors
    /// What is named by [`Error`]; then nothing was made.
    pub fn make(
        &mut self,
        directory: FileId,
        name: &[u8],
        new: New<'_>,
        (mode, owner): (u32, Owner),
        now: Time,
    ) -> Result<FileId, Error> {
        let names = self.directory(directory)?;
        check_new(name)?;
        if names.get(name).is_some() {
            return Err(Error::Exists);
        }
        if self.usage().files_free == 0 {
            return Err(Error::NoSpace);
        }
        let mut content = Content::default();
        let (body, verifier) = match new {
            New::File(verifier) => (Body::File(content), verifier),
            New::Directory => (Body::Directory(Directory::new(directory)), None),
            New::Link(path) => {
                match path.length() {
                    0 => return Err(Error::Invalid),
                    length if length as usize > PATH_OCTETS_MAX => return Err(Error::NameTooLong),
                    _ => {}
                }
                content.write(0, path, &mut self.arena, &self.memory)?;
                (Body::Link(content), None)
            }
        };
        let mut node = Node::new(body, mode, owner, now);
        node.verifier = verifier;
        let is_directory = matches!(node.body, Body::Directory(_));
        let file = self.insert(node)?;
        self.add_name(directory, name, file, now)?;
        self.node_mut(directory)?.links += u32::from(is_directory);
        Ok(file)
    }

    fn add_name(
        &mut self,
        directory: FileId,
        name: &[u8],
        file: FileId,
        now: Time,
    ) -> Result<(), Error> {
        self.directory_mut(directory)?.add(name, file);
        self.node_mut(directory)?.touch(now);
        Ok(())
    }

    /// Another name for a file.
    ///
    /// # Errors
    /// What is named by [`Error`].
    pub fn link(
        &mut self,
        file: FileId,
        directory: FileId,
        name: &[u8],
        now: Time,
    ) -> Result<(), Error> {
        if self.is_directory(file)? {
            return Err(Error::IsDirectory);
        }
        let names = self.directory(directory)?;
        check_new(name)?;
        if names.get(name).is_some() {
            return Err(Error::Exists);
        }
        let node = self.node_mut(file)?;
        if node.links >= LINKS_MAX {
            return Err(Error::TooManyLinks);
        }
        node.links += 1;
        node.changed = now;
        self.add_name(directory, name, file, now)
    }

    /// Take away the name of a file, or that of a directory, which has to be empty.
    ///
    /// # Errors
    /// What is named by [`Error`].
    pub fn remove(
        &mut self,
        directory: FileId,
        name: &[u8],
        is_directory: bool,
        now: Time,
    ) -> Result<(), Error> {
        let names = self.directory(directory)?;
        check_old(name)?;
        let file = names.get(name).ok_or(Error::NotFound)?;
        match (self.is_directory(file)?, is_directory) {
            (true, false) => return Err(Error::IsDirectory),
            (false, true) => return Err(Error::NotDirectory),
            (true, true) if !self.directory(file)?.is_empty() => return Err(Error::NotEmpty),
            _ => {}
        }
        self.take_name(directory, name, file, now)
    }

    /// A name goes, and what has no other name with it.
    fn take_name(
        &mut self,
        directory: FileId,
        name: &[u8],
        file: FileId,
        now: Time,
    ) -> Result<(), Error> {
        self.directory_mut(directory)?.remove(name);
        let is_directory = self.is_directory(file)?;
        let parent = self.node_mut(directory)?;
        parent.links -= u32::from(is_directory);
        parent.touch(now);
        let node = self.node_mut(file)?;
        node.links -= 1;
        node.changed = now;
        if node.links == 0 || is_directory {
            self.delete(file);
        }
        Ok(())
    }

    /// Give a name to what has another one. What had the new name is gone.
    ///
    /// # Errors
    /// What is named by [`Error`].
    pub fn rename(
        &mut self,
        (from, old): (FileId, &[u8]),
        (to, new): (FileId, &[u8]),
        now: Time,
    ) -> Result<(), Error> {
        let (sources, targets) = (self.directory(from)?, self.directory(to)?);
        check_old(old)?;
        check_new(new)?;
        let file = sources.get(old).ok_or(Error::NotFound)?;
        let target = targets.get(new);
        let is_directory = self.is_directory(file)?;
        if is_directory && self.is_below(to, file)? {
            return Err(Error::Invalid);
        }
        if let Some(target) = target {
            // Two names of one file, or one name: there is nothing to do (RFC 1813, 3.3.14).
            if target == file {
                return Ok(());
            }
            match (is_directory, self.is_directory(target)?) {
                (true, false) => return Err(Error::NotDirectory),
                (false, true) => return Err(Error::IsDirectory),
                (true, true) if !self.directory(target)?.is_empty() => {
                    return Err(Error::NotEmpty);
                }
                _ => self.take_name(to, new, target, now)?,
            }
        }
        self.directory_mut(from)?.remove(old);
        self.directory_mut(to)?.add(new, file);
        if is_directory {
            self.directory_mut(file)?.parent = to;
            self.node_mut(from)?.links -= 1;
            self.node_mut(to)?.links += 1;
        }
        self.node_mut(from)?.touch(now);
        self.node_mut(to)?.touch(now);
        self.node_mut(file)?.changed = now;
        Ok(())
    }

    /// Whether a directory is `above`, or in it.
    fn is_below(&self, mut directory: FileId, above: FileId) -> Result<bool, Error> {
        loop {
            if directory == above {
                return Ok(true);
            }
            if directory == self.root() {
                return Ok(false);
            }
            directory = self.directory(directory)?.parent;
        }
    }
}
