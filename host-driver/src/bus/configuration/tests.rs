use super::*;
use crate::bus::testing::{TestFunction, PCI_EXPRESS};

/// Maximum payload and read request of the largest configuration, at a function whose space is
/// changed like this.
fn sizes(change: impl Fn(&mut Vec<u8>)) -> (u32, u32) {
    let function = TestFunction::new();
    change(&mut function.inside().configuration);
    let config = Config {
        max_payload_octets: 512,
        max_read_request_octets: 4096,
        ..Config::default()
    };
    let fitted = fit(function.owned().as_mut(), config).expect("it answers");
    (fitted.max_payload_octets, fitted.max_read_request_octets)
}

#[test]
fn sizes_are_those_of_device_control_or_smaller() {
    let control = |control: u16| {
        let octets = control.to_le_bytes();
        sizes(|space| space[PCI_EXPRESS + 8..PCI_EXPRESS + 10].copy_from_slice(&octets))
    };
    assert_eq!(control(0x2810), (128, 512));
    assert_eq!(control(0x0020), (256, 128));
    assert_eq!(control(0x50a0), (512, 4096));
    // Reserved codes.
    assert_eq!(control(0x70e0), (512, 4096));
    let function = TestFunction::new();
    let small = Config {
        max_payload_octets: 128,
        max_read_request_octets: 128,
        ..Config::default()
    };
    let fitted = fit(function.owned().as_mut(), small).expect("it answers");
    assert_eq!(fitted, small);
}

#[test]
fn a_function_that_does_not_say_changes_nothing() {
    let unchanged = (512, 4096);
    let no_list = sizes(|space| space[6] = 0);
    assert_eq!(no_list, unchanged);
    let no_express = sizes(|space| space[0x41] = 0);
    assert_eq!(no_express, unchanged);
    let circle = sizes(|space| space[0x41] = 0x40);
    assert_eq!(circle, unchanged);
}

#[test]
fn reserved_bits_of_pointers_are_ignored() {
    let found = sizes(|space| {
        space[0x34] |= 3;
        space[0x41] |= 2;
    });
    assert_eq!(found, (128, 512));
}
