//! `sim:`: the device on a thread of the program that drives it.

use crate::host::{converse, open_at};
use crate::server::{in_time, Peer};
use rnic_testbench::serve::provide_simulator;

#[test]
fn devices_of_this_process_are_driven_at_the_same_time() {
    provide_simulator();
    in_time(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let open = |name: &str| {
            let device = open_at(&format!("sim:unix:{}", path(name).display()));
            let device = device.expect("it is simulated here");
            (device, Peer::connect(&path(name)))
        };
        let (mut first, mut first_peer) = open("first");
        let (mut second, mut second_peer) = open("second");
        converse(&mut first, &mut first_peer, 3_000);
        converse(&mut second, &mut second_peer, 3_000);
        first.close().expect("it answers");
        // The other one is not concerned, and another begins anew.
        converse(&mut second, &mut second_peer, 3_001);
        let (mut third, mut third_peer) = open("third");
        converse(&mut third, &mut third_peer, 3_000);
        third.close().expect("it answers");
        second.close().expect("it answers");
    });
}

#[test]
fn an_address_whose_wire_leads_nowhere_is_refused() {
    provide_simulator();
    for (address, reason) in [
        ("sim:x", "use none, pcap:FILE, unix:PATH or tap:NAME"),
        ("sim:pcap:nowhere.pcap", "nowhere.pcap"),
    ] {
        let refused = open_at(address).expect_err("there is no such link");
        let text = refused.to_string();
        let begin = "failed to start the simulated device: ";
        assert!(text.starts_with(begin) && text.contains(reason), "{text}");
    }
}
