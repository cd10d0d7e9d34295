//! Constructors for well-formed packets.
//!
//! Each fills in length, byte enables and address format from an octet address and octets, as
//! the rules want them. They do not split: a request that crosses 4 KiB is built as asked, and
//! the monitor names it. [`split`](crate::split) cuts a range into legal requests.

use super::{
    AddressFormat, Bdf, Completion, CompletionStatus, ConfigurationRequest, Header, Kind, Length,
    MemoryRequest, Tlp, Traffic,
};
use crate::ByteEnables;

/// Address bits below a dword.
const WITHIN_DWORD: u64 = 0x3;

impl Tlp {
    /// A memory read request for `octets` octets from `address`; zero octets make the
    /// zero-length read. `None` if it needs more than 1024 dwords.
    pub fn memory_read(requester: Bdf, tag: u8, address: u64, octets: usize) -> Option<Self> {
        let (request, length) = memory_request(requester, tag, address, octets)?;
        Some(Self::new(length, Kind::MRd(request), Vec::new()))
    }

    /// A memory write request for `data` at `address`; no data make the zero-length write.
    /// `None` if it needs more than 1024 dwords.
    pub fn memory_write(requester: Bdf, address: u64, data: &[u8]) -> Option<Self> {
        let (request, length) = memory_request(requester, 0, address, data.len())?;
        let mut payload = vec![0; length.octets()];
        let start = (address & WITHIN_DWORD) as usize;
        payload[start..start + data.len()].copy_from_slice(data);
        Some(Self::new(length, Kind::MWr(request), payload))
    }

    /// A configuration read of the dword that holds `register`.
    pub fn configuration_read(requester: Bdf, tag: u8, target: Bdf, register: u16) -> Self {
        let register = register & !(WITHIN_DWORD as u16);
        let enables = ByteEnables::ONE_DWORD;
        let request = ConfigurationRequest {
            requester,
            tag,
            enables,
            target,
            register,
        };
        Self::new(Length::ONE, Kind::CfgRd0(request), Vec::new())
    }

    /// A configuration write of `data` at `register`, or `None` if that is not within a dword.
    pub fn configuration_write(
        requester: Bdf,
        tag: u8,
        target: Bdf,
        register: u16,
        data: &[u8],
    ) -> Option<Self> {
        let (enables, length) = ByteEnables::for_span(register.into(), data.len())?;
        let start = (register & WITHIN_DWORD as u16) as usize;
        let mut payload = vec![0; length.octets()];
        payload[start..start + data.len()].copy_from_slice(data);
        let register = register & !(WITHIN_DWORD as u16);
        let request = ConfigurationRequest {
            requester,
            tag,
            enables,
            target,
            register,
        };
        (length == Length::ONE).then(|| Self::new(length, Kind::CfgWr0(request), payload))
    }

    /// The completion without data that answers `request` with `status`; `None` if `request`
    /// is a packet that is not answered.
    pub fn completion_without_data(
        request: &Header,
        completer: Bdf,
        status: CompletionStatus,
    ) -> Option<Self> {
        let (requester, tag) = request.expects_completion()?;
        // Byte Count is the number of octets requested; 4 except for memory reads (section 2.2.9).
        let (byte_count, lower_address) = match &request.kind {
            Kind::MRd(read) => {
                let leading = read.enables.leading_octets() as u64;
                let first = read.address.wrapping_add(leading);
                (
                    read.enables.byte_count(request.length) as u16,
                    (first & 0x7f) as u8,
                )
            }
            _ => (4, 0),
        };
        let completion = Completion {
            completer,
            status,
            byte_count_modified: false,
            byte_count,
            requester,
            tag,
            lower_address,
        };
        let mut tlp = Self::new(Length::RESERVED, Kind::Cpl(completion), Vec::new());
        tlp.header.traffic = request.traffic.for_completion();
        Some(tlp)
    }

    /// A packet of traffic class 0 without attributes, from its parts as they are.
    pub fn new(length: Length, kind: Kind, payload: Vec<u8>) -> Self {
        Self {
            header: Header {
                traffic: Traffic::default(),
                length,
                kind,
            },
            payload,
        }
    }
}

impl Traffic {
    /// Class and attributes that a completion takes over from its request (section 2.2.9).
    pub fn for_completion(self) -> Self {
        Self {
            digest: false,
            poisoned: false,
            ..self
        }
    }
}

fn memory_request(
    requester: Bdf,
    tag: u8,
    address: u64,
    octets: usize,
) -> Option<(MemoryRequest, Length)> {
    let (enables, length) = ByteEnables::for_span(address, octets)?;
    let format = AddressFormat::for_address(address);
    let address = address & !WITHIN_DWORD;
    Some((
        MemoryRequest {
            requester,
            tag,
            enables,
            format,
            address,
        },
        length,
    ))
}
