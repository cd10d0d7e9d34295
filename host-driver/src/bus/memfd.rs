//! Files in memory: those made here, and what is asked of the caller's.

use rustix::fs::{
    fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create, MemfdFlags, SealFlags,
};
use rustix::io::Errno;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

/// Octets of a huge page that is asked for.
pub(crate) const HUGE_PAGE_OCTETS: usize = 2 << 20;
/// Octets of a name that Linux takes.
const NAME_OCTETS_MAX: usize = 200;

/// The pages that memory is made of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pages {
    /// Those of the machine.
    Normal,
    /// Those of [`HUGE_PAGE_OCTETS`], of which the administrator has set some aside.
    Huge,
}

/// A memfd of `octets` zeros that never shrinks. `name` shows in `/proc/PID/maps`.
pub(crate) fn create(name: &str, octets: u64, pages: Pages) -> io::Result<OwnedFd> {
    let mut flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    if pages == Pages::Huge {
        flags |= MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    }
    let octets_of_name = name.bytes().filter(|octet| *octet != 0);
    let name: Vec<u8> = octets_of_name.take(NAME_OCTETS_MAX).collect();
    let file = memfd_create(name, flags)?;
    ftruncate(&file, octets)?;
    fcntl_add_seals(&file, SealFlags::SHRINK)?;
    Ok(file)
}

/// Refuses a range of a file that is not whole pages, not in the file, or could vanish from it.
pub(crate) fn check(
    file: BorrowedFd,
    offset: u64,
    octets: usize,
    page_octets: u64,
) -> io::Result<()> {
    let refuse = |reason: String| Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    let length = octets as u64;
    if octets == 0 || offset % page_octets != 0 || length % page_octets != 0 {
        return refuse(format!(
            "{octets} octets at offset {offset} are not whole pages of {page_octets} octets"
        ));
    }
    let size = fstat(file)?.st_size as u64;
    if offset.checked_add(length).is_none_or(|end| end > size) {
        return refuse(format!(
            "{octets} octets at offset {offset} are not in a file of {size}"
        ));
    }
    let seals = match fcntl_get_seals(file) {
        Ok(seals) => seals,
        Err(Errno::INVAL) => SealFlags::empty(),
        Err(error) => return Err(error.into()),
    };
    match seals.contains(SealFlags::SHRINK) {
        true => Ok(()),
        false => refuse(
            "the file could shrink while the device uses it: make it with memfd_create and \
             MFD_ALLOW_SEALING, and add F_SEAL_SHRINK"
                .to_owned(),
        ),
    }
}
