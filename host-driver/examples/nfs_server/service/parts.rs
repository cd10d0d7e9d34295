//! What calls and replies have in common: handles, names, attributes before and after.

use super::{NoResults, Service};
use rnic_examples::files::{Attributes, FileId, Memory};
use rnic_examples::nfs::{FileAttributes, Handle, Status};
use rpcrdma::stream::{DecodeError, Message, Reader};

/// A file that a handle names, or why it names none.
pub type Target = Result<FileId, Status>;

/// Names that are longer than any file's are decoded, so that the answer can say so.
const NAME_OCTETS_DECODED: u32 = 4096;

/// Read `diropargs3`'s name.
pub fn name<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    reader.inline_opaque(NAME_OCTETS_DECODED)
}

/// Append a word that says whether something follows.
pub fn option(message: &mut Message, follows: bool) {
    message.u32(follows.into());
}

pub fn status(message: &mut Message, status: Status) {
    message.u32(status.0);
}

/// Write the status of `result`; what it has.
pub fn write_status<T>(message: &mut Message, result: Result<T, Status>) -> Option<T> {
    let (code, value) = match result {
        Ok(value) => (Status::OK, Some(value)),
        Err(code) => (code, None),
    };
    status(message, code);
    value
}

impl<M: Memory> Service<M> {
    /// Read a handle.
    pub(super) fn target(&self, reader: &mut Reader<'_>) -> Result<Target, DecodeError> {
        let handle = Handle::read(reader)?;
        Ok(match handle.file() {
            None => Err(Status::BADHANDLE),
            // From before a restart: those files are gone.
            Some((instance, _)) if instance != self.instance => Err(Status::STALE),
            Some((_, file)) => self
                .files
                .attributes(file)
                .map(|_| file)
                .map_err(Status::from),
        })
    }

    /// Read a directory's handle and a name.
    pub(super) fn named<'a>(
        &self,
        reader: &mut Reader<'a>,
    ) -> Result<(Target, &'a [u8]), DecodeError> {
        Ok((self.target(reader)?, name(reader)?))
    }

    /// What is known of a file before something is done with it.
    pub(super) fn known(&self, file: Target) -> Option<Attributes> {
        self.files.attributes(file.ok()?).ok()
    }

    pub(super) fn handle(&self, message: &mut Message, file: FileId) -> Result<(), NoResults> {
        Ok(Handle::of_file(self.instance, file).write(message)?)
    }

    /// Append `post_op_attr`.
    pub(super) fn post_attributes(&self, message: &mut Message, file: Target) {
        let known = self.known(file);
        option(message, known.is_some());
        if let Some(known) = known {
            FileAttributes::of(&known, self.instance).write(message);
        }
    }

    /// Append `wcc_data`: `before` is what was known before.
    pub(super) fn weak_cache(
        &self,
        message: &mut Message,
        before: Option<Attributes>,
        file: Target,
    ) {
        option(message, before.is_some());
        if let Some(before) = before {
            message.u64(before.size);
            for time in [before.modified, before.changed] {
                message.u32(time.seconds);
                message.u32(time.nanoseconds);
            }
        }
        self.post_attributes(message, file);
    }
}
