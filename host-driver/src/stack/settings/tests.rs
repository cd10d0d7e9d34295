use super::*;

fn prefix(text: &str) -> AddressPrefix {
    let (address, bits) = text.split_once('/').expect("a prefix");
    AddressPrefix {
        address: address.parse().expect("an address"),
        bits: bits.parse().expect("a number"),
    }
}

fn settings(addresses: &[&str]) -> Settings {
    Settings {
        mac: [2, 0, 0, 0, 0, 1],
        addresses: addresses.iter().map(|text| prefix(text)).collect(),
        gateways: vec![],
        vlan: None,
        mtu_octets: 1_500,
    }
}

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let good = settings(&[
        "10.0.0.2/24",
        "fe80::2/64",
        "2001:db8::2/128",
        "10.1.0.2/31",
    ]);
    assert_eq!(good.check(), Ok(()));
    let with = |change: &dyn Fn(&mut Settings)| {
        let mut changed = good.clone();
        change(&mut changed);
        changed.check().expect_err("it cannot be")
    };
    assert_eq!(with(&|s| s.mac = [0; 6]), SettingsError::Mac);
    assert_eq!(with(&|s| s.mac[0] = 1), SettingsError::Mac);
    assert_eq!(with(&|s| s.addresses.clear()), SettingsError::Addresses(0));
    let many = |s: &mut Settings| s.addresses = vec![prefix("10.0.0.2/24"); ADDRESSES_MAX + 1];
    assert_eq!(with(&many), SettingsError::Addresses(ADDRESSES_MAX + 1));
    for bad in [
        "0.0.0.0/8",
        "127.0.0.1/8",
        "224.0.0.1/4",
        "255.255.255.255/32",
        "240.0.0.1/8",
        "10.2.0.255/24",
        "10.2.0.0/24",
        "::/64",
        "::1/128",
        "ff02::1/16",
        "::ffff:10.0.0.1/96",
    ] {
        let found = with(&|s| s.addresses.push(prefix(bad)));
        assert_eq!(found, SettingsError::Address(prefix(bad).address));
    }
    for (bad, most) in [
        ("10.3.0.1/0", 32),
        ("10.3.0.1/33", 32),
        ("fd00::1/0", 128),
        ("fd00::1/129", 128),
    ] {
        let AddressPrefix { address, bits } = prefix(bad);
        let expected = SettingsError::Prefix {
            address,
            bits,
            most,
        };
        assert_eq!(with(&|s| s.addresses.push(prefix(bad))), expected);
    }
    let twice = with(&|s| s.addresses.push(prefix("10.0.0.2/16")));
    assert_eq!(twice, SettingsError::Twice(ip("10.0.0.2")));
    for bad in ["10.0.1.1", "10.0.0.2", "2001:db8::1"] {
        assert_eq!(
            with(&|s| s.gateways = vec![ip(bad)]),
            SettingsError::Gateway(ip(bad))
        );
    }
    let second = with(&|s| s.gateways = vec![ip("10.0.0.1"), ip("fe80::1"), ip("10.0.0.3")]);
    assert_eq!(second, SettingsError::SecondGateway(ip("10.0.0.3")));
    for bad in [0, 4_095] {
        assert_eq!(with(&|s| s.vlan = Some(bad)), SettingsError::Vlan(bad));
    }
    for octets in [1_279, 9_001] {
        assert_eq!(
            with(&|s| s.mtu_octets = octets),
            SettingsError::Mtu {
                octets,
                least: 1_280
            }
        );
    }
    let v4 = Settings {
        mtu_octets: 575,
        ..settings(&["10.0.0.2/24"])
    };
    assert_eq!(
        v4.check(),
        Err(SettingsError::Mtu {
            octets: 575,
            least: 576
        })
    );
    for (vlan, mtu_octets) in [(1, 576), (4_094, 9_000)] {
        let edge = Settings {
            vlan: Some(vlan),
            mtu_octets,
            ..settings(&["10.0.0.2/32"])
        };
        assert_eq!(edge.check(), Ok(()));
    }
}

#[test]
fn links_and_sources_go_by_prefixes() {
    let both = settings(&["10.0.0.2/24", "10.9.0.2/31", "fd00::2/64"]);
    for (near, far) in [
        ("10.0.0.255", "10.0.1.0"),
        ("10.9.0.3", "10.9.0.4"),
        ("fd00::ffff", "fd00:0:0:1::"),
    ] {
        assert!(both.is_on_link(ip(near)) && !both.is_on_link(ip(far)));
    }
    assert!(
        both.is_on_link(ip("fe80::9")),
        "link-local addresses are near"
    );
    assert!(
        !settings(&["10.0.0.2/24"]).is_on_link(ip("fe80::9")),
        "without IPv6 they are not"
    );
    assert!(both.is_broadcast(ip("10.0.0.255")) && both.is_broadcast(ip("10.0.0.0")));
    assert!(!both.is_broadcast(ip("10.9.0.3")) && !both.is_broadcast(ip("10.0.1.255")));
    for (to, from) in [
        ("10.0.0.9", "10.0.0.2"),
        ("10.9.0.3", "10.9.0.2"),
        ("8.8.8.8", "10.0.0.2"),
        ("2001::1", "fd00::2"),
    ] {
        assert_eq!(both.source_for(ip(to)), Some(ip(from)));
    }
    assert_eq!(settings(&["10.0.0.2/24"]).source_for(ip("fd00::1")), None);
}
