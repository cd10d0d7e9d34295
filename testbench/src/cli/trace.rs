//! `--trace`: waveforms of a playback, written beside their names and checked.
//!
//! ```text
//!  folder of x.fst --> .ferrowarp-*/x.fst, x.1.fst (by the simulation) --> checked --> renamed
//! ```
//!
//! The writer of waveforms reports no errors, so a full disk shows only in the file: its blocks do
//! not fill it, or the last ones are missing. An FST file is a sequence of blocks, each a kind of
//! one octet and a length of eight (most significant first) that counts itself and what follows. A
//! closed file has a header, and at its end the geometry and the hierarchy of its signals.

use crate::cli::json::unusable;
use crate::cli::outcome::Failure;
use rnic_output::temporary::TemporaryFolder;
use rnic_output::{shown, Claims};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Kinds of blocks: the header, the geometry, and the hierarchy by its compressions.
const HEADER: u8 = 0;
const GEOMETRY: u8 = 3;
const HIERARCHIES: [u8; 3] = [4, 6, 7];

/// Waveforms that are being written.
#[derive(Debug)]
pub(crate) struct Waveforms {
    folder: TemporaryFolder,
    target: PathBuf,
}

impl Waveforms {
    /// A place for those of `path`: it can be written, and nothing that must stay is there.
    pub(crate) fn open(claims: &mut Claims, path: &Path) -> Result<Self, Failure> {
        let target = claims.regular("--trace", path)?;
        let failed = |error: io::Error| format!("--trace {}: {error}", shown(path));
        let folder = TemporaryFolder::new_in(folder(&target)).map_err(failed)?;
        Ok(Self { folder, target })
    }

    /// Where the simulation writes the first one; those of further devices are beside it.
    pub(crate) fn path(&self) -> PathBuf {
        let name = self.target.file_name().unwrap_or_default();
        self.folder.path().join(name)
    }

    /// The simulation has closed them: whatever ended it, they take their names.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let beside = self.folder.path();
        let entries = fs::read_dir(beside).map_err(|error| unusable(beside, &error))?;
        for entry in entries {
            let written = entry.map_err(|error| unusable(beside, &error))?.path();
            let name = written.file_name().unwrap_or_default();
            let target = self.target.with_file_name(name);
            let failed = |error: io::Error| format!("--trace {}: {error}", shown(&target));
            if !is_whole(&written).map_err(failed)? {
                return Err(format!(
                    "--trace {}: the waveform is not whole; the disk is full, or its limit is \
                     reached; limit it by --trace-frames A..B",
                    shown(&target)
                )
                .into());
            }
            // Of devices beyond the first: their names were not given.
            let target = Claims::new().regular("--trace", &target)?;
            fs::rename(&written, &target).map_err(failed)?;
        }
        Ok(())
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Is the waveform at `path` closed, with all of its blocks?
fn is_whole(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let octets = file.metadata()?.len();
    let (mut at, mut kinds) = (0, BTreeSet::new());
    while at < octets {
        let mut head = [0; 9];
        file.seek(SeekFrom::Start(at))?;
        if file.read(&mut head)? < head.len() {
            return Ok(false);
        }
        let mut length = [0; 8];
        length.copy_from_slice(&head[1..]);
        let length = u64::from_be_bytes(length);
        kinds.insert(head[0]);
        let next = at.checked_add(1).and_then(|at| at.checked_add(length));
        match next.filter(|next| length >= 8 && *next <= octets) {
            Some(next) => at = next,
            None => return Ok(false),
        }
    }
    let ends = HIERARCHIES.iter().any(|kind| kinds.contains(kind));
    Ok(kinds.contains(&HEADER) && kinds.contains(&GEOMETRY) && ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: u8, octets: usize) -> Vec<u8> {
        let length = (octets as u64 + 8).to_be_bytes();
        [&[kind][..], &length, &vec![7; octets]].concat()
    }

    #[test]
    fn a_waveform_that_is_not_closed_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.fst");
        let whole = |octets: &[u8]| {
            fs::write(&path, octets).expect("room");
            is_whole(&path).expect("a file")
        };
        let closed = [
            block(HEADER, 321),
            block(5, 100),
            block(GEOMETRY, 9),
            block(6, 40),
        ];
        let all = closed.concat();
        assert!(whole(&all));
        for octets in 0..all.len() {
            assert!(!whole(&all[..octets]), "{octets} octets");
        }
        assert!(!whole(
            &[closed[1].clone(), closed[2].clone(), closed[3].clone()].concat()
        ));
        let mut endless = all.clone();
        endless[1..9].fill(0xff);
        assert!(!whole(&endless));
        endless[1..9].fill(0);
        assert!(!whole(&endless));
    }
}
