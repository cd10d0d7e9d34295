//! Where a service is, as rpcbind says it (RFC 5665; RFC 5666, 10 and 12: RPC-040).
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The port of NFS over RDMA.
pub const NFS_PORT: u16 = 20_049;
/// The netid of RDMA with addresses of IPv4.
pub const NETID_RDMA: &str = "rdma";
/// The netid of RDMA with addresses of IPv6.
pub const NETID_RDMA6: &str = "rdma6";

/// The netid of an address.
#[must_use]
pub fn netid(address: IpAddr) -> &'static str {
    match address {
        IpAddr::V4(_) => NETID_RDMA,
        IpAddr::V6(_) => NETID_RDMA6,
    }
}

/// The universal address of a service: its address, then the octets of its port, each in decimal
/// and after a dot (RFC 5665, 5.2.3).
#[must_use]
pub fn universal_address(service: SocketAddr) -> String {
    let [high, low] = service.port().to_be_bytes();
    format!("{}.{high}.{low}", service.ip())
}

/// The service of a universal address, as the netid says to read it; `None` if it is none.
#[must_use]
pub fn parse_universal_address(netid: &str, address: &str) -> Option<SocketAddr> {
    let (rest, low) = address.rsplit_once('.')?;
    let (host, high) = rest.rsplit_once('.')?;
    let host = match netid {
        NETID_RDMA => host.parse::<Ipv4Addr>().ok()?.into(),
        NETID_RDMA6 => host.parse::<Ipv6Addr>().ok()?.into(),
        _ => return None,
    };
    let octet = |text: &str| {
        let digits = text.bytes().all(|digit| digit.is_ascii_digit());
        text.parse::<u8>().ok().filter(|_| digits)
    };
    let port = u16::from_be_bytes([octet(high)?, octet(low)?]);
    Some(SocketAddr::new(host, port))
}
