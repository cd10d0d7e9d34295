//! MOUNT (RFC 1813, appendix I). Nothing is kept of who has mounted what.

use super::parts::{option, write_status};
use super::{Call, Done, Service};
use rnic_examples::files::{FileId, Kind, Memory};
use rnic_examples::nfs::mount::PATH_OCTETS_MAX;
use rnic_examples::nfs::Status;
use rpcrdma::binding::auth::flavor;

/// What may be mounted: every directory, of which this one is listed.
const EXPORT: &[u8] = b"/";

impl<M: Memory> Service<M> {
    /// MNT: any directory, by its path from the root.
    pub(super) fn mount_path(&mut self, mut call: Call<'_, '_>) -> Done {
        let path = call.arguments.inline_opaque(PATH_OCTETS_MAX)?;
        call.arguments.finish()?;
        let found = self.walk(path);
        if let Some(file) = write_status(call.results, found) {
            self.handle(call.results, file)?;
            let flavors = [flavor::SYS, flavor::NONE];
            call.results.u32(flavors.len() as u32);
            flavors
                .into_iter()
                .for_each(|flavor| call.results.u32(flavor));
        }
        Ok(None)
    }

    fn walk(&self, path: &[u8]) -> Result<FileId, Status> {
        let names = path.split(|octet| *octet == b'/');
        let mut names = names.filter(|name| !name.is_empty());
        let root = self.files.root();
        let found = names.try_fold(root, |at, name| self.files.look_up(at, name))?;
        match self.files.attributes(found)?.kind {
            Kind::Directory => Ok(found),
            Kind::File | Kind::Link => Err(Status::NOTDIR),
        }
    }

    /// DUMP: no mounts are known.
    pub(super) fn mounts(call: Call<'_, '_>) -> Done {
        call.arguments.finish()?;
        option(call.results, false);
        Ok(None)
    }

    /// UMNT: there is nothing to forget.
    pub(super) fn unmount(mut call: Call<'_, '_>) -> Done {
        call.arguments.inline_opaque(PATH_OCTETS_MAX)?;
        call.arguments.finish()?;
        Ok(None)
    }

    /// EXPORT: the root, for everybody.
    pub(super) fn exports(call: Call<'_, '_>) -> Done {
        call.arguments.finish()?;
        option(call.results, true);
        call.results.opaque(EXPORT)?;
        // No groups, and no other export.
        option(call.results, false);
        option(call.results, false);
        Ok(None)
    }
}
