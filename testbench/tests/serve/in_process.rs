//! `sim:`: the device on a thread of the program that drives it, of either kind.

use crate::host::{converse, open_at};
use crate::server::{in_time, Peer};
use rnic_device::provide_simulator;

#[test]
fn devices_of_this_process_are_driven_at_the_same_time() {
    provide_simulator();
    for kinds in [["rtl", "rtl"], ["model", "model"], ["rtl", "model"]] {
        in_time(move || drive(kinds));
    }
}

/// Two devices at a time, of these kinds, and then one more of the first kind.
fn drive([first, second]: [&str; 2]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let open = |kind: &str, name: &str| {
        let device = open_at(&format!("sim:{kind},unix:{}", path(name).display()));
        let device = device.expect("it is simulated here");
        (device, Peer::connect(&path(name)))
    };
    let (mut one, mut one_peer) = open(first, "first");
    let (mut other, mut other_peer) = open(second, "second");
    converse(&mut one, &mut one_peer, 3_000);
    converse(&mut other, &mut other_peer, 3_000);
    one.close().expect("it answers");
    // The other one is not concerned, and another begins anew.
    converse(&mut other, &mut other_peer, 3_001);
    let (mut third, mut third_peer) = open(first, "third");
    converse(&mut third, &mut third_peer, 3_000);
    third.close().expect("it answers");
    other.close().expect("it answers");
}
