//! The report: characters, digits, and its end.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Simulation};

/// Cycles between the last octet's writing and its reading.
const SETTLES: usize = 2;

fn write(uut: &mut Simulation<Report>, word: u64, is_value: bool) {
    uut.word.next = word.into();
    uut.is_value.next = is_value;
    uut.pulse(|uut| &mut uut.write);
    uut.wait_for(20, |uut| !uut.busy.val());
    uut.ticks(SETTLES);
}

fn read(uut: &mut Simulation<Report>) -> String {
    let length = uut.length.val().to_u64();
    let octet = |address: u64| {
        uut.read_address.next = address.into();
        uut.ticks(2);
        uut.read_data.val().to_u64() as u8
    };
    String::from_utf8((0..length).map(octet).collect()).expect("ASCII")
}

#[test]
fn characters_and_digits_are_written_in_order_and_zeros_are_left_out() {
    let mut uut = simulate!(Report::default());
    uut.pulse(|uut| &mut uut.clear);
    write(&mut uut, u64::from_le_bytes(*b"one\0 two"), false);
    write(&mut uut, 0x0012_abef, true);
    write(&mut uut, u64::from_le_bytes(*b"\n\0\0\0\0\0\0\0"), false);
    assert_eq!(read(&mut uut), "one two0012abef\n");
    uut.pulse(|uut| &mut uut.clear);
    assert_eq!(read(&mut uut), "");
}

/// A reader that waits at an address gets the octet as soon as it is counted, not what was there.
#[test]
fn an_octet_is_counted_when_it_can_be_read() {
    let mut uut = simulate!(Report::default());
    let texts = [*b"abcdefgh", *b"ABCDEFGH"];
    for (address, text) in (0..8).flat_map(|address| texts.map(|text| (address, text))) {
        uut.pulse(|uut| &mut uut.clear);
        uut.read_address.next = (address as u64).into();
        uut.ticks(2);
        uut.word.next = u64::from_le_bytes(text).into();
        uut.is_value.next = false;
        uut.pulse(|uut| &mut uut.write);
        uut.wait_for(20, |uut| uut.length.val() > address as u64);
        assert_eq!(uut.read_data.val(), u64::from(text[address]), "{address}");
        assert_eq!(uut.length.val(), address as u64 + 1, "as early as possible");
        uut.ticks(20);
    }
}

#[test]
fn what_does_not_fit_is_dropped() {
    let mut uut = simulate!(Report::default());
    uut.pulse(|uut| &mut uut.clear);
    for _ in 0..crate::script::REPORT_OCTETS / 8 + 1 {
        write(&mut uut, u64::from_le_bytes(*b"abcdefgh"), false);
    }
    assert_eq!(uut.length.val(), crate::script::REPORT_OCTETS as u64);
    assert!(read(&mut uut).ends_with("abcdefgh"));
}

#[test]
fn lockstep_with_verilog() {
    lockstep!("report", Report::default(), 8000, |uut, random| {
        uut.clear.next = random.chance(1, 1000);
        uut.word.next = random.wide();
        uut.is_value.next = random.chance(1, 2);
        uut.write.next = random.chance(1, 4);
        uut.read_address.next = random.below(64).into();
    });
}
