//! Addresses as people write them: of a peer, of an interface, of a station.

use rnic_driver::stack::AddressPrefix;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// An address with its prefix, such as `192.0.2.1/24`.
///
/// # Errors
/// What it should look like.
pub fn prefix(text: &str) -> Result<AddressPrefix, String> {
    let example = "write it as 192.0.2.1/24 or fd00::1/64";
    let (address, bits) = text.split_once('/').ok_or(example)?;
    Ok(AddressPrefix {
        address: address.parse().map_err(|_| example)?,
        bits: bits.parse().map_err(|_| example)?,
    })
}

/// A MAC address, such as `02:00:c0:00:02:01`.
///
/// # Errors
/// What it should look like.
pub fn mac(text: &str) -> Result<[u8; 6], String> {
    let example = "write it as 02:00:c0:00:02:01";
    let is_octet = |octet: &&str| octet.len() == 2 && octet.chars().all(|c| c.is_ascii_hexdigit());
    let octets = text.split(':').map(|octet| {
        let octet = Some(octet).filter(is_octet)?;
        u8::from_str_radix(octet, 16).ok()
    });
    let octets: Option<Vec<u8>> = octets.collect();
    let octets = octets.and_then(|octets| octets.try_into().ok());
    octets.ok_or(example.to_owned())
}

/// A MAC address of nobody else's: one that is administered here, with the last four octets of an
/// address of the interface.
pub fn mac_for(address: IpAddr) -> [u8; 6] {
    let (family, last) = match address {
        IpAddr::V4(v4) => (4, v4.octets()),
        IpAddr::V6(v6) => {
            let [.., a, b, c, d] = v6.octets();
            (6, [a, b, c, d])
        }
    };
    let [a, b, c, d] = last;
    [0x02, family, a, b, c, d]
}

/// Everything that `text` may mean: an IP address or a host name, each with or without a port. An
/// IPv6 address with a port has brackets.
///
/// # Errors
/// The name, and why it has no address.
pub fn resolve(text: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(vec![address]);
    }
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    if let Ok(address) = bare.unwrap_or(text).parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let (name, port) = match text.rsplit_once(':') {
        None => (text, port),
        Some((name, written)) => match written.parse() {
            Ok(written) => (name, written),
            Err(_) => return Err(format!("{text}: {written} is no port")),
        },
    };
    let found = (name, port).to_socket_addrs();
    let found: Vec<_> = found.map_err(|error| format!("{name}: {error}"))?.collect();
    match found.is_empty() {
        true => Err(format!("{name} has no address")),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_have_a_port_of_its_own() {
        for (text, meant) in [
            ("192.0.2.1", "192.0.2.1:7174"),
            ("192.0.2.1:99", "192.0.2.1:99"),
            ("fd00::1", "[fd00::1]:7174"),
            ("[fd00::1]", "[fd00::1]:7174"),
            ("[fd00::1]:99", "[fd00::1]:99"),
        ] {
            let meant: SocketAddr = meant.parse().expect("an address");
            assert_eq!(resolve(text, 7174), Ok(vec![meant]), "{text}");
        }
        let local = resolve("localhost:99", 7174).expect("every host has it");
        assert!(local.iter().all(|address| address.port() == 99));
        let refused = resolve("192.0.2.1:many", 7174).expect_err("no port");
        assert_eq!(refused, "192.0.2.1:many: many is no port");
    }

    #[test]
    fn what_is_no_prefix_or_station_is_refused() {
        let own = prefix("fd00::1/64").expect("a prefix");
        assert_eq!(
            (own.address.to_string().as_str(), own.bits),
            ("fd00::1", 64)
        );
        for text in ["192.0.2.1", "192.0.2.1/", "192.0.2/24", "192.0.2.1/300"] {
            prefix(text).expect_err(text);
        }
        assert_eq!(mac("02:04:C0:00:02:01"), Ok([2, 4, 0xc0, 0, 2, 1]));
        assert_eq!(mac_for([192, 0, 2, 1].into()), [2, 4, 0xc0, 0, 2, 1]);
        for text in [
            "02:04:c0:00:02",
            "2:4:c0:0:2:1",
            "02:04:c0:00:02:0g",
            "+2:04:c0:00:02:01",
        ] {
            mac(text).expect_err(text);
        }
    }
}
