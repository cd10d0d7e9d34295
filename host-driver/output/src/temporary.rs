//! Files and folders that exist only while a command runs, known to whoever must end it at once.
//!
//! Each is removed when it is dropped. A signal ends the process without that, so whoever handles
//! signals calls [`remove_all`] first. SIGKILL leaves them: names begin with [`PREFIX`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{NamedTempFile, TempDir};

/// What the names of temporary files and folders begin with.
pub const PREFIX: &str = ".ferrowarp-";

static EXISTING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn existing() -> MutexGuard<'static, Vec<PathBuf>> {
    // Whoever panicked left a list.
    EXISTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remove all that is there: the process ends.
pub fn remove_all() {
    for path in existing().drain(..) {
        // What is gone needs no removal, and nothing else can be done.
        let _ = match path.is_dir() {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
    }
}

/// An entry of the list.
#[derive(Debug)]
struct Entry(PathBuf);

impl Entry {
    fn new(path: &Path) -> Self {
        existing().push(path.to_path_buf());
        Self(path.to_path_buf())
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        existing().retain(|path| *path != self.0);
    }
}

/// An error without the temporary name that tempfile adds to it: it says nothing to a user.
fn plain(error: io::Error) -> io::Error {
    error.kind().into()
}

/// A file that is to take the place of another one. The file is dropped, and so removed, before
/// its entry.
#[derive(Debug)]
pub(crate) struct TemporaryFile {
    pub(crate) file: NamedTempFile,
    _entry: Entry,
}

impl TemporaryFile {
    /// A new file in `folder`, with the permissions that the umask leaves.
    pub(crate) fn new_in(folder: &Path) -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(folder)?;
        let file = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .map_err(plain)?;
        let _entry = Entry::new(file.path());
        Ok(Self { file, _entry })
    }
}

/// A folder beside a file, for what a library writes by itself.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: TempDir,
    _entry: Entry,
}

impl TemporaryFolder {
    /// A new folder in `folder`.
    ///
    /// # Errors
    /// The system's, such as for a folder that cannot be written.
    pub fn new_in(folder: &Path) -> io::Result<Self> {
        fs::metadata(folder)?;
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(folder);
        let folder = made.map_err(plain)?;
        let _entry = Entry::new(folder.path());
        Ok(Self { folder, _entry })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_gone_and_forgotten() {
        let place = tempfile::tempdir().expect("a folder");
        let is_known = |path: &Path| existing().iter().any(|known| known == path);
        let file = TemporaryFile::new_in(place.path()).expect("room");
        let folder = TemporaryFolder::new_in(place.path()).expect("room");
        let paths = [file.file.path().to_path_buf(), folder.path().to_path_buf()];
        assert!(paths.iter().all(|path| path.exists() && is_known(path)));
        drop((file, folder));
        assert!(paths.iter().all(|path| !path.exists() && !is_known(path)));
    }
}
