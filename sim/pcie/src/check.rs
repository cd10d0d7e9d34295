//! Rules that one packet keeps or breaks by itself, without regard to any other.
//!
//! ```text
//!   Tlp, Direction, Limits  -->  check  -->  report(Violation), once for each broken rule
//! ```
//!
//! Needs no state and does not allocate. What depends on earlier packets is in
//! [`monitor`](crate::monitor). Source: PCI Express Base Specification 5.0, section 2.2.

use crate::limits::Limits;
use crate::tlp::{
    AddressFormat, ConfigurationRequest, Header, Kind, MemoryRequest, PackError, Tlp, Traffic,
};
use crate::{ByteEnables, Violation};

/// No request may cross a multiple of this (section 2.2.7).
pub const REQUEST_BOUNDARY_OCTETS: u64 = 4096;

/// Direction of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// From a device to the root complex.
    Upstream,
    /// From the root complex to a device.
    Downstream,
}

impl Direction {
    /// The other way.
    pub const fn reverse(self) -> Self {
        match self {
            Self::Upstream => Self::Downstream,
            Self::Downstream => Self::Upstream,
        }
    }
}

/// Reports every rule that `tlp` breaks by itself.
pub fn check(tlp: &Tlp, direction: Direction, limits: &Limits, mut report: impl FnMut(Violation)) {
    let header = &tlp.header;
    if let Err(error) = header.pack() {
        report(match error {
            PackError::FieldOutOfRange { .. } => Violation::FieldOutOfRange(error),
            PackError::AddressUnaligned { address } => Violation::AddressUnaligned { address },
            PackError::AddressBeyondFormat { address } => {
                Violation::ThreeDwordAbove4Gib { address }
            }
        });
    }
    if header.traffic.digest {
        report(Violation::DigestPresent);
    }
    if header.traffic.poisoned {
        report(Violation::Poisoned);
    }
    check_payload(tlp, limits, &mut report);
    match &header.kind {
        Kind::MRd(request) => {
            check_memory(header, request, &mut report);
            let octets = header.length.octets();
            let limit_octets = limits.max_read_request.octets();
            if octets > limit_octets {
                report(Violation::MaxReadRequestExceeded {
                    octets,
                    limit_octets,
                });
            }
            check_tag(request.tag, limits, &mut report);
        }
        Kind::MWr(request) => {
            check_memory(header, request, &mut report);
            let empty = request.enables == ByteEnables::NONE && header.length.dwords() == 1;
            if empty && !limits.zero_length_writes {
                report(Violation::ZeroLengthWrite {
                    address: request.address,
                });
            }
        }
        Kind::CfgRd0(request) | Kind::CfgWr0(request) => {
            check_configuration(header, request, direction, &mut report);
            check_tag(request.tag, limits, &mut report);
        }
        Kind::Cpl(_) | Kind::CplD(_) | Kind::Msg(_) | Kind::MsgD(_) => {}
    }
}

fn check_payload(tlp: &Tlp, limits: &Limits, report: &mut impl FnMut(Violation)) {
    let payload_octets = tlp.payload.len();
    if !tlp.header.fmt().with_data() {
        if payload_octets > 0 {
            report(Violation::PayloadWithoutDataFormat { payload_octets });
        }
        return;
    }
    let length_octets = tlp.header.length.octets();
    if length_octets != payload_octets {
        report(Violation::PayloadLengthMismatch {
            length_octets,
            payload_octets,
        });
    }
    let limit_octets = limits.max_payload.octets();
    let octets = length_octets.max(payload_octets);
    if octets > limit_octets {
        report(Violation::MaxPayloadExceeded {
            octets,
            limit_octets,
        });
    }
}

fn check_memory(header: &Header, request: &MemoryRequest, report: &mut impl FnMut(Violation)) {
    let octets = header.length.octets();
    let address = request.address;
    // "Requests must not specify an Address/Length combination which causes a Memory Space
    // access to cross a 4-KB boundary": whole dwords count, enabled or not.
    if address % REQUEST_BOUNDARY_OCTETS + octets as u64 > REQUEST_BOUNDARY_OCTETS {
        report(Violation::Crosses4Kib { address, octets });
    }
    if request.format == AddressFormat::Bits64 && address >> 32 == 0 {
        report(Violation::FourDwordBelow4Gib { address });
    }
    check_enables(header, request.enables, address % 8 == 0, report);
}

fn check_enables(
    header: &Header,
    enables: ByteEnables,
    quadword_aligned: bool,
    report: &mut impl FnMut(Violation),
) {
    let (first, last) = (enables.first(), enables.last());
    let dwords = header.length.dwords();
    if dwords == 1 {
        if last != 0 {
            report(Violation::LastEnablesInSingleDword { last });
        }
        return;
    }
    if first == 0 {
        report(Violation::FirstEnablesZero { dwords });
    }
    if last == 0 {
        report(Violation::LastEnablesZero { dwords });
    }
    // Holes are permitted in an aligned quadword.
    let holes_permitted = dwords == 2 && quadword_aligned;
    if !holes_permitted && !enables.contiguous(header.length) {
        report(Violation::EnablesNotContiguous { first, last });
    }
}

fn check_configuration(
    header: &Header,
    request: &ConfigurationRequest,
    direction: Direction,
    report: &mut impl FnMut(Violation),
) {
    let dwords = header.length.dwords();
    if dwords != 1 {
        report(Violation::ConfigurationLength { dwords });
    } else if request.enables.last() != 0 {
        report(Violation::LastEnablesInSingleDword {
            last: request.enables.last(),
        });
    }
    if !header.traffic.matches(Traffic::default()) {
        report(Violation::ConfigurationTraffic);
    }
    if direction == Direction::Upstream {
        report(Violation::ConfigurationUpstream);
    }
}

fn check_tag(tag: u8, limits: &Limits, report: &mut impl FnMut(Violation)) {
    if u16::from(tag) >= limits.tag_count {
        report(Violation::TagOutOfRange {
            tag,
            tag_count: limits.tag_count,
        });
    }
}
