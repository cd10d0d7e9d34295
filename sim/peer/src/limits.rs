//! Whom the peer may talk to: private and link-local addresses on a wire of its user, and networks
//! that the user names.

use std::fmt::{self, Display, Formatter};
use std::net::IpAddr;
use std::str::FromStr;
use thiserror::Error;

/// A network: an address and the bits that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// An address in it.
    pub address: IpAddr,
    /// Bits of the prefix.
    pub bits: u8,
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text}: use ADDR/BITS, such as 10.0.0.0/8 or fd00::/8");
        let (address, bits) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let bits: u8 = bits.parse().map_err(|_| wrong())?;
        let network = Self { address, bits };
        match bits <= network.bits_max() {
            true => Ok(network),
            false => Err(wrong()),
        }
    }
}

impl Display for Network {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.bits)
    }
}

/// An address as a number, its first bit the most significant of 128.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl Network {
    const fn v4(octets: [u8; 4], bits: u8) -> Self {
        let [a, b, c, d] = octets;
        let address = IpAddr::V4(std::net::Ipv4Addr::new(a, b, c, d));
        Self { address, bits }
    }

    const fn v6(first: u16, bits: u8) -> Self {
        let address = IpAddr::V6(std::net::Ipv6Addr::new(first, 0, 0, 0, 0, 0, 0, 0));
        Self { address, bits }
    }

    fn bits_max(&self) -> u8 {
        if self.address.is_ipv4() {
            32
        } else {
            128
        }
    }

    /// Whether an address is in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        if address.is_ipv4() != self.address.is_ipv4() {
            return false;
        }
        let differing = number(address) ^ number(self.address);
        self.bits == 0 || differing >> (128 - u32::from(self.bits)) == 0
    }
}

/// RFC 1918, RFC 3927, RFC 4193, RFC 4291 section 2.5.6.
const LOCAL: [Network; 6] = [
    Network::v4([10, 0, 0, 0], 8),
    Network::v4([172, 16, 0, 0], 12),
    Network::v4([192, 168, 0, 0], 16),
    Network::v4([169, 254, 0, 0], 16),
    Network::v6(0xfc00, 7),
    Network::v6(0xfe80, 10),
];

/// Why nobody is to be played at.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Refused {
    /// Not one host.
    #[error("{0} is not the address of one host on the wire")]
    NoHost(IpAddr),
    /// Behind a gateway.
    #[error("{target} is not on the link {link}: the peer has no gateway")]
    Elsewhere {
        /// Who was to be played at.
        target: IpAddr,
        /// The peer's own prefix.
        link: Network,
    },
    /// Somewhere in the world.
    #[error("{0} is neither private nor link-local; --allow NET permits it")]
    Public(IpAddr),
    /// On a wire of somebody else's.
    #[error("the link belongs to another user; --allow NET permits {0} on it")]
    Foreign(IpAddr),
}

/// What the user permits.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Networks that were named.
    pub allowed: Vec<Network>,
    /// The wire belongs to another user.
    pub is_foreign: bool,
}

impl Limits {
    /// Whether cases may be played at `target` from a link.
    ///
    /// # Errors
    /// They may not.
    pub fn check(&self, target: IpAddr, link: Network) -> Result<(), Refused> {
        let is_broadcast = matches!(target, IpAddr::V4(address) if address.is_broadcast());
        let is_many = target.is_multicast() || target.is_unspecified() || is_broadcast;
        if is_many || target.is_loopback() {
            return Err(Refused::NoHost(target));
        }
        if !link.contains(target) {
            return Err(Refused::Elsewhere { target, link });
        }
        if self.allowed.iter().any(|network| network.contains(target)) {
            return Ok(());
        }
        if self.is_foreign {
            return Err(Refused::Foreign(target));
        }
        match LOCAL.iter().any(|network| network.contains(target)) {
            true => Ok(()),
            false => Err(Refused::Public(target)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(target: &str, limits: &Limits) -> Result<(), Refused> {
        let target: IpAddr = target.parse().expect("an address");
        let link = match target {
            IpAddr::V4(_) => "0.0.0.0/0",
            IpAddr::V6(_) => "::/0",
        };
        limits.check(target, link.parse().expect("a network"))
    }

    /// The first and the last address of each range, and their neighbours outside.
    #[test]
    fn the_limits_of_private_and_link_local_addresses_are_exact() {
        let limits = Limits::default();
        for (first, last, before, after) in [
            ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
            (
                "172.16.0.0",
                "172.31.255.255",
                "172.15.255.255",
                "172.32.0.0",
            ),
            (
                "192.168.0.0",
                "192.168.255.255",
                "192.167.255.255",
                "192.169.0.0",
            ),
            (
                "169.254.0.0",
                "169.254.255.255",
                "169.253.255.255",
                "169.255.0.0",
            ),
            (
                "fc00::",
                "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "fe00::",
            ),
            (
                "fe80::",
                "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "fec0::",
            ),
        ] {
            for inside in [first, last] {
                assert_eq!(check(inside, &limits), Ok(()), "{inside}");
            }
            for outside in [before, after] {
                let refused = check(outside, &limits);
                assert!(matches!(refused, Err(Refused::Public(_))), "{outside}");
            }
        }
        // Documentation (RFC 5737, RFC 3849) and mapped addresses are none of them.
        for public in ["192.0.2.1", "2001:db8::1", "::ffff:10.0.0.1", "8.8.8.8"] {
            assert!(
                matches!(check(public, &limits), Err(Refused::Public(_))),
                "{public}"
            );
        }
    }

    #[test]
    fn no_network_permits_what_is_not_one_host() {
        let allowed = ["0.0.0.0/0", "::/0"].map(|net| net.parse().expect("a network"));
        let limits = Limits {
            allowed: allowed.to_vec(),
            is_foreign: true,
        };
        for many in [
            "224.0.0.1",
            "255.255.255.255",
            "0.0.0.0",
            "::",
            "ff02::1",
            "127.0.0.1",
            "::1",
        ] {
            assert!(
                matches!(check(many, &limits), Err(Refused::NoHost(_))),
                "{many}"
            );
        }
        assert_eq!(check("198.51.100.1", &limits), Ok(()));
    }

    #[test]
    fn a_network_is_permitted_to_its_last_address() {
        let limits = Limits {
            allowed: vec!["192.0.2.128/25".parse().expect("a network")],
            is_foreign: false,
        };
        assert_eq!(check("192.0.2.128", &limits), Ok(()));
        assert_eq!(check("192.0.2.255", &limits), Ok(()));
        assert!(check("192.0.2.127", &limits).is_err());
        assert!(check("192.0.3.128", &limits).is_err());
    }

    #[test]
    fn a_foreign_wire_and_another_link_need_more() {
        let mut limits = Limits {
            is_foreign: true,
            ..Limits::default()
        };
        let foreign = check("10.0.0.1", &limits);
        assert!(matches!(foreign, Err(Refused::Foreign(_))), "{foreign:?}");
        limits
            .allowed
            .push("10.0.0.1/32".parse().expect("a network"));
        assert_eq!(check("10.0.0.1", &limits), Ok(()));
        let target = "10.0.1.0".parse().expect("an address");
        let link: Network = "10.0.0.9/24".parse().expect("a network");
        let elsewhere = limits.check(target, link);
        assert!(
            matches!(elsewhere, Err(Refused::Elsewhere { .. })),
            "{elsewhere:?}"
        );
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in [
            "10.0.0.0",
            "10.0.0.0/33",
            "fd00::/129",
            "ten/8",
            "10.0.0.0/-1",
            "/8",
        ] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
        let shown: Network = "fd00::/8".parse().expect("a network");
        assert_eq!(shown.to_string(), "fd00::/8");
    }
}
