//! Sizes of frames.

/// Octets of an Ethernet header.
pub(crate) const ETHERNET_OCTETS: usize = 14;
/// Octets of an IPv4 header without options.
pub(crate) const IPV4_OCTETS: usize = 20;
/// Octets of an IPv6 header.
pub(crate) const IPV6_OCTETS: usize = 40;
/// Octets of the longest IP packet.
pub(crate) const MTU_OCTETS: usize = 1500;
