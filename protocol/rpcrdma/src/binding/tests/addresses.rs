//! Netids and universal addresses.
use crate::binding::address::{netid, parse_universal_address, universal_address, NFS_PORT};

/// RPC-040, RPC-056: NFS is at port 20049; rdma is for IPv4, rdma6 for IPv6.
#[test]
fn services_are_written_as_they_are_read() {
    let services = [
        ("192.168.77.1:20049", "rdma", "192.168.77.1.78.81"),
        ("[fd77::1]:20049", "rdma6", "fd77::1.78.81"),
        ("[::ffff:1.2.3.4]:255", "rdma6", "::ffff:1.2.3.4.0.255"),
        ("0.0.0.0:65535", "rdma", "0.0.0.0.255.255"),
    ];
    for (service, id, address) in services {
        let service = service.parse::<std::net::SocketAddr>().expect("an address");
        assert_eq!(
            (netid(service.ip()), universal_address(service)),
            (id, address.into())
        );
        assert_eq!(parse_universal_address(id, address), Some(service));
        let other = if id == "rdma" { "rdma6" } else { "rdma" };
        assert_eq!(parse_universal_address(other, address), None);
        assert_eq!(parse_universal_address("tcp", address), None);
    }
    assert_eq!(NFS_PORT, 78 * 256 + 81);
}

#[test]
fn what_is_no_address_is_refused() {
    let others = [
        "",
        "1.2",
        "1.2.3.4",
        "1.2.3.4.5",
        "1.2.3.4.256.1",
        "1.2.3.4.1.256",
        "1.2.3.4.+1.1",
    ];
    for address in others {
        assert_eq!(parse_universal_address("rdma", address), None, "{address}");
    }
}
