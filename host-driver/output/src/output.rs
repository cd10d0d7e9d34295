//! A file that is written beside the one whose name it takes at the end.
//!
//! ```text
//!  open --> .ferrowarp-* in the same folder --> write ... --> finish: renamed
//!                                                              `-> dropped: removed
//! ```
//!
//! The new file has the permissions of the one it replaces. A hard link to the old one keeps what
//! it had. Pipes, devices and descriptors are opened and written as they are.

use crate::names::shown;
use crate::stdout::{self, StdoutError};
use crate::target::{folder, Target};
use crate::temporary::TemporaryFile;
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why something is not written. Each names the option and the file.
#[derive(Debug, Error)]
pub enum OutputError {
    /// Standard output takes no more.
    #[error(transparent)]
    Stdout(#[from] StdoutError),
    /// The file is read by the same command.
    #[error(
        "{option} {}: this command reads that file; choose another one",
        shown(path)
    )]
    IsInput {
        /// The option.
        option: &'static str,
        /// Its value.
        path: PathBuf,
    },
    /// The file holds a capture.
    #[error(
        "{option} {}: a capture is there, and is kept; choose another file",
        shown(path)
    )]
    IsCapture {
        /// The option.
        option: &'static str,
        /// Its value.
        path: PathBuf,
    },
    /// Two options name one file.
    #[error(
        "{option} {}: {other} writes there as well; choose another file",
        shown(path)
    )]
    Twice {
        /// The option.
        option: &'static str,
        /// Its value.
        path: PathBuf,
        /// The other one.
        other: &'static str,
    },
    /// Only a regular file can be written.
    #[error("{option} {}: no regular file; choose another one", shown(path))]
    Irregular {
        /// The option.
        option: &'static str,
        /// Its value.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("{option} {}: {source}", shown(path))]
    Write {
        /// The option.
        option: &'static str,
        /// Its value.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Whether a command fails because the reader of its standard output has left: then nobody waits
/// for a word.
pub fn is_closed(failure: &(dyn Error + 'static)) -> bool {
    let stdout = match failure.downcast_ref() {
        Some(OutputError::Stdout(error)) => Some(error),
        _ => failure.downcast_ref(),
    };
    matches!(stdout, Some(StdoutError::Closed))
}

/// A file that is being written.
#[derive(Debug)]
pub struct Output {
    option: &'static str,
    /// As the user wrote it.
    path: PathBuf,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Stdout,
    Beside {
        temporary: TemporaryFile,
        target: PathBuf,
        /// Of the file that is replaced.
        permissions: Option<fs::Permissions>,
    },
    Direct(File),
}

impl Way {
    fn open(target: Target) -> io::Result<Self> {
        Ok(match target {
            Target::Stdout => Self::Stdout,
            Target::File { path, id } => {
                let permissions = match id {
                    // One that may not be written is not replaced either.
                    Some(_) => Some(
                        OpenOptions::new()
                            .write(true)
                            .open(&path)?
                            .metadata()?
                            .permissions(),
                    ),
                    None => None,
                };
                Self::Beside {
                    temporary: TemporaryFile::new_in(folder(&path))?,
                    target: path,
                    permissions,
                }
            }
            // At its end: a descriptor may be a file that others write as well.
            Target::Special(path) => Self::Direct(OpenOptions::new().append(true).open(path)?),
        })
    }
}

impl Output {
    pub(crate) fn open(
        option: &'static str,
        path: &Path,
        target: Target,
    ) -> Result<Self, OutputError> {
        let way = Way::open(target).map_err(|source| OutputError::Write {
            option,
            path: path.into(),
            source,
        })?;
        let path = path.into();
        Ok(Self { option, path, way })
    }

    /// Is it standard output?
    pub fn is_stdout(&self) -> bool {
        matches!(self.way, Way::Stdout)
    }

    /// The file as the user wrote it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, source: io::Error) -> OutputError {
        OutputError::Write {
            option: self.option,
            path: self.path.clone(),
            source,
        }
    }

    /// Write more.
    ///
    /// # Errors
    /// There is no room, or no reader.
    pub fn write(&mut self, octets: &[u8]) -> Result<(), OutputError> {
        let written = match &mut self.way {
            Way::Stdout => return Ok(stdout::write(octets)?),
            Way::Beside { temporary, .. } => temporary.file.write_all(octets),
            Way::Direct(file) => file.write_all(octets),
        };
        written.map_err(|source| self.failed(source))
    }

    /// All is written: the file takes its name.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn finish(self) -> Result<(), OutputError> {
        let (option, path) = (self.option, self.path);
        let failed = |source| OutputError::Write {
            option,
            path,
            source,
        };
        let Way::Beside {
            temporary,
            target,
            permissions,
        } = self.way
        else {
            return Ok(());
        };
        if let Some(permissions) = permissions {
            let set = temporary.file.as_file().set_permissions(permissions);
            if let Err(error) = set {
                return Err(failed(error));
            }
        }
        match temporary.file.persist(target) {
            Ok(_) => Ok(()),
            Err(error) => Err(failed(error.error)),
        }
    }

    /// The command ends early: what is written takes its name if no file has it, and does not
    /// replace one. Says whether it is kept.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn keep_beside_earlier(self) -> Result<bool, OutputError> {
        let (option, path) = (self.option, self.path);
        let Way::Beside {
            temporary, target, ..
        } = self.way
        else {
            return Ok(true);
        };
        match temporary.file.persist_noclobber(target) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(OutputError::Write {
                option,
                path,
                source: error.error,
            }),
        }
    }
}
