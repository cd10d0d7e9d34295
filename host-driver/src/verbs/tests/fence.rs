//! Fences that fail: memory that the device may still write is neither freed nor used again.

use super::{connection, options, prepare, region, window, OTHER_STAG, STAG};
use crate::device::error::DriverError;
use crate::verbs::testing::{Step, TestContext, TestDevice};

fn is_timeout(error: &DriverError) -> bool {
    matches!(error, DriverError::TableTimeout { .. })
}

/// After a reset that ends, everything is free.
fn assert_freed_by_close(test: &TestDevice, context: TestContext) {
    test.steps();
    let closed = context.close();
    closed.expect("no object is left, and the device answers");
    assert_eq!(test.steps()[0], Step::Reset);
    assert_eq!(test.allocated(), Vec::<u64>::new());
}

/// Each operation of the fence hangs in turn, without its effect or with it.
#[test]
fn a_region_that_is_not_fenced_keeps_its_memory_and_its_stag() {
    for takes_effect in [false, true] {
        for after in 0..2 {
            let (test, context, domain, queue) = prepare();
            test.inside().bar.takes_effect = takes_effect;
            let (first, address) = region(&context, &domain, STAG);
            test.hang(after);
            drop(first);
            assert!(test.allocated().contains(&address), "{after}");
            let memory = context.allocate(64).expect("memory");
            assert_ne!(memory.place().address, address);
            let refused = domain.register(memory, &options(STAG));
            let refused = refused.expect_err("its STag may lead to it");
            assert!(matches!(refused.error, DriverError::Duplicate { .. }));
            drop((refused, domain, queue));
            // Its domain is not used again either.
            let other = context.protection_domain().expect("there are more");
            assert_ne!(other.number(), 0);
            drop(other);
            assert_freed_by_close(&test, context);
        }
    }
}

#[test]
fn a_fence_that_failed_can_be_tried_again() {
    let (test, context, domain, _queue) = prepare();
    let (region, address) = region(&context, &domain, STAG);
    test.hang(1);
    let refused = region.close().expect_err("the device hangs");
    assert!(is_timeout(&refused.error), "{refused}");
    let memory = refused.object.close().expect("the device answers again");
    assert!(test.allocated().contains(&address));
    drop(memory);
    assert!(!test.allocated().contains(&address));
}

#[test]
fn a_window_that_is_not_unbound_holds_its_region_until_its_connection_ends() {
    let (test, context, domain, queue) = prepare();
    let (region, address) = region(&context, &domain, STAG);
    let connection = connection(&domain, &queue, 1);
    let lent = connection
        .bind(&region, &window(OTHER_STAG))
        .expect("binds");
    test.hang(0);
    drop(lent);
    let refused = region.close().expect_err("the window may be open");
    assert!(matches!(refused.error, DriverError::InUse { .. }));
    drop(refused);
    assert!(test.allocated().contains(&address));
    connection.close().expect("the device answers again");
    assert!(!test.allocated().contains(&address));
}

/// Each operation of closing a connection hangs in turn.
#[test]
fn memory_that_is_posted_to_a_connection_that_does_not_close_is_kept() {
    let mut failures = 0;
    for after in 0.. {
        let (test, context, domain, queue) = prepare();
        let (bound, posted) = (context.allocate(64), context.allocate(64));
        let (bound, posted) = (bound.expect("memory"), posted.expect("memory"));
        let addresses = [bound.place().address, posted.place().address];
        let connection = connection(&domain, &queue, 1);
        let bound = connection.register(bound, &options(STAG)).expect("new");
        connection.post_receive(0, posted).expect("there is room");
        test.hang(after);
        let closed = connection.close();
        let Err(refused) = closed else {
            assert!(!test.allocated().contains(&addresses[1]));
            break;
        };
        failures += 1;
        assert!(is_timeout(&refused.error), "{refused}");
        // Once more, and the device hangs again: then it is given up.
        test.hang(0);
        drop(refused.object);
        assert!(test.allocated().contains(&addresses[1]), "{after}");
        let domain = { domain };
        let other = super::connection(&domain, &queue, 2);
        assert_ne!(other.number().0, 0, "its number is not used again");
        // What is bound to it is fenced, or its memory is kept.
        drop(bound);
        drop((other, domain, queue));
        assert!(test.allocated().contains(&addresses[1]), "{after}");
        assert_freed_by_close(&test, context);
    }
    assert!(failures > 6, "{failures}");
}

#[test]
fn a_device_that_is_gone_keeps_all_memory_and_no_drop_panics() {
    let (test, context, domain, queue) = prepare();
    let (region, _) = region(&context, &domain, STAG);
    let (other, _) = super::region(&context, &domain, 0x0033_3300);
    let connection = connection(&domain, &queue, 1);
    let lent = connection
        .bind(&region, &window(OTHER_STAG))
        .expect("binds");
    let memory = context.allocate(64).expect("memory");
    connection.post_receive(0, memory).expect("there is room");
    test.inside().bar.tables.gone_after = Some(0);
    let before = test.allocated();
    let refused = other.close().expect_err("nobody answers");
    assert_eq!(refused.error, DriverError::Gone);
    drop((refused, lent, connection, region, domain));
    assert!(queue.poll().is_none());
    drop(queue);
    assert_eq!(test.allocated(), before);
    let refused = context.close().expect_err("nobody answers");
    assert_eq!(refused.error, DriverError::Gone);
    assert!(refused.object.is_none());
    assert_eq!(test.allocated(), before);
    assert!(!test.steps().contains(&Step::Unmapped));
}

#[test]
fn a_reset_that_does_not_end_keeps_all_memory() {
    let (test, context, domain, queue) = prepare();
    let (region, _) = region(&context, &domain, STAG);
    test.inside().bar.tables.reset_reads = u32::MAX;
    let before = test.allocated();
    std::mem::forget(region);
    drop((domain, queue));
    let refused = context.close().expect_err("a region was leaked");
    assert!(matches!(refused.error, DriverError::InUse { .. }));
    drop(refused);
    assert_eq!(
        test.allocated(),
        before,
        "the leaked region keeps the device"
    );
    let (test, context) = TestDevice::open();
    let memory = context.allocate(64).expect("memory");
    test.inside().bar.tables.reset_reads = u32::MAX;
    let before = test.allocated();
    drop(context);
    assert_eq!(test.allocated(), before);
    drop(memory);
    assert_eq!(
        test.allocated().len(),
        before.len() - 1,
        "the device never had it"
    );
    assert!(!test.steps().contains(&Step::Unmapped));
}

/// A post and a registration write and do not read, so they do not hang. A device that was found to
/// be gone may still have what they gave it: it is kept.
#[test]
fn memory_that_is_given_to_a_device_that_is_gone_is_kept() {
    let (test, context, domain, queue) = prepare();
    let connection = connection(&domain, &queue, 1);
    let (posted, other) = (context.allocate(64), context.allocate(64));
    let (posted, other) = (posted.expect("memory"), other.expect("memory"));
    let addresses = [posted.place().address, other.place().address];
    test.inside().bar.tables.gone_after = Some(0);
    let refused = connection.tcp_state().expect_err("nobody answers");
    assert_eq!(refused, DriverError::Gone);
    let refused = connection.post_receive(0, posted).expect_err("it is gone");
    assert_eq!(refused.error, DriverError::Gone);
    assert!(refused.object.is_none());
    let refused = domain.register(other, &options(STAG)).map(drop);
    let refused = refused.expect_err("it is gone");
    assert_eq!(refused.error, DriverError::Gone);
    assert!(refused.object.is_none());
    drop((connection, domain, queue, context));
    for address in addresses {
        assert!(test.allocated().contains(&address));
    }
}
