//! What the IP header says.
use rust_hdl::prelude::*;

/// Read of an IP header; `length_bad` is still to be joined by the test of `ip_end`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct IpFields {
    /// There is a whole type field, and it says IPv4 or IPv6.
    pub is_ip: Bit,
    /// It says IPv6.
    pub ipv6: Bit,
    /// The frame ends inside the fixed header, the version is not the type's, IHL is below 5, or
    /// the IPv4 header is longer than its total length.
    pub header_bad: Bit,
    /// First octet behind the IP packet, counted from the start of the stored frame.
    pub ip_end: Bits<17>,
    /// Octets of the stored frame.
    pub stored_octets: Bits<15>,
    /// IPv4 fragment, or another protocol than TCP.
    pub not_for_tcp: Bit,
    /// Word of the stored frame at which the IP payload begins.
    pub payload_start: Bits<5>,
    /// Octets of IP payload.
    pub segment_octets: Bits<16>,
    /// Source address, octet string; IPv4 in bits 127:96.
    pub remote_address: Bits<128>,
    /// Destination address, likewise.
    pub local_address: Bits<128>,
}

/// Four words as one octet string.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct AddressWords {
    /// Octets 0 to 3.
    pub word0: Bits<32>,
    /// Octets 4 to 7.
    pub word1: Bits<32>,
    /// Octets 8 to 11.
    pub word2: Bits<32>,
    /// Octets 12 to 15.
    pub word3: Bits<32>,
}

/// Two octets of the wire swapped into a number.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OctetPair {
    /// The second octet on the wire, of less weight.
    pub low: Bits<8>,
    /// The first octet on the wire.
    pub high: Bits<8>,
}
