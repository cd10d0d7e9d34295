//! REMOVE, RMDIR, RENAME, LINK.

use super::parts::write_status;
use super::{Call, Done, Service};
use rnic_examples::files::Memory;

impl<M: Memory> Service<M> {
    pub(super) fn remove(&mut self, mut call: Call<'_, '_>, is_directory: bool) -> Done {
        let (directory, name) = self.named(&mut call.arguments)?;
        call.arguments.finish()?;
        let before = self.known(directory);
        let removed =
            directory.and_then(|from| Ok(self.files.remove(from, name, is_directory, call.now)?));
        write_status(call.results, removed);
        self.weak_cache(call.results, before, directory);
        Ok(None)
    }

    pub(super) fn rename(&mut self, mut call: Call<'_, '_>) -> Done {
        let (from, old) = self.named(&mut call.arguments)?;
        let (to, new) = self.named(&mut call.arguments)?;
        call.arguments.finish()?;
        let before = [self.known(from), self.known(to)];
        let both = from.and_then(|from| Ok((from, to?)));
        let renamed =
            both.and_then(|(from, to)| Ok(self.files.rename((from, old), (to, new), call.now)?));
        write_status(call.results, renamed);
        self.weak_cache(call.results, before[0], from);
        self.weak_cache(call.results, before[1], to);
        Ok(None)
    }

    pub(super) fn link(&mut self, mut call: Call<'_, '_>) -> Done {
        let file = self.target(&mut call.arguments)?;
        let (directory, name) = self.named(&mut call.arguments)?;
        call.arguments.finish()?;
        let before = self.known(directory);
        let both = file.and_then(|file| Ok((file, directory?)));
        let linked = both.and_then(|(file, to)| Ok(self.files.link(file, to, name, call.now)?));
        write_status(call.results, linked);
        self.post_attributes(call.results, file);
        self.weak_cache(call.results, before, directory);
        Ok(None)
    }
}
