//! Over a function on a bus: memory of the caller, memory that the device only reads, and events.

use super::{connection_config, options, STAG};
use crate::bus::testing::{signal, Step, TestFunction};
use crate::bus::{self, Access};
use crate::device::config::Config;
use crate::device::error::DriverError;
use crate::verbs::{CompletionEvents, Context, RegionOptions, Rights};
use crate::Device;
use rnic_abi::cqe::{CQE_OCTETS, KIND_ERROR, PHASE};
use rnic_abi::interrupts::QUEUE_ROUTES_LOW;
use rnic_abi::registers::{cq_register, CQ_BASE_HIGH, CQ_BASE_LOW};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::{fcntl_add_seals, ftruncate, memfd_create, MemfdFlags, SealFlags};
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

fn open() -> (TestFunction, Context) {
    let function = TestFunction::new();
    let (bar, memory) = bus::take(function.owned()).expect("it is a Ferrowarp RNIC");
    let interrupts = memory.function().clone();
    let device = Device::open(bar, memory, Config::default()).expect("opens");
    interrupts.enable_interrupts().expect("it has vectors");
    (function, Context::new(device).expect("nobody has used it"))
}

fn sealed(octets: u64) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create("caller", flags).expect("a memfd");
    ftruncate(&file, octets).expect("room");
    fcntl_add_seals(&file, SealFlags::SHRINK).expect("it can be sealed");
    file
}

/// The device writes a completion of a queue, the `number`th on the first pass over it.
fn complete(function: &TestFunction, queue: u32, number: u64) {
    let inside = function.inside();
    let register = |offset| inside.tables.registers[&cq_register(queue, offset)];
    let base = u64::from(register(CQ_BASE_HIGH)) << 32 | u64::from(register(CQ_BASE_LOW));
    let entry = base + number * CQE_OCTETS as u64;
    inside.device_writes(entry, &KIND_ERROR.to_le_bytes());
    inside.device_writes(entry + 28, &PHASE.to_le_bytes());
}

fn is_readable(events: &CompletionEvents) -> bool {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut files = [PollFd::new(events, PollFlags::IN)];
    poll(&mut files, Some(&now)).expect("it can be polled") == 1
}

#[test]
fn memory_of_the_caller_is_the_devices_until_its_region_ends() {
    let (function, context) = open();
    let file = sealed(8192);
    let memory = context.map_memfd(file.as_fd(), 4096, 4096, Access::ReadWrite);
    let memory = memory.expect("it is sealed");
    let address = memory.place().address;
    let domain = context.protection_domain().expect("the first");
    let region = domain.register(memory, &options(STAG)).expect("new");
    function.inside().device_writes(address + 5, b"placed");
    let mut octets = [0; 6];
    let read = rustix::io::pread(&file, &mut octets, 4096 + 5);
    assert_eq!((read, &octets), (Ok(6), b"placed"));
    assert!(!function.steps().contains(&Step::Unmap(address, 4096)));
    drop(region);
    assert_eq!(function.steps(), [Step::Unmap(address, 4096)]);
    let refused = context.map_memfd(file.as_fd(), 1, 4096, Access::ReadWrite);
    assert!(matches!(refused, Err(DriverError::Memory { .. })));
}

/// DDP-057: memory that this process gave for reading is no region that a peer writes.
#[test]
fn what_the_device_only_reads_is_never_written() {
    let (function, context) = open();
    let file = sealed(4096);
    rustix::io::pwrite(&file, b"payload", 0).expect("room");
    let memory = context.map_memfd(file.as_fd(), 0, 4096, Access::Read);
    let mut memory = memory.expect("it is sealed");
    let address = memory.place().address;
    assert!(function
        .steps()
        .contains(&Step::Map(address, 4096, Access::Read)));
    // The device reads it; a write of the device is refused where it is mapped.
    assert_eq!(function.inside().device_reads(address, 7), b"payload");
    let device = AssertUnwindSafe(|| function.inside().device_writes(address, b"x"));
    catch_unwind(device).expect_err("it is mapped to be read");
    // Nor is it given to the device for anything that it would write.
    let is_refused = |error: &DriverError| matches!(error, DriverError::ReadOnly { .. });
    assert!(is_refused(&memory.write(0, b"x").expect_err("as a map")));
    let domain = context.protection_domain().expect("the first");
    let refused = domain.register(memory, &options(STAG)).expect_err("writes");
    assert!(is_refused(&refused.error), "{refused}");
    let queue = context.completion_queue(4).expect("queue 0");
    let connection = domain.open_connection(&queue, &connection_config());
    let connection = connection.expect("it has room");
    connection.open_queue(0, 1).expect("it has room");
    let memory = refused.object.expect("the device does not have it");
    let refused = connection.post_receive(0, memory).expect_err("writes");
    assert!(is_refused(&refused.error), "{refused}");
    // Peers may read it, and no window opens more.
    let memory = refused.object.expect("the device does not have it");
    let source = RegionOptions {
        rights: Rights::REMOTE_READ,
        ..options(STAG)
    };
    let source = domain.register(memory, &source).expect("only read");
    let bound = connection.bind(&source, &super::window(0x0022_2200));
    assert!(is_refused(&bound.map(drop).expect_err("writes")));
    source.part(0..7).expect("it can be sent");
}

#[test]
fn arming_sees_what_came_before_and_is_woken_by_what_comes_later() {
    let (function, context) = open();
    let queues = [0, 1].map(|_| context.completion_queue(4).expect("there are 16"));
    let events = context.completion_events(&[&queues[0], &queues[1]]);
    let events = events.expect("there are vectors");
    let vector = usize::from(events.vector());
    let interrupt = || signal(function.inside().eventfds[vector].as_fd());
    let number = u32::from(queues[1].number().0);
    assert!(!events.arm().expect("an eventfd") && !is_readable(&events));
    // Between the last poll and arming: the interrupt is taken, its completion is seen.
    complete(&function, number, 0);
    interrupt();
    assert!(is_readable(&events));
    assert!(events.arm().expect("an eventfd") && !is_readable(&events));
    assert!(queues[1].poll().is_some() && queues[1].poll().is_none());
    // After arming: the file becomes readable.
    assert!(!events.arm().expect("an eventfd"));
    interrupt();
    assert!(is_readable(&events));
    // An interrupt for what was polled already: no completion, and no wait that does not end.
    assert!(!events.wait(Some(Duration::ZERO)).expect("an eventfd"));
    assert!(!is_readable(&events));
}

#[test]
fn a_wait_ends_with_a_completion_of_another_thread() {
    let (function, context) = open();
    let queue = context.completion_queue(4).expect("queue 0");
    let events = context.completion_events(&[&queue]).expect("vectors");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| events.wait(None));
        complete(&function, 0, 0);
        let inside = function.inside();
        signal(inside.eventfds[usize::from(events.vector())].as_fd());
        drop(inside);
        assert!(waits.join().expect("ends").expect("an eventfd"));
    });
}

/// A completion that comes while it arms is seen, or makes the file readable.
#[test]
fn no_completion_is_lost_between_the_steps_of_arming() {
    let (function, context) = open();
    let queue = context.completion_queue(12).expect("queue 0");
    let events = context.completion_events(&[&queue]).expect("vectors");
    let interrupt = || {
        let vector = usize::from(events.vector());
        signal(function.inside().eventfds[vector].as_fd());
    };
    // All of it, or its completion alone, whose interrupt follows.
    let armed = events.arm_around(|| {
        complete(&function, 0, 0);
        interrupt();
    });
    assert!(armed.expect("an eventfd") || is_readable(&events));
    assert!(queue.poll().is_some());
    events.arm().expect("an eventfd");
    let armed = events.arm_around(|| complete(&function, 0, 1));
    interrupt();
    assert!(armed.expect("an eventfd") || is_readable(&events));
    assert!(queue.poll().is_some() && queue.poll().is_none());
}

#[test]
fn each_vector_belongs_to_one_waiter() {
    let (function, context) = open();
    let queues: Vec<_> = (0..9)
        .map(|_| context.completion_queue(4).expect("there are 16"))
        .collect();
    let mut all: Vec<_> = queues[..8]
        .iter()
        .map(|queue| context.completion_events(&[queue]).expect("vectors"))
        .collect();
    let routes = function.inside().tables.registers[&QUEUE_ROUTES_LOW];
    assert_eq!(routes, 0xfedc_ba98);
    let refused = context.completion_events(&[&queues[8]]).map(drop);
    assert!(matches!(
        refused,
        Err(DriverError::Exhausted { limit: 8, .. })
    ));
    let refused = context.completion_events(&[&queues[8], &queues[3]]);
    assert_eq!(
        refused.map(drop).expect_err("one has a vector").to_string(),
        "completion queue 3 is in use by completion events 3; close these first"
    );
    let refused = context.completion_events(&[&queues[8], &queues[8]]);
    assert!(matches!(refused, Err(DriverError::Duplicate { .. })));
    all.remove(3);
    let routes = function.inside().tables.registers[&QUEUE_ROUTES_LOW];
    assert_eq!(routes, 0xfedc_0a98);
    let again = context.completion_events(&[&queues[8], &queues[3]]);
    assert_eq!(again.expect("vector 3 is free").vector(), 3);
}

#[test]
fn everything_can_be_sent_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Context>();
    is_send::<crate::verbs::MemoryRegion>();
    is_send::<crate::verbs::Connection>();
    is_send::<crate::verbs::CompletionQueue>();
    is_send::<CompletionEvents>();
}
