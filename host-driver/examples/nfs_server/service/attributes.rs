//! GETATTR, SETATTR, LOOKUP, ACCESS, FSSTAT, FSINFO, PATHCONF.

use super::list::LISTING_OCTETS_MAX;
use super::parts::write_status;
use super::{Call, Done, Service};
use rnic_examples::files::{Kind, Memory, Time, FILE_OCTETS_MAX, LINKS_MAX, NAME_OCTETS_MAX};
use rnic_examples::nfs::{read_set_attributes, FileAttributes, IO_OCTETS_MAX};

/// Rights of ACCESS (RFC 1813, 3.3.4).
const READ: u32 = 0x01;
const LOOKUP: u32 = 0x02;
const MODIFY: u32 = 0x04;
const EXTEND: u32 = 0x08;
const DELETE: u32 = 0x10;
const EXECUTE: u32 = 0x20;
/// Properties of FSINFO (RFC 1813, 3.3.19): hard links, symbolic links, PATHCONF is the same
/// everywhere, times can be set.
const PROPERTIES: u32 = 0x01 | 0x02 | 0x08 | 0x10;
/// Octets that READ and WRITE are best a multiple of: a page.
const IO_MULTIPLE: u32 = 4096;

impl<M: Memory> Service<M> {
    pub(super) fn get_attributes(&mut self, mut call: Call<'_, '_>) -> Done {
        let file = self.target(&mut call.arguments)?;
        call.arguments.finish()?;
        let known = file.and_then(|file| Ok(self.files.attributes(file)?));
        if let Some(known) = write_status(call.results, known) {
            FileAttributes::of(&known, self.instance).write(call.results);
        }
        Ok(None)
    }

    pub(super) fn set_attributes(&mut self, mut call: Call<'_, '_>) -> Done {
        let reader = &mut call.arguments;
        let file = self.target(reader)?;
        let set = read_set_attributes(reader, call.now)?;
        let guard = match reader.u32()? {
            0 => None,
            _ => Some(Time {
                seconds: reader.u32()?,
                nanoseconds: reader.u32()?,
            }),
        };
        call.arguments.finish()?;
        let before = self.known(file);
        let done = file.and_then(|file| Ok(self.files.set(file, &set, guard, call.now)?));
        write_status(call.results, done);
        self.weak_cache(call.results, before, file);
        Ok(None)
    }

    pub(super) fn look_up(&mut self, mut call: Call<'_, '_>) -> Done {
        let (directory, name) = self.named(&mut call.arguments)?;
        call.arguments.finish()?;
        let found = directory.and_then(|directory| Ok(self.files.look_up(directory, name)?));
        if let Some(file) = write_status(call.results, found) {
            self.handle(call.results, file)?;
            self.post_attributes(call.results, Ok(file));
        }
        self.post_attributes(call.results, directory);
        Ok(None)
    }

    /// Everybody may do whatever the kind of the file allows.
    pub(super) fn access(&mut self, mut call: Call<'_, '_>) -> Done {
        let file = self.target(&mut call.arguments)?;
        let asked = call.arguments.u32()?;
        call.arguments.finish()?;
        let known = file.and_then(|file| Ok(self.files.attributes(file)?));
        let known = write_status(call.results, known);
        self.post_attributes(call.results, file);
        if let Some(known) = known {
            let may = match known.kind {
                Kind::Directory => READ | LOOKUP | MODIFY | EXTEND | DELETE,
                _ if known.mode & 0o111 != 0 => READ | MODIFY | EXTEND | EXECUTE,
                _ => READ | MODIFY | EXTEND,
            };
            call.results.u32(asked & may);
        }
        Ok(None)
    }

    /// FSSTAT.
    pub(super) fn space(&mut self, mut call: Call<'_, '_>) -> Done {
        let file = self.target(&mut call.arguments)?;
        call.arguments.finish()?;
        let is_known = write_status(call.results, file).is_some();
        self.post_attributes(call.results, file);
        if is_known {
            let usage = self.files.usage();
            let octets = [usage.octets, usage.octets_free, usage.octets_free];
            let files = [usage.files, usage.files_free, usage.files_free];
            let figures = octets.into_iter().chain(files);
            figures.for_each(|figure| call.results.u64(figure));
            // Seconds for which this stays so: none.
            call.results.u32(0);
        }
        Ok(None)
    }

    /// FSINFO.
    pub(super) fn limits(&mut self, mut call: Call<'_, '_>) -> Done {
        let file = self.target(&mut call.arguments)?;
        call.arguments.finish()?;
        let is_known = write_status(call.results, file).is_some();
        self.post_attributes(call.results, file);
        if is_known {
            let io = [IO_OCTETS_MAX, IO_OCTETS_MAX, IO_MULTIPLE];
            let words = io.into_iter().chain(io).chain([LISTING_OCTETS_MAX]);
            words.for_each(|word| call.results.u32(word));
            call.results.u64(FILE_OCTETS_MAX);
            // Times differ by a nanosecond.
            call.results.u32(0);
            call.results.u32(1);
            call.results.u32(PROPERTIES);
        }
        Ok(None)
    }

    /// PATHCONF.
    pub(super) fn path_limits(&mut self, mut call: Call<'_, '_>) -> Done {
        let file = self.target(&mut call.arguments)?;
        call.arguments.finish()?;
        let is_known = write_status(call.results, file).is_some();
        self.post_attributes(call.results, file);
        if is_known {
            call.results.u32(LINKS_MAX);
            call.results.u32(NAME_OCTETS_MAX as u32);
            // Long names are refused; anybody may give a file away; case counts, and is kept.
            [1, 0, 0, 1]
                .into_iter()
                .for_each(|word| call.results.u32(word));
        }
        Ok(None)
    }
}
