//! The one call of Linux' TUN/TAP driver that is needed here, `TUNSETIFF`.
//!
//! Of the packages for it, `tappers` cannot open an interface that exists, which is the way without
//! privileges, and `tun-rs` brings twenty others.

use rustix::fs::{open, Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{ioctl, opcode, Updater};
use std::fs::File;
use std::io;

/// Attach to the interface of `ifreq`'s name, or make it.
const TUNSETIFF: rustix::ioctl::Opcode = opcode::write::<i32>(b'T', 202);
/// Ethernet frames.
const IFF_TAP: u16 = 0x0002;
/// Nothing before a frame.
const IFF_NO_PI: u16 = 0x1000;
/// Octets of a name, with the zero at its end.
const NAME_OCTETS: usize = 16;

/// `struct ifreq` as TUNSETIFF reads and writes it.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; NAME_OCTETS],
    flags: u16,
    /// The union's other octets.
    rest: [u8; 22],
}

/// The queue of the TAP interface `name`, which does not block.
///
/// # Errors
/// `InvalidInput`: that is no name of an interface; those of `open(2)` and `ioctl(2)`.
pub(super) fn open_tap(name: &str) -> io::Result<File> {
    let is_name = (1..NAME_OCTETS).contains(&name.len())
        && name
            .bytes()
            .all(|octet| octet.is_ascii_graphic() && !b"/:%".contains(&octet));
    if !is_name {
        return Err(Errno::INVAL.into());
    }
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let queue = open("/dev/net/tun", flags, Mode::empty())?;
    let mut request = InterfaceRequest {
        name: [0; NAME_OCTETS],
        flags: IFF_TAP | IFF_NO_PI,
        rest: [0; 22],
    };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    // SAFETY: TUNSETIFF reads and writes one `struct ifreq`, whatever its number says; this has the
    // size and layout of one, its name ends with a zero, and it outlives the call.
    unsafe {
        ioctl(
            &queue,
            Updater::<TUNSETIFF, InterfaceRequest>::new(&mut request),
        )
    }?;
    Ok(queue.into())
}

const _: () = assert!(size_of::<InterfaceRequest>() == 40);
