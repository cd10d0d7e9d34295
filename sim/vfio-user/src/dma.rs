//! Memory of the client, as the device addresses it.
//!
//! ```text
//!   IOVA   0     first         last                                     2^64
//!          |------[== map ======]----[== map ==][== map ==]--- ... ------|
//!                    |                  |           `-- without a file: not reachable
//!                    | offset           | offset
//!   file          [==v==================v=======]   one mapping each file, grown as needed
//! ```
//!
//! An access may span maps that touch. It is checked as a whole first: of a refused access no
//! octet is read or written. A guest behind an emulated IOMMU makes thousands of maps into one
//! file; since each file is mapped once, they cost a table entry each and no system resource.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use rustix::fs::{fcntl_get_seals, fstat, FileType, SealFlags};
use rustix::io::Errno;
use thiserror::Error;

use crate::mapped::Mapped;
use crate::protocol::{self, map_flags};

/// Most maps of a session: what a client may assume of a server that does not say.
pub const MAPS_MAX: usize = 65_535;
/// Most files they lie in. A machine's memory is one file each node or memory device.
pub const FILES_MAX: usize = 1024;

/// What a map allows the device.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Access {
    /// To read.
    pub read: bool,
    /// To write.
    pub write: bool,
}

impl Access {
    /// To read only.
    pub const READ: Self = Self {
        read: true,
        write: false,
    };
    /// To write only.
    pub const WRITE: Self = Self {
        read: false,
        write: true,
    };
    /// To read and write.
    pub const READ_WRITE: Self = Self {
        read: true,
        write: true,
    };

    /// As in a message.
    pub(crate) fn flags(self) -> u32 {
        let read = if self.read { map_flags::READ } else { 0 };
        let write = if self.write { map_flags::WRITE } else { 0 };
        read | write
    }

    /// All that is asked for is allowed.
    fn allows(self, asked: Self) -> bool {
        (self.read || !asked.read) && (self.write || !asked.write)
    }
}

/// Why the device must not access memory. No octet was read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum DmaFault {
    /// No map holds this octet.
    #[error("IOVA {iova:#x} is not mapped")]
    Unmapped {
        /// The first such octet of the access.
        iova: u64,
    },
    /// The map that holds this octet does not allow the access.
    #[error("the map at IOVA {iova:#x} does not allow this access")]
    Forbidden {
        /// The first such octet of the access.
        iova: u64,
    },
    /// The client sent no file for the map that holds this octet.
    #[error("the map at IOVA {iova:#x} has no file and cannot be reached")]
    NotReachable {
        /// The first such octet of the access.
        iova: u64,
    },
}

/// A handle on the maps of a session; clones are handles on the same maps.
///
/// When the session ends, every access faults.
#[derive(Clone, Default)]
pub struct DmaMap(Rc<RefCell<Table>>);

impl DmaMap {
    /// Reads memory of the client.
    pub fn read(&self, iova: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        let table = self.0.borrow();
        table.check(iova, out.len() as u64, Access::READ)?;
        let mut rest = out;
        for piece in table.pieces(iova, rest.len() as u64) {
            let (place, after) = rest.split_at_mut(piece.octets as usize);
            let (file, offset) = piece.place().expect("it was checked");
            file.borrow().read(offset, place);
            rest = after;
        }
        Ok(())
    }

    /// Writes memory of the client: addresses ascend, aligned words of eight octets are whole.
    pub fn write(&self, iova: u64, data: &[u8]) -> Result<(), DmaFault> {
        let table = self.0.borrow();
        table.check(iova, data.len() as u64, Access::WRITE)?;
        let mut rest = data;
        for piece in table.pieces(iova, rest.len() as u64) {
            let (octets, after) = rest.split_at(piece.octets as usize);
            let (file, offset) = piece.place().expect("it was checked");
            file.borrow().write(offset, octets);
            rest = after;
        }
        Ok(())
    }

    /// A read of these octets would succeed now.
    pub fn may_read(&self, iova: u64, octets: u64) -> Result<(), DmaFault> {
        self.0.borrow().check(iova, octets, Access::READ)
    }

    /// A write of these octets would succeed now.
    pub fn may_write(&self, iova: u64, octets: u64) -> Result<(), DmaFault> {
        self.0.borrow().check(iova, octets, Access::WRITE)
    }

    /// Maps, reachable or not.
    pub fn map_count(&self) -> usize {
        self.0.borrow().maps.len()
    }

    /// Files that are mapped.
    pub fn file_count(&self) -> usize {
        self.0.borrow().files.len()
    }

    /// Carries out [`protocol::Command::DmaMap`].
    pub(crate) fn map(
        &self,
        request: &protocol::DmaMap,
        file: Option<OwnedFd>,
        sealed_only: bool,
    ) -> Result<(), Errno> {
        self.0.borrow_mut().map(request, file, sealed_only)
    }

    /// How many maps an unmapping of `range` would remove. One that is only in part within it
    /// refuses the unmapping: vfio has no halves either.
    pub(crate) fn covered(&self, range: &RangeInclusive<u64>) -> Result<usize, Errno> {
        self.0.borrow().covered(range)
    }

    /// Removes the maps within `range`; their octets, modulo 2^64.
    pub(crate) fn remove(&self, range: &RangeInclusive<u64>) -> u64 {
        let mut table = self.0.borrow_mut();
        let mut octets = 0_u64;
        table.maps.retain(|first, map| {
            let is_within = range.contains(first) && range.contains(&map.last);
            if is_within {
                octets = octets.wrapping_add(map.last - first).wrapping_add(1);
            }
            !is_within
        });
        // A file without maps is released.
        table.files.retain(|_, file| Rc::strong_count(file) > 1);
        octets
    }
}

impl fmt::Debug for DmaMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut maps = f.debug_map();
        for (first, map) in &self.0.borrow().maps {
            maps.entry(first, &(map.last, map.access, map.place.is_some()));
        }
        maps.finish()
    }
}

/// Device and inode: the file, whatever descriptor it came by. A mapping keeps the inode in use.
type FileId = (u64, u64);
type SharedFile = Rc<RefCell<Mapped>>;

#[derive(Default)]
struct Table {
    /// By first IOVA; no two overlap.
    maps: BTreeMap<u64, Map>,
    files: HashMap<FileId, SharedFile>,
}

struct Map {
    last: u64,
    access: Access,
    /// The file and where the map begins in it, if there is one.
    place: Option<(SharedFile, u64)>,
}

/// The part of an access that is within one map.
struct Piece<'a> {
    map: &'a Map,
    /// From the map's start.
    within: u64,
    octets: u64,
}

impl Piece<'_> {
    /// The file and where the piece begins in it.
    fn place(&self) -> Option<(&SharedFile, u64)> {
        let (file, offset) = self.map.place.as_ref()?;
        Some((file, offset + self.within))
    }
}

impl Table {
    /// The map that holds `iova`.
    fn find(&self, iova: u64) -> Option<(u64, &Map)> {
        let (first, map) = self.maps.range(..=iova).next_back()?;
        (map.last >= iova).then_some((*first, map))
    }

    /// The pieces of an access, up to its end or the first octet that is not mapped.
    fn pieces(&self, iova: u64, octets: u64) -> impl Iterator<Item = Piece<'_>> {
        let mut next = (octets > 0).then_some((iova, octets));
        std::iter::from_fn(move || {
            let (iova, left) = next?;
            let (first, map) = self.find(iova)?;
            // One less than the octets to the map's end, which may be 2^64.
            let last_offset = map.last - iova;
            let octets = left.min(last_offset.saturating_add(1));
            next = match iova.checked_add(octets) {
                Some(iova) if left > octets => Some((iova, left - octets)),
                _ => None,
            };
            let within = iova - first;
            Some(Piece {
                map,
                within,
                octets,
            })
        })
    }

    fn check(&self, iova: u64, octets: u64, asked: Access) -> Result<(), DmaFault> {
        let mut done = 0;
        for piece in self.pieces(iova, octets) {
            let iova = iova + done;
            if !piece.map.access.allows(asked) {
                return Err(DmaFault::Forbidden { iova });
            }
            if piece.map.place.is_none() {
                return Err(DmaFault::NotReachable { iova });
            }
            done += piece.octets;
        }
        if done < octets {
            // Past the last address is the first one, where an access cannot go on.
            let iova = iova.wrapping_add(done);
            return Err(DmaFault::Unmapped { iova });
        }
        Ok(())
    }

    fn map(
        &mut self,
        request: &protocol::DmaMap,
        file: Option<OwnedFd>,
        sealed_only: bool,
    ) -> Result<(), Errno> {
        let access = Access {
            read: request.flags & map_flags::READ != 0,
            write: request.flags & map_flags::WRITE != 0,
        };
        // As the kernel's vfio: no other flags, and some access.
        if request.flags != access.flags() || request.flags == 0 {
            return Err(Errno::INVAL);
        }
        let (first, last) = range(request.address, request.size)?.into_inner();
        // "A command to map over an existing region must be failed by the server with EEXIST".
        let below = self.maps.range(..=last).next_back();
        if below.is_some_and(|(_, map)| map.last >= first) {
            return Err(Errno::EXIST);
        }
        if self.maps.len() >= MAPS_MAX {
            return Err(Errno::NOSPC);
        }
        let place = match file {
            None => None,
            Some(file) => {
                let file = self.file(&file, request, access, sealed_only)?;
                Some((file, request.offset))
            }
        };
        let map = Map {
            last,
            access,
            place,
        };
        self.maps.insert(first, map);
        Ok(())
    }

    /// The mapping of a file, new or grown if it must be.
    fn file(
        &mut self,
        fd: &OwnedFd,
        request: &protocol::DmaMap,
        access: Access,
        sealed_only: bool,
    ) -> Result<SharedFile, Errno> {
        let status = fstat(fd)?;
        let file_octets = u64::try_from(status.st_size).map_err(|_| Errno::INVAL)?;
        let end = request.offset.checked_add(request.size);
        let end = end.filter(|end| *end <= file_octets).ok_or(Errno::INVAL)?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(Errno::INVAL);
        }
        let sealed = || fcntl_get_seals(fd).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
        if sealed_only && !sealed() {
            return Err(Errno::PERM);
        }
        let id: FileId = (status.st_dev, status.st_ino);
        let known = self.files.get(&id);
        let fits = |file: &Mapped| file.octets() >= end && (file.writable() || !access.write);
        if let Some(file) = known.filter(|file| fits(&file.borrow())) {
            return Ok(file.clone());
        }
        if known.is_none() && self.files.len() >= FILES_MAX {
            return Err(Errno::NOSPC);
        }
        let mut needed = end;
        let mut writable = access.write;
        if let Some(file) = known {
            needed = needed.max(file.borrow().octets());
            writable |= file.borrow().writable();
        }
        let mapped = map_file(fd, file_octets, needed, writable)?;
        if let Some(file) = known {
            file.replace(mapped);
            return Ok(file.clone());
        }
        let file = Rc::new(RefCell::new(mapped));
        self.files.insert(id, file.clone());
        Ok(file)
    }

    fn covered(&self, range: &RangeInclusive<u64>) -> Result<usize, Errno> {
        let (first, last) = (*range.start(), *range.end());
        let mut count = 0;
        for (start, map) in self.maps.range(..=last).rev() {
            if map.last < first {
                break;
            }
            if *start < first || map.last > last {
                return Err(Errno::INVAL);
            }
            count += 1;
        }
        Ok(count)
    }
}

/// Maps a file: all of it if there is room, so that it need not grow soon, and writable if it may
/// be, so that a later map can write.
fn map_file(fd: &OwnedFd, octets: u64, needed: u64, writable: bool) -> Result<Mapped, Errno> {
    let mut error = Errno::INVAL;
    let lengths = |writable| [(octets, writable), (needed, writable)];
    for (octets, as_writable) in lengths(true).into_iter().chain(lengths(false)) {
        let octets = usize::try_from(octets).map_err(|_| Errno::NOMEM)?;
        if writable && !as_writable {
            break;
        }
        match Mapped::new(fd.as_fd(), octets, as_writable) {
            Ok(mapped) => return Ok(mapped),
            Err(failure) => error = Errno::from_io_error(&failure).unwrap_or(Errno::INVAL),
        }
    }
    Err(error)
}

/// The addresses from `first` on; an error if there are none, or not so many.
pub(crate) fn range(first: u64, octets: u64) -> Result<RangeInclusive<u64>, Errno> {
    let last_offset = octets.checked_sub(1).ok_or(Errno::INVAL)?;
    let last = first.checked_add(last_offset).ok_or(Errno::INVAL)?;
    Ok(first..=last)
}

#[cfg(test)]
mod tests;
