//! What a command reads and writes: no output is an input, an existing capture, or another output.
//!
//! Files are compared by device and inode, so links of either kind are no way around. An existing
//! capture is known by its first octets. An earlier report may be replaced.

use crate::magic::holds_capture;
use crate::output::{Output, OutputError};
use crate::target::{file_id, folder, stdin_id, FileId, Target};
use std::ffi::OsString;
use std::path::Path;

/// A file that does not exist: its folder's device and inode, and its name.
type NewFile = (Option<FileId>, OsString);

/// Files of a command.
#[derive(Debug, Default)]
pub struct Claims {
    inputs: Vec<FileId>,
    outputs: Vec<(&'static str, Place)>,
}

/// Where an output goes, to be compared.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Stdout,
    File(FileId),
    New(NewFile),
}

/// What becomes of a capture that exists.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Captures {
    Kept,
    Replaced,
}

impl Claims {
    /// Nothing is read or written.
    pub fn new() -> Self {
        Self::default()
    }

    /// `path` is read; `-` is standard input. One that does not exist is refused by its reader.
    pub fn input(&mut self, path: &Path) {
        let id = match path == Path::new("-") {
            true => stdin_id(),
            false => file_id(path),
        };
        self.inputs.extend(id);
    }

    /// `path` is written, for `option`; `-` is standard output. Nothing in its place changes before
    /// [`Output::finish`], but it is certain that it can be written.
    ///
    /// # Errors
    /// [`OutputError`]: the path cannot be written, or must not.
    pub fn output(&mut self, option: &'static str, path: &Path) -> Result<Output, OutputError> {
        self.open(option, path, Captures::Kept)
    }

    /// As [`Claims::output`], and a capture that exists is replaced; an input still is not.
    ///
    /// # Errors
    /// As there.
    pub fn output_over_capture(
        &mut self,
        option: &'static str,
        path: &Path,
    ) -> Result<Output, OutputError> {
        self.open(option, path, Captures::Replaced)
    }

    fn open(
        &mut self,
        option: &'static str,
        path: &Path,
        captures: Captures,
    ) -> Result<Output, OutputError> {
        let target = self.claim(option, path, captures)?;
        Output::open(option, path, target)
    }

    /// As [`Claims::output`] for what a library writes by itself: only a regular file will do. The
    /// path is given with its links resolved.
    ///
    /// # Errors
    /// As there.
    pub fn regular(
        &mut self,
        option: &'static str,
        path: &Path,
    ) -> Result<std::path::PathBuf, OutputError> {
        match self.claim(option, path, Captures::Kept)? {
            Target::File { path, .. } => Ok(path),
            Target::Stdout | Target::Special(_) => Err(OutputError::Irregular {
                option,
                path: path.into(),
            }),
        }
    }

    /// Note where `path` leads, unless it must not be written.
    fn claim(
        &mut self,
        option: &'static str,
        path: &Path,
        captures: Captures,
    ) -> Result<Target, OutputError> {
        let failed = |source| OutputError::Write {
            option,
            path: path.into(),
            source,
        };
        let target = Target::of(path).map_err(failed)?;
        // Of a descriptor, such as /dev/stdout, the file that is open.
        let id = match &target {
            Target::Stdout => None,
            Target::File { id, .. } => *id,
            Target::Special(path) => file_id(path),
        };
        if id.is_some_and(|id| self.inputs.contains(&id)) {
            let path = path.into();
            return Err(OutputError::IsInput { option, path });
        }
        if let (Target::File { path: file, .. }, Some(_), Captures::Kept) = (&target, id, captures)
        {
            if holds_capture(file).map_err(failed)? {
                let path = path.into();
                return Err(OutputError::IsCapture { option, path });
            }
        }
        let place = match (&target, id) {
            (Target::Stdout, _) => Some(Place::Stdout),
            (_, Some(id)) => Some(Place::File(id)),
            (Target::File { path, .. }, None) => {
                let name = path.file_name().unwrap_or_default().to_owned();
                Some(Place::New((folder_id(path), name)))
            }
            (Target::Special(_), None) => None,
        };
        if let Some(place) = place {
            if let Some((other, _)) = self.outputs.iter().find(|(_, known)| *known == place) {
                return Err(OutputError::Twice {
                    option,
                    path: path.into(),
                    other,
                });
            }
            self.outputs.push((option, place));
        }
        Ok(target)
    }
}

fn folder_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(folder(path)).ok()?;
    Some((found.dev(), found.ino()))
}
