//! CREATE, MKDIR, SYMLINK, MKNOD.

use super::octets::source;
use super::parts::{option, status, write_status, Target};
use super::{Call, Done, NoResults, Service};
use rnic_examples::files::{
    Attributes, FileId, Kind, Memory, New, Owner, SetAttributes, Time, PATH_OCTETS_MAX,
};
use rnic_examples::nfs::{read_set_attributes, Status};
use rpcrdma::stream::{DecodeError, Message};

/// How CREATE treats a name that is taken (RFC 1813, 3.3.8).
const UNCHECKED: u32 = 0;
const GUARDED: u32 = 1;
const EXCLUSIVE: u32 = 2;
/// Permission bits of what is made without any.
const FILE_MODE: u32 = 0o644;
const DIRECTORY_MODE: u32 = 0o755;
const LINK_MODE: u32 = 0o777;
/// Longer paths are decoded, so that the answer can say that they are too long.
const PATH_OCTETS_DECODED: u32 = 2 * PATH_OCTETS_MAX as u32;

/// How CREATE is to be done.
#[derive(Clone, Copy)]
enum How {
    Unchecked,
    Guarded,
    Exclusive(u64),
}

/// What is made, of whom, and when.
struct Maker<'a> {
    directory: Target,
    name: &'a [u8],
    set: SetAttributes,
    owner: Owner,
    now: Time,
}

impl<'a> Maker<'a> {
    fn new(
        (directory, name): (Target, &'a [u8]),
        set: SetAttributes,
        (owner, now): (Owner, Time),
    ) -> Self {
        Self {
            directory,
            name,
            set,
            owner,
            now,
        }
    }
}

impl<M: Memory> Service<M> {
    pub(super) fn create(&mut self, mut call: Call<'_, '_>) -> Done {
        let reader = &mut call.arguments;
        let named = self.named(reader)?;
        let how = reader.u32()?;
        let (how, set) = match how {
            UNCHECKED => (How::Unchecked, read_set_attributes(reader, call.now)?),
            GUARDED => (How::Guarded, read_set_attributes(reader, call.now)?),
            EXCLUSIVE => (How::Exclusive(reader.u64()?), SetAttributes::default()),
            _ => return Err(DecodeError::Unknown.into()),
        };
        call.arguments.finish()?;
        let maker = Maker::new(named, set, (call.owner, call.now));
        let before = self.known(maker.directory);
        let made = self.create_or_open(&maker, how);
        self.made(call.results, made, maker.directory, before)
    }

    fn create_or_open(&mut self, maker: &Maker<'_>, how: How) -> Target {
        let verifier = match how {
            How::Exclusive(verifier) => Some(verifier),
            How::Unchecked | How::Guarded => None,
        };
        match (self.make(maker, New::File(verifier), FILE_MODE), how) {
            (Err(Status::EXIST), How::Unchecked) => self.open(maker),
            (Err(Status::EXIST), How::Exclusive(verifier)) => {
                let file = self.files.look_up(maker.directory?, maker.name)?;
                match self.files.verifier(file)? == Some(verifier) {
                    true => Ok(file),
                    false => Err(Status::EXIST),
                }
            }
            (made, _) => made,
        }
    }

    /// A file that exists is cut, if a size was given, and otherwise left as it is.
    fn open(&mut self, maker: &Maker<'_>) -> Target {
        let file = self.files.look_up(maker.directory?, maker.name)?;
        if self.files.attributes(file)?.kind != Kind::File {
            return Err(Status::EXIST);
        }
        if let Some(size) = maker.set.size {
            let set = SetAttributes {
                size: Some(size),
                ..SetAttributes::default()
            };
            self.files.set(file, &set, None, maker.now)?;
        }
        Ok(file)
    }

    fn make(&mut self, maker: &Maker<'_>, new: New<'_>, mode: u32) -> Target {
        let directory = maker.directory?;
        let is_sized = matches!(new, New::File(_));
        let mode = (maker.set.mode.unwrap_or(mode), maker.owner);
        let file = self
            .files
            .make(directory, maker.name, new, mode, maker.now)?;
        let set = SetAttributes {
            size: maker.set.size.filter(|_| is_sized),
            ..maker.set
        };
        match self.files.set(file, &set, None, maker.now) {
            Ok(()) => Ok(file),
            Err(error) => {
                // It is not left behind without what was asked for.
                let removed = self.files.remove(directory, maker.name, false, maker.now);
                Err(removed.err().unwrap_or(error).into())
            }
        }
    }

    /// The results of all procedures that make something.
    fn made(
        &self,
        message: &mut Message,
        made: Target,
        directory: Target,
        before: Option<Attributes>,
    ) -> Done {
        if let Some(file) = write_status(message, made) {
            self.found(message, file)?;
        }
        self.weak_cache(message, before, directory);
        Ok(None)
    }

    /// `post_op_fh3` and `post_op_attr`.
    fn found(&self, message: &mut Message, file: FileId) -> Result<(), NoResults> {
        option(message, true);
        self.handle(message, file)?;
        self.post_attributes(message, Ok(file));
        Ok(())
    }

    pub(super) fn make_directory(&mut self, mut call: Call<'_, '_>) -> Done {
        let named = self.named(&mut call.arguments)?;
        let set = read_set_attributes(&mut call.arguments, call.now)?;
        call.arguments.finish()?;
        let set = SetAttributes { size: None, ..set };
        let maker = Maker::new(named, set, (call.owner, call.now));
        let before = self.known(maker.directory);
        let made = self.make(&maker, New::Directory, DIRECTORY_MODE);
        self.made(call.results, made, maker.directory, before)
    }

    pub(super) fn make_link(&mut self, mut call: Call<'_, '_>) -> Done {
        let named = self.named(&mut call.arguments)?;
        let set = read_set_attributes(&mut call.arguments, call.now)?;
        let path = source(call.arguments.opaque(PATH_OCTETS_DECODED)?);
        call.arguments.finish()?;
        let maker = Maker::new(named, set, (call.owner, call.now));
        let before = self.known(maker.directory);
        let made = self.make(&maker, New::Link(path), LINK_MODE);
        self.made(call.results, made, maker.directory, before)
    }

    /// There are no devices, sockets and FIFOs here (RFC 1813, 3.3.11: NFS3ERR_NOTSUPP).
    pub(super) fn make_node(&mut self, mut call: Call<'_, '_>) -> Done {
        let (directory, _) = self.named(&mut call.arguments)?;
        status(call.results, Status::NOTSUPP);
        let before = self.known(directory);
        self.weak_cache(call.results, before, directory);
        Ok(None)
    }
}
