//! Where an output goes: standard output, a regular file, or what is written as it is.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Links followed from one name; Linux' own limit.
const LINKS_MAX: usize = 40;

/// What a file is, whatever its names: device and inode.
pub(crate) type FileId = (u64, u64);

/// Where an output goes.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// `-`.
    Stdout,
    /// A regular file, or none yet. Links to it are resolved, so they stay links.
    File { path: PathBuf, id: Option<FileId> },
    /// A pipe, a device, a terminal, an open descriptor: nothing takes its place.
    Special(PathBuf),
}

impl Target {
    /// What `path` leads to.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        let mut path = path.to_path_buf();
        if path.file_name().is_none() || path.as_os_str().as_bytes().ends_with(b"/") {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        for _ in 0..LINKS_MAX {
            // `/dev/stdout` leads there, too: the file that is open has readers of its own.
            if path.starts_with("/dev/fd") || is_descriptor(&path) {
                return Ok(Self::Special(path));
            }
            match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Self::File { path, id: None })
                }
                Err(error) => return Err(error),
                Ok(found) if found.is_symlink() => {
                    let link = fs::read_link(&path)?;
                    path = folder(&path).join(link);
                }
                Ok(found) if found.is_file() => {
                    let id = Some((found.dev(), found.ino()));
                    return Ok(Self::File { path, id });
                }
                Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
                Ok(_) => return Ok(Self::Special(path)),
            }
        }
        Err(io::Error::other("a circle of links"))
    }
}

/// `/proc/self/fd/1` and the like.
fn is_descriptor(path: &Path) -> bool {
    path.starts_with("/proc") && path.parent().is_some_and(|folder| folder.ends_with("fd"))
}

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The file that is open as standard input.
pub(crate) fn stdin_id() -> Option<FileId> {
    file_id(Path::new("/dev/stdin"))
}

/// The regular file that `path` leads to.
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    let found = fs::metadata(path).ok()?;
    found.is_file().then(|| (found.dev(), found.ino()))
}
