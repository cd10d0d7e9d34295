use super::*;
use crate::bus::testing::{signal, Step, TestFunction};
use crate::device::access::Bar;
use crate::device::error::DriverError;
use crate::device::rings::Event;
use rnic_abi::registers::{CONTROL_ENABLE, CONTROL_RESET, IDENTITY, IDENTITY_VALUE, MAX_PAYLOAD};
use std::os::fd::AsFd;
use std::time::Duration;

fn opened(function: &TestFunction) -> Result<AnyDevice, OpenError> {
    start(take(function.owned())?, Config::default())
}

fn refusal(function: &TestFunction) -> String {
    opened(function).expect_err("it is refused").to_string()
}

/// The order matters: what a reset clears is written after it, and the device accesses no memory
/// before it has some.
#[test]
fn a_device_is_opened_step_by_step() {
    let function = TestFunction::new();
    let device = opened(&function).expect("opens");
    let steps = function.steps();
    assert_eq!(steps[..2], [Step::Reset, Step::Command(0x0506)]);
    let control = |value| {
        let mut steps = steps.iter();
        steps
            .position(|step| *step == Step::Control(value))
            .expect("it is written")
    };
    let first_map = steps.iter().position(|step| matches!(step, Step::Map(..)));
    assert!(Some(control(CONTROL_RESET)) < first_map);
    let enabled = steps.iter().position(|step| *step == Step::Vectors(8));
    assert_eq!(enabled, Some(steps.len() - 1));
    assert_eq!(control(CONTROL_ENABLE), steps.len() - 2);
    device.close().expect("closes");
    let steps = function.steps();
    assert_eq!(steps.first(), Some(&Step::Control(CONTROL_RESET)));
    assert_eq!(steps.last(), Some(&Step::Dropped));
    assert!(function.inside().maps.is_empty());
}

#[test]
fn another_device_is_refused() {
    let function = TestFunction::new();
    function.inside().configuration[..4].copy_from_slice(&[0x86, 0x80, 0x0e, 0x10]);
    let refused = "the function is 8086:100e, a Ferrowarp RNIC is 1209:0001; check the address";
    assert_eq!(refusal(&function), refused);
    assert_eq!(function.steps(), [Step::Dropped], "and is not changed");
}

#[test]
fn a_bar_that_is_too_small_is_refused() {
    let function = TestFunction::new();
    function.inside().bar_octets = 1024;
    let refused =
        "BAR0 of the function has 1024 octets, a Ferrowarp RNIC has 4096; the device was \
                   built with another register map, or the firmware gave the BAR no addresses";
    assert_eq!(refusal(&function), refused);
}

#[test]
fn a_function_that_does_not_answer_is_refused() {
    let function = TestFunction::new();
    function.inside().is_cut_off = true;
    let refused =
        "failed to read the vendor and device id of the function: broken pipe; reset the \
                   device, or restart its server";
    assert_eq!(refusal(&function), refused);
}

#[test]
fn a_device_without_memory_is_refused_and_gives_back_what_it_had() {
    let function = TestFunction::new();
    function.inside().map_error = Some(std::io::ErrorKind::OutOfMemory);
    let refused = opened(&function).expect_err("no memory");
    assert!(matches!(
        refused,
        OpenError::Driver(DriverError::Memory { .. })
    ));
    assert!(function.inside().maps.is_empty());
    assert_eq!(function.steps().last(), Some(&Step::Dropped));
}

#[test]
fn a_device_whose_vectors_cannot_be_enabled_is_closed_again() {
    let function = TestFunction::new();
    function.inside().refuses_vectors = true;
    let refused =
        "failed to enable MSI-X of the function: permission denied; reset the device, or \
                   restart its server";
    assert_eq!(refusal(&function), refused);
    assert!(function.inside().maps.is_empty());
}

#[test]
fn a_function_may_have_fewer_vectors_and_no_reset() {
    for vectors in [0, 3] {
        let function = TestFunction::new();
        function.inside().vectors = vectors;
        function.inside().has_reset = false;
        let device = opened(&function).expect("opens");
        assert_eq!(device.function().vectors(), vectors as usize);
        let beyond = device.interrupt_fd(vectors as u8);
        assert!(matches!(beyond, Err(DriverError::Configuration { .. })));
        let wait = device
            .wait(vectors as u8, None)
            .expect_err("no such vector");
        assert_eq!(wait.kind(), std::io::ErrorKind::InvalidInput);
        assert!(!device.function().reset().expect("it has none"));
    }
}

#[test]
fn each_vector_has_its_file() {
    let function = TestFunction::new();
    function.inside().vectors = 2048;
    let device = opened(&function).expect("opens");
    for vector in [0, 5, 7] {
        signal(function.inside().eventfds[vector].as_fd());
        for other in 0..8 {
            let is_raised = device.wait(other, Some(Duration::ZERO)).expect("waits");
            assert_eq!(is_raised, usize::from(other) == vector);
        }
    }
    // A clone waits in another thread, while the device is used here.
    let waits = device.function().clone();
    let thread = std::thread::spawn(move || waits.wait(3, Some(Duration::from_secs(30))));
    signal(function.inside().eventfds[3].as_fd());
    assert!(thread.join().expect("ends").expect("waits"));
}

/// From the first error on, whatever the function does later.
#[test]
fn a_function_that_failed_once_reads_as_ones() {
    let function = TestFunction::new();
    let (mut bar, _memory) = take(function.owned()).expect("a function");
    assert!(!bar.is_mapped());
    assert_eq!(bar.read32(IDENTITY), IDENTITY_VALUE);
    function.inside().is_cut_off = true;
    bar.write32(MAX_PAYLOAD, 1);
    function.inside().is_cut_off = false;
    assert_eq!(bar.read32(IDENTITY), u32::MAX);
    bar.write32(MAX_PAYLOAD, 2);
    assert!(!function
        .inside()
        .tables
        .registers
        .contains_key(&MAX_PAYLOAD));
}

/// A port takes packets that are larger than it is set to for malformed.
#[test]
fn packets_are_no_larger_than_the_bus_allows() {
    let function = TestFunction::new();
    let device = opened(&function).expect("opens");
    let code = function.inside().tables.registers[&MAX_PAYLOAD];
    assert_eq!(code, 0, "128 octets, not the 256 of the default");
    device.close().expect("closes");
}

/// Its memory is never freed: the device may still write it.
#[test]
fn a_device_that_is_gone_keeps_its_memory() {
    let function = TestFunction::new();
    let mut device = opened(&function).expect("opens");
    function.steps();
    function.inside().is_cut_off = true;
    assert_eq!(device.check_present(), Err(DriverError::Gone));
    assert_eq!(device.poll_event(), None::<Event>);
    assert!(matches!(device.close(), Err(DriverError::Gone)));
    assert_eq!(function.steps(), []);
    assert!(!function.inside().maps.is_empty());
}

/// A thread may own a device, and another one wait for it.
#[test]
fn a_device_may_go_to_another_thread() {
    fn is_send<T: Send>() {}
    fn is_sync<T: Sync>() {}
    is_send::<AnyDevice>();
    is_sync::<PciFunction>();
}

#[test]
fn a_device_may_be_any_bar_and_any_memory() {
    let function = TestFunction::new();
    let (bar, memory) = take(function.owned()).expect("a function");
    let bar: Box<dyn Bar> = Box::new(bar);
    let memory: Box<dyn crate::Dma> = Box::new(memory);
    let device = Device::open(bar, memory, Config::default()).expect("opens");
    device.close().expect("closes");
}

#[test]
fn an_address_that_leads_nowhere_says_what_to_do() {
    let refused = open("0000:01:00.0", Config::default()).expect_err("no form");
    assert!(matches!(refused, OpenError::Address { .. }));
    let missing = "vfio:ffff:ff:1f.7";
    let refused = open(missing, Config::default()).expect_err("no function");
    let is_missing = matches!(
        refused,
        OpenError::NoVfio { .. } | OpenError::NoFunction { .. }
    );
    assert!(is_missing, "{refused}");
}
