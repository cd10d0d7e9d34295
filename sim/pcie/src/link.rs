//! Joins a root complex and an endpoint: moves packets, and sets the function up as firmware
//! would.

use thiserror::Error;

use crate::check::Direction;
use crate::configuration::{
    bar_register, register, BAR_COUNT, COMMAND_BUS_MASTER, COMMAND_MEMORY,
    DEVICE_CONTROL_EXTENDED_TAG, DEVICE_CONTROL_PAYLOAD_SHIFT, DEVICE_CONTROL_READ_SHIFT,
};
use crate::endpoint::{BarDevice, Endpoint};
use crate::requester::{Token, TransferError};
use crate::root_complex::RootComplex;
use crate::tlp::{Bdf, Tlp, DWORD_OCTETS};

/// Moves one packet each way, if there is one that flow control and stalls of the root complex
/// admit; returns how many moved.
pub fn step<D: BarDevice>(
    now: u64,
    root_complex: &mut RootComplex,
    endpoint: &mut Endpoint<D>,
) -> usize {
    let down = root_complex.next_downstream(now);
    let admits = |tlp: &Tlp| root_complex.admits(now, Direction::Upstream, tlp);
    let up = endpoint.next_upstream_if(now, admits);
    let moved_count = usize::from(down.is_some()) + usize::from(up.is_some());
    if let Some(tlp) = down {
        endpoint.downstream(now, tlp);
    }
    if let Some(tlp) = up {
        root_complex.upstream(now, tlp);
    }
    moved_count
}

/// Moves packets both ways until none is ready at `now`. Credits that come back later and stalls
/// end it early: then call it again at a later tick.
pub fn exchange<D: BarDevice>(
    now: u64,
    root_complex: &mut RootComplex,
    endpoint: &mut Endpoint<D>,
) {
    while step(now, root_complex, endpoint) > 0 {}
}

/// Why a function was not set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum EnumerationError {
    /// A configuration access failed.
    #[error("configuration access at {register:#x} failed: {source}")]
    Access {
        /// The register.
        register: u16,
        /// Why.
        source: TransferError,
    },
    /// A configuration access was not answered at the time it was made.
    #[error("configuration access at {register:#x} was not answered; nothing is at {target}")]
    NoAnswer {
        /// The register.
        register: u16,
        /// The function asked.
        target: Bdf,
    },
    /// The BARs do not fit below the end of the address space, or a narrow one below 4 GiB.
    #[error("BAR {index} of {octets} octets does not fit from {base:#x} on; lower the base")]
    NoRoom {
        /// The BAR.
        index: u8,
        /// Its size.
        octets: u64,
        /// Where it would have to begin.
        base: u64,
    },
}

/// Where a BAR was put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AssignedBar {
    /// Its index.
    pub index: u8,
    /// Bus address of its first octet.
    pub base: u64,
    /// Its size.
    pub octets: u64,
}

/// Finds the size of each BAR, places them from `base` on, sets payload size, read size and
/// tags to the root complex's limits, and enables memory and bus mastering.
///
/// Everything goes over the link at `now`, so that a root complex with a read latency of its
/// own is no obstacle: configuration answers come from the endpoint, which has none. Set flow
/// control and stalls afterwards, as they may need more than one tick.
///
/// # Errors
/// The function does not answer as it should, or a BAR has no room.
pub fn enumerate<D: BarDevice>(
    now: u64,
    root_complex: &mut RootComplex,
    endpoint: &mut Endpoint<D>,
    target: Bdf,
    base: u64,
) -> Result<Vec<AssignedBar>, EnumerationError> {
    let mut host = Host {
        now,
        root_complex,
        endpoint,
        target,
    };
    let mut assigned = Vec::new();
    let mut free = base;
    let mut index = 0;
    while usize::from(index) < BAR_COUNT {
        let at = bar_register(index);
        host.write(at, u32::MAX)?;
        let low = host.read(at)?;
        // A BAR that holds no writable bit does not exist.
        if low & !0xf == 0 && low & 0x4 == 0 {
            index += 1;
            continue;
        }
        let wide = low & 0x4 != 0;
        let mut mask = u64::from(low & !0xf) | 0xffff_ffff << 32;
        if wide {
            host.write(at + 4, u32::MAX)?;
            mask = u64::from(low & !0xf) | u64::from(host.read(at + 4)?) << 32;
        }
        // Two's complement: the lowest writable bit is the size.
        let octets = mask & mask.wrapping_neg();
        let no_room = EnumerationError::NoRoom {
            index,
            octets,
            base: free,
        };
        let start = free.checked_next_multiple_of(octets).ok_or(no_room)?;
        let end = start.checked_add(octets).ok_or(no_room)?;
        if !wide && end > 1 << 32 {
            return Err(no_room);
        }
        host.write(at, start as u32)?;
        if wide {
            host.write(at + 4, (start >> 32) as u32)?;
        }
        assigned.push(AssignedBar {
            index,
            base: start,
            octets,
        });
        free = end;
        index += 1 + u8::from(wide);
    }
    let limits = *host.root_complex.monitor().limits();
    let control = limits.max_payload.encoding() << DEVICE_CONTROL_PAYLOAD_SHIFT
        | limits.max_read_request.encoding() << DEVICE_CONTROL_READ_SHIFT
        | if limits.tag_count > 32 {
            u32::from(DEVICE_CONTROL_EXTENDED_TAG)
        } else {
            0
        };
    host.write(register::DEVICE_CONTROL, control)?;
    host.write(
        register::COMMAND,
        u32::from(COMMAND_MEMORY | COMMAND_BUS_MASTER),
    )?;
    Ok(assigned)
}

// Configuration accesses that are answered before they return.
struct Host<'a, D> {
    now: u64,
    root_complex: &'a mut RootComplex,
    endpoint: &'a mut Endpoint<D>,
    target: Bdf,
}

impl<D: BarDevice> Host<'_, D> {
    fn read(&mut self, register: u16) -> Result<u32, EnumerationError> {
        let token = self
            .root_complex
            .read_configuration(self.now, self.target, register);
        let octets = self.finish(register, token)?;
        Ok(<[u8; DWORD_OCTETS]>::try_from(octets.as_slice()).map_or(0, u32::from_le_bytes))
    }

    fn write(&mut self, register: u16, value: u32) -> Result<(), EnumerationError> {
        let (now, target) = (self.now, self.target);
        let token = self
            .root_complex
            .write_configuration(now, target, register, &value.to_le_bytes())
            .map_err(|source| EnumerationError::Access { register, source })?;
        self.finish(register, token).map(|_| ())
    }

    fn finish(&mut self, register: u16, token: Token) -> Result<Vec<u8>, EnumerationError> {
        exchange(self.now, self.root_complex, self.endpoint);
        match self.root_complex.poll(self.now, token) {
            Ok(Some(octets)) => Ok(octets),
            Ok(None) => Err(EnumerationError::NoAnswer {
                register,
                target: self.target,
            }),
            Err(source) => Err(EnumerationError::Access { register, source }),
        }
    }
}
