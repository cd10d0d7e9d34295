//! Our client and our server, operation by operation, with what each refuses.

use std::os::fd::AsFd;

use rnic_vfio_user::protocol::{set_irqs_flags, IRQ_INTX, IRQ_MSI, IRQ_MSIX, IRQ_REQ};
use rnic_vfio_user::{Access, Client, ClientError, Errno, SessionEnd};

use crate::common::*;

/// What the server refused with.
fn refused<T: std::fmt::Debug>(result: Result<T, ClientError>) -> Errno {
    match result {
        Err(ClientError::Refused { errno, .. }) => errno,
        result => panic!("not refused: {result:?}"),
    }
}

fn finish(client: Client, server: std::thread::JoinHandle<SessionEnd>) {
    drop(client);
    assert_eq!(server.join().expect("no panic"), SessionEnd::Closed);
}

#[test]
fn the_device_is_described() {
    let (mut client, server) = start();
    let info = client.device_info().expect("information");
    assert!(info.pci && info.resettable);
    assert_eq!((info.regions, info.irqs), (9, 5));
    let sizes = [4096, 0, 4 << 20, 0, 0, 0, 64, 256, 0];
    for (index, size) in sizes.into_iter().enumerate() {
        let region = client.region_info(index as u32).expect("information");
        assert_eq!(region.octets, size, "region {index}");
        assert_eq!(region.readable, size > 0, "region {index}");
        assert_eq!(region.writable, size > 0 && index != 6, "region {index}");
        assert!(region.areas.is_empty() && region.file.is_none());
    }
    assert_eq!(refused(client.region_info(9)), Errno::INVAL);
    for (index, count) in [1, 0, VECTORS, 0, 1].into_iter().enumerate() {
        let irqs = client.irq_info(index as u32).expect("information");
        assert_eq!((irqs.count, irqs.eventfd), (count, true), "kind {index}");
        assert_eq!(irqs.maskable, index == 0, "kind {index}");
        assert_eq!(irqs.automasked, index == 0, "kind {index}");
        assert!(!irqs.noresize);
    }
    assert_eq!(refused(client.irq_info(5)), Errno::INVAL);
    assert_eq!(client.server_capabilities().max_msg_fds, 16);
    finish(client, server);
}

#[test]
fn regions_are_read_and_written_within_their_bounds() {
    let (mut client, server) = start();
    let mut identity = [0; 4];
    client.read(CONFIGURATION, 0, &mut identity).expect("read");
    assert_eq!(identity, [0xf4, 0x1a, 0x0d, 0xf0]);
    client.write(0, 0x123, b"odd octets").expect("written");
    let mut octets = [0; 12];
    client.read(0, 0x122, &mut octets).expect("read");
    assert_eq!(&octets, b"\0odd octets\0");
    client
        .read(0, PAGE, &mut [])
        .expect("nothing is always there");
    let mut most = vec![0; 1 << 20];
    client
        .read(2, 3 << 20, &mut most)
        .expect("the most at once");
    assert!(most.iter().all(|octet| *octet == 0x77));
    client.write(2, 0, &most).expect("the most at once");
    let too_long = client.read(2, 0, &mut vec![0; (1 << 20) + 1]);
    assert!(matches!(too_long, Err(ClientError::TooLong { .. })));

    let mut eight = [0; 8];
    for (region, offset) in [
        (0, PAGE - 7),
        (0, PAGE),
        (0, u64::MAX),
        (0, u64::MAX - 7),
        (1, 0),
        (8, 0),
        (9, 0),
        (u32::MAX, 0),
    ] {
        let place = format!("region {region}, offset {offset:#x}");
        let read = client.read(region, offset, &mut eight);
        assert_eq!(refused(read), Errno::INVAL, "{place}");
        let written = client.write(region, offset, &eight);
        assert_eq!(refused(written), Errno::INVAL, "{place}");
    }
    client.read(6, 0, &mut eight).expect("the ROM can be read");
    assert_eq!(refused(client.write(6, 0, &eight)), Errno::ACCESS);
    // An error of the function itself.
    assert_eq!(refused(client.read(0, BROKEN, &mut eight)), Errno::IO);
    assert_eq!(refused(client.write(0, BROKEN, &eight)), Errno::IO);
    client
        .read(0, 0x122, &mut octets)
        .expect("the session goes on");
    finish(client, server);
}

#[test]
fn posted_writes_come_in_order_and_without_replies() {
    let (mut client, server) = start();
    for value in 0..1000u32 {
        client
            .write_posted(0, 0x100, &value.to_ne_bytes())
            .expect("sent");
        // What is refused is not reported either.
        client.write_posted(1, 0, &[0; 4]).expect("sent");
    }
    assert_eq!(number(&mut client, 0x100), 999);
    finish(client, server);
}

#[test]
fn the_device_uses_mapped_memory_and_no_other() {
    let (mut client, server) = start();
    let (low, high) = (memory(4 * PAGE), memory(PAGE));
    assert!(!run(&mut client, 1, 0x1_0000, 1));
    // Two files next to each other.
    let all = Access::READ_WRITE;
    client
        .map(0x1_0000, 2 * PAGE, low.as_fd(), PAGE, all)
        .expect("mapped");
    client
        .map(0x1_2000, PAGE, high.as_fd(), 0, all)
        .expect("mapped");
    assert!(run(&mut client, 1, 0x1_1ff0, 0x20));
    let (in_low, in_high) = (contents(&low, 4 * PAGE), contents(&high, PAGE));
    let filled = |octets: &[u8]| octets.iter().filter(|octet| **octet == FILL).count();
    assert_eq!((filled(&in_low), filled(&in_high)), (0x10, 0x10));
    assert!(in_low[0x2ff0..0x3000].iter().all(|octet| *octet == FILL));
    assert!(in_high[..0x10].iter().all(|octet| *octet == FILL));
    assert!(run(&mut client, 2, 0x1_1ff0, 0x20));
    assert_eq!(number(&mut client, SUM), 0x20 * u32::from(FILL));
    // One octet past the end, or before the start: not one is written.
    assert!(!run(&mut client, 1, 0x1_2800, 0x801));
    assert!(!run(&mut client, 1, 0xffff, 2));
    assert!(!run(&mut client, 1, u64::MAX, 2));
    assert_eq!(contents(&low, 4 * PAGE), in_low);
    assert_eq!(contents(&high, PAGE), in_high);

    client
        .map(0x2_0000, PAGE, low.as_fd(), 0, Access::READ)
        .expect("mapped");
    client
        .map(0x2_1000, PAGE, low.as_fd(), 0, Access::WRITE)
        .expect("mapped");
    client
        .map_unreachable(0x2_2000, PAGE, all)
        .expect("accepted");
    assert!(run(&mut client, 2, 0x2_0000, 16) && !run(&mut client, 1, 0x2_0000, 16));
    assert!(!run(&mut client, 2, 0x2_1000, 16) && run(&mut client, 1, 0x2_1000, 16));
    assert!(!run(&mut client, 2, 0x2_2000, 16) && !run(&mut client, 1, 0x2_2000, 16));
    assert!(!run(&mut client, 1, 0x2_1ff8, 16));
    finish(client, server);
}

#[test]
fn maps_are_refused_with_the_right_errno() {
    let (mut client, server) = start();
    let file = memory(2 * PAGE);
    let mut map = |iova, octets, offset, access| {
        let result = client.map(iova, octets, file.as_fd(), offset, access);
        result.map_err(|error| refused::<()>(Err(error)))
    };
    let all = Access::READ_WRITE;
    assert_eq!(map(0x1000, PAGE, 0, all), Ok(()));
    assert_eq!(map(0x1000, PAGE, 0, all), Err(Errno::EXIST));
    assert_eq!(map(0x1fff, 1, 0, all), Err(Errno::EXIST));
    assert_eq!(map(0, 0x1001, 0, all), Err(Errno::EXIST));
    assert_eq!(map(0x2000, 0, 0, all), Err(Errno::INVAL));
    assert_eq!(map(0x2000, 2 * PAGE, 1, all), Err(Errno::INVAL));
    assert_eq!(map(u64::MAX, 2, 0, all), Err(Errno::INVAL));
    assert_eq!(map(0x2000, PAGE, 0, Access::default()), Err(Errno::INVAL));
    assert_eq!(map(0x2000, PAGE, PAGE, all), Ok(()));
    let event = event();
    let odd = client.map(0x8000, 1, event.as_fd(), 0, all);
    assert_eq!(refused(odd), Errno::INVAL);
    finish(client, server);
}

#[test]
fn what_is_unmapped_is_quiesced_first() {
    let (mut client, server) = start();
    let file = memory(4 * PAGE);
    let all = Access::READ_WRITE;
    let map = |client: &mut Client, iova| {
        client
            .map(iova, PAGE, file.as_fd(), 0, all)
            .expect("mapped");
    };
    let quiesced = |client: &mut Client| {
        let mut range = [0; 16];
        client.read(0, QUIESCED + 8, &mut range).expect("read");
        let (first, last) = range.split_at(8);
        let address = |octets: &[u8]| u64::from_ne_bytes(octets.try_into().expect("eight"));
        (number(client, QUIESCED), address(first), address(last))
    };
    for iova in [0x1000, 0x2000, 0x5000] {
        map(&mut client, iova);
    }
    // No map at all: no error, and nothing to quiesce.
    assert_eq!(client.unmap(0x8000, PAGE).expect("none"), 0);
    assert_eq!(quiesced(&mut client), (0, 0, 0));
    // A part of a map.
    assert_eq!(refused(client.unmap(0x1000, 0x1800)), Errno::INVAL);
    assert_eq!(refused(client.unmap(0x1000, 0)), Errno::INVAL);
    assert!(run(&mut client, 1, 0x1000, 0x2000));
    // Two at once.
    assert_eq!(client.unmap(0, 0x4000).expect("unmapped"), 2 * PAGE);
    assert_eq!(quiesced(&mut client), (1, 0, 0x3fff));
    assert!(!run(&mut client, 1, 0x1000, 1) && run(&mut client, 1, 0x5000, 1));
    // Up to the last address, and one octet past it, which is refused and takes nothing.
    let rest = u64::MAX - 0x5000 + 1;
    for beyond in [rest + 1, u64::MAX] {
        assert_eq!(refused(client.unmap(0x5000, beyond)), Errno::INVAL);
        assert!(run(&mut client, 1, 0x5000, 1));
    }
    assert_eq!(client.unmap(0x5000, rest).expect("unmapped"), PAGE);
    assert_eq!(quiesced(&mut client), (2, 0x5000, u64::MAX));
    assert!(!run(&mut client, 1, 0x5000, 1));
    map(&mut client, 0x1000);
    map(&mut client, u64::MAX - 0xfff);
    assert!(run(&mut client, 1, u64::MAX, 1));
    assert_eq!(client.unmap_all().expect("unmapped"), 2 * PAGE);
    assert_eq!(quiesced(&mut client), (3, 0, u64::MAX));
    assert!(!run(&mut client, 1, 0x1000, 1) && !run(&mut client, 1, u64::MAX, 1));
    finish(client, server);
}

#[test]
fn interrupts_signal_their_eventfds() {
    let (mut client, server) = start();
    let events: Vec<_> = (0..VECTORS).map(|_| event()).collect();
    let all: Vec<_> = events.iter().map(|event| Some(event.as_fd())).collect();
    client.set_irqs(IRQ_MSIX, 0, &all).expect("set");
    assert_eq!(number(&mut client, CHANGES), 1);
    let trigger = |client: &mut Client| {
        for vector in 0..VECTORS + 1 {
            client
                .write(0, TRIGGER, &vector.to_ne_bytes())
                .expect("written");
        }
        events.iter().map(signals).collect::<Vec<_>>()
    };
    assert_eq!(trigger(&mut client), [1; 8]);
    // Some taken away, some kept: messages of one kind each.
    let some = [None, None, all[1], None];
    client.set_irqs(IRQ_MSIX, 2, &some).expect("set");
    assert_eq!(number(&mut client, CHANGES), 4);
    assert_eq!(trigger(&mut client), [1, 2, 0, 0, 0, 0, 1, 1]);
    let action = set_irqs_flags::ACTION_TRIGGER;
    client
        .act_on_irqs(IRQ_MSIX, action, 0, 8)
        .expect("triggered");
    let counts: Vec<u64> = events.iter().map(signals).collect();
    assert_eq!(counts, [1, 2, 0, 0, 0, 0, 1, 1]);
    client.disable_irqs(IRQ_MSIX).expect("disabled");
    assert_eq!(trigger(&mut client), [0; 8]);

    client.set_irqs(IRQ_REQ, 0, &all[..1]).expect("set");
    assert_eq!(
        refused(client.set_irqs(IRQ_MSI, 0, &all[..1])),
        Errno::INVAL
    );
    assert_eq!(refused(client.set_irqs(IRQ_MSIX, 1, &all)), Errno::INVAL);
    assert_eq!(refused(client.set_irqs(5, 0, &all)), Errno::INVAL);
    let mask = client.act_on_irqs(IRQ_MSIX, set_irqs_flags::ACTION_MASK, 0, 1);
    assert_eq!(refused(mask), Errno::NOTSUP);
    let masked = client.act_on_irqs(IRQ_INTX, set_irqs_flags::ACTION_MASK, 0, 1);
    masked.expect("the pin can be masked");
    finish(client, server);
}

#[test]
fn reset_reaches_the_function() {
    let (mut client, server) = start();
    client.reset().expect("reset");
    client.reset().expect("reset");
    assert_eq!(number(&mut client, RESETS), 2);
    finish(client, server);
}
