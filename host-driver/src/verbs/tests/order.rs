//! The order in which objects end.

use super::{connection, options, prepare, region, window, OTHER_STAG, STAG};
use crate::device::error::DriverError;
use crate::verbs::testing::{Step, TestDevice};
use crate::verbs::{Context, Refused};
use rnic_abi::tables::{self, WRITE};

/// The message of a refusal.
fn message<T>(refused: Refused<T>) -> (T, String) {
    (refused.object, refused.error.to_string())
}

#[test]
fn memory_is_freed_only_after_the_fence_of_its_region() {
    let (test, context, domain, _queue) = prepare();
    let (region, address) = region(&context, &domain, STAG);
    test.steps();
    drop(region);
    let fence = Step::Operation(WRITE, tables::REGION);
    let expected = [
        fence,
        fence,
        Step::Operation(WRITE, tables::STAG),
        Step::Freed(address),
    ];
    assert_eq!(test.steps(), expected);
}

#[test]
fn a_closed_region_gives_its_memory_back_and_its_stag_is_free() {
    let (test, context, domain, _queue) = prepare();
    let (first, address) = region(&context, &domain, STAG);
    test.write(address + 7, b"placed");
    let again = context.allocate(64).expect("memory");
    let refused = domain.register(again, &options(STAG)).map(drop);
    let refused = refused.expect_err("the STag is in use");
    assert!(matches!(refused.error, DriverError::Duplicate { .. }));
    let again = refused.object.expect("the device does not have it");
    let memory = first.close().expect("nobody holds it");
    let mut octets = [0; 6];
    memory.read(7, &mut octets).expect("inside");
    assert_eq!(&octets, b"placed");
    assert!(test.allocated().contains(&address));
    let region = domain.register(again, &options(STAG)).expect("it is free");
    drop((memory, region));
    assert!(!test.allocated().contains(&address));
}

#[test]
fn a_region_outlives_its_windows_and_says_which_hold_it() {
    let (test, context, domain, queue) = prepare();
    let (region, address) = region(&context, &domain, STAG);
    let connection = connection(&domain, &queue, 1);
    let lent = connection
        .bind(&region, &window(OTHER_STAG))
        .expect("binds");
    let (region, refused) = message(region.close().expect_err("it has a window"));
    assert_eq!(
        refused,
        "the region 0x00111142 is in use by the window 0x00222242; close these first"
    );
    assert_eq!(region.is_valid(), Ok(false), "the double reads zeros");
    test.steps();
    drop(region);
    assert_eq!(test.steps(), []);
    lent.close().expect("the device answers");
    let steps = test.steps();
    assert_eq!(steps.last(), Some(&Step::Freed(address)));
    let fences = [Step::Operation(WRITE, tables::REGION); 2];
    assert_eq!((&steps[..2], &steps[3..5]), (&fences[..], &fences[..]));
}

#[test]
fn closing_a_connection_ends_what_is_bound_to_it() {
    let (test, context, domain, queue) = prepare();
    let (region, _) = region(&context, &domain, STAG);
    let first = connection(&domain, &queue, 1);
    let bound = context.allocate(64).expect("memory");
    let bound = first.register(bound, &options(0x0033_3300)).expect("new");
    let lent = first.bind(&region, &window(OTHER_STAG)).expect("binds");
    first.close().expect("the device answers");
    assert_eq!((lent.is_valid(), bound.is_valid()), (Ok(false), Ok(false)));
    // Another region has the STag of the window by now, which the old object must not end.
    let (second, _) = super::region(&context, &domain, OTHER_STAG);
    test.steps();
    lent.close().expect("it has ended already");
    bound.close().expect("it has ended already");
    region.close().expect("its window has ended");
    let stags = |steps: &[Step]| {
        let step = Step::Operation(WRITE, tables::STAG);
        steps.iter().filter(|other| **other == step).count()
    };
    assert_eq!(stags(&test.steps()), 1, "the region alone");
    second.close().expect("it is registered");
}

#[test]
fn a_context_names_what_is_open_and_closes_after_the_last() {
    let (test, context, domain, queue) = prepare();
    let (region, _) = region(&context, &domain, STAG);
    let (context, refused) = message(context.close().expect_err("there are objects"));
    for name in [
        "Protection Domain 0",
        "completion queue 0",
        "region 0x00111142",
    ] {
        assert!(refused.contains(name), "{refused}");
    }
    let context = context.expect("it is open");
    let (domain, refused) = message(domain.close().expect_err("it has a region"));
    assert!(refused.contains("region 0x00111142"), "{refused}");
    drop(region);
    domain.close().expect("it is empty");
    queue.close().expect("no connection uses it");
    let clone = context.clone();
    let (context, refused) = message(context.close().expect_err("there is a clone"));
    assert!(refused.contains("another clone"), "{refused}");
    drop(clone);
    test.steps();
    let parts = context.expect("it is open").close();
    let parts = parts.expect("the device answers");
    assert_eq!(test.steps()[0], Step::Reset);
    assert_eq!(test.allocated(), Vec::<u64>::new());
    drop(parts);
}

#[test]
fn the_last_object_resets_the_device_whichever_it_is() {
    let (test, context, domain, queue) = prepare();
    let connection = connection(&domain, &queue, 1);
    let (region, _) = region(&context, &domain, STAG);
    let memory = context.allocate(64).expect("memory");
    drop((context, domain, queue));
    assert!(!test.steps().contains(&Step::Reset));
    drop((region, connection));
    assert!(!test.steps().contains(&Step::Reset));
    drop(memory);
    let steps = test.steps();
    let reset = steps.iter().position(|step| *step == Step::Reset);
    let reset = reset.expect("it was the last");
    assert_eq!(steps.last(), Some(&Step::Unmapped));
    assert!(steps[reset + 1..].len() > 2, "the rings are freed after it");
    assert_eq!(test.allocated(), Vec::<u64>::new());
}

#[test]
fn a_queue_is_used_again_when_its_connections_have_gone() {
    let (_test, context, domain, queue) = prepare();
    let connection = connection(&domain, &queue, 1);
    let (queue, refused) = message(queue.close().expect_err("it is in use"));
    assert_eq!(
        refused,
        "completion queue 0 is in use by connection 0; close these first"
    );
    let number = queue.number();
    drop(queue);
    let other = context.completion_queue(4).expect("queue 1");
    assert_ne!(other.number(), number);
    drop(connection);
    let again = context.completion_queue(3).expect("queue 0");
    assert_eq!((again.number(), again.entries()), (number, 16));
    let refused = context.completion_queue(17).map(drop);
    assert!(matches!(refused, Err(DriverError::Configuration { .. })));
}

/// DDP-056: nobody shares a domain with another one unasked.
#[test]
fn domains_have_numbers_of_their_own_until_they_are_empty() {
    let (_test, context, domain, _queue) = prepare();
    let (region, _) = region(&context, &domain, STAG);
    let number = domain.number();
    drop(domain);
    let other = context.protection_domain().expect("there are more");
    assert_ne!(other.number(), number);
    drop(region);
    let again = context.protection_domain().expect("there are more");
    assert_eq!(again.number(), number);
}

/// DDP-057: a region is of memory that its own context has mapped.
#[test]
fn objects_of_two_devices_do_not_mix() {
    let (_test, context, domain, queue) = prepare();
    let (_other_test, other) = TestDevice::open();
    let foreign = other.allocate(64).expect("memory");
    let (foreign, refused) = message(domain.register(foreign, &options(STAG)).expect_err("mixed"));
    assert!(refused.contains("another context"), "{refused}");
    let connection = connection(&domain, &queue, 1);
    let foreign = foreign.expect("it is given back");
    let refused = connection.post_receive(0, foreign).expect_err("mixed");
    assert_eq!(refused.error, DriverError::OtherContext { what: "memory" });
    let (region, _) = region(&other, &other.protection_domain().expect("first"), STAG);
    let mixed = DriverError::OtherContext { what: "region" };
    let bound = connection.bind(&region, &window(OTHER_STAG)).map(drop);
    assert_eq!(bound, Err(mixed));
    let posted = connection.post_read(&region, 0x1000, 8);
    assert_eq!(posted, Err(DriverError::OtherContext { what: "region" }));
    drop(context);
}

#[test]
fn a_device_that_was_used_is_refused() {
    let (_test, context) = TestDevice::open();
    let (bar, memory) = context.close().expect("it is unused");
    let device = crate::Device::open(bar, memory, crate::Config::default());
    let mut device = device.expect("opens");
    let config = crate::testing::connection_config();
    device.open_connection(&config).expect("it has room");
    let refused = Context::new(device).expect_err("it has a connection");
    assert!(matches!(refused, DriverError::InUse { .. }), "{refused}");
}
