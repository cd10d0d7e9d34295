//! READDIR, READDIRPLUS.

use super::parts::{option, status, Target};
use super::{Call, Done, NoResults, Service};
use rnic_examples::files::{Entry, Memory};
use rnic_examples::nfs::{FileAttributes, Status};
use rpcrdma::stream::Message;

/// Octets of the longest listing, whatever is asked for.
pub const LISTING_OCTETS_MAX: u32 = 64 << 10;
/// Octets of a listing without entries: attributes of the directory, verifier, the end.
const AROUND: usize = 88 + 8 + 8;
/// Octets of an entry without its name: whether there is one, number, count, cookie.
const ENTRY: usize = 4 + 8 + 4 + 8;
/// What READDIRPLUS adds to it: attributes and a handle of this server.
const PLUS: usize = 88 + 4 + 4 + 16;

/// How much a listing may have.
struct Room {
    /// Octets of names, numbers and cookies.
    names: usize,
    /// Octets of everything.
    all: usize,
}

impl Room {
    /// Whether there is room for another entry, which is taken then.
    fn take(&mut self, entry: &Entry, has_attributes: bool) -> bool {
        let names = ENTRY + entry.name.len().next_multiple_of(4);
        let all = names + if has_attributes { PLUS } else { 0 };
        if names > self.names || all > self.all {
            return false;
        }
        self.names -= names;
        self.all -= all;
        true
    }
}

impl<M: Memory> Service<M> {
    /// Cookies are good for ever, so that the verifier is always 0.
    pub(super) fn list(&mut self, mut call: Call<'_, '_>, has_attributes: bool) -> Done {
        let reader = &mut call.arguments;
        let directory = self.target(reader)?;
        let (cookie, _verifier) = (reader.u64()?, reader.u64()?);
        let names = reader.u32()?;
        let all = match has_attributes {
            true => reader.u32()?,
            false => names,
        };
        call.arguments.finish()?;
        let room = Room {
            names: names as usize,
            all: (all.min(LISTING_OCTETS_MAX) as usize).saturating_sub(AROUND),
        };
        let (entries, is_end) = match self.entries(directory, cookie, room, has_attributes) {
            Ok(listing) => listing,
            Err(code) => {
                status(call.results, code);
                self.post_attributes(call.results, directory);
                return Ok(None);
            }
        };
        status(call.results, Status::OK);
        self.post_attributes(call.results, directory);
        call.results.u64(0);
        for entry in &entries {
            self.entry(call.results, entry, has_attributes)?;
        }
        option(call.results, false);
        call.results.u32(is_end.into());
        Ok(None)
    }

    /// The entries after a cookie that there is room for, and whether they are the last ones.
    fn entries(
        &self,
        directory: Target,
        cookie: u64,
        mut room: Room,
        has_attributes: bool,
    ) -> Result<(Vec<Entry>, bool), Status> {
        let mut entries = Vec::new();
        for entry in self.files.list(directory?, cookie)? {
            if !room.take(&entry, has_attributes) {
                return match entries.is_empty() {
                    true => Err(Status::TOOSMALL),
                    false => Ok((entries, false)),
                };
            }
            entries.push(entry);
        }
        Ok((entries, true))
    }

    fn entry(
        &self,
        message: &mut Message,
        entry: &Entry,
        has_attributes: bool,
    ) -> Result<(), NoResults> {
        option(message, true);
        message.u64(FileAttributes::number(entry.file));
        message.opaque(&entry.name)?;
        message.u64(entry.cookie);
        if has_attributes {
            self.post_attributes(message, Ok(entry.file));
            option(message, true);
            self.handle(message, entry.file)?;
        }
        Ok(())
    }
}
