//! A client that sends halves, vanishes, does not read, or sends what no client should.

use std::os::fd::{AsFd, BorrowedFd};

use rnic_vfio_user::protocol::{
    self, header_flags, Command, DeviceInfo, Header, RegionAccess, SetIrqs, Version,
    DROPPED_OCTETS_MAX, IRQ_MSIX, MESSAGE_OCTETS_MAX, TRANSFER_OCTETS_MAX,
};
use rnic_vfio_user::{DmaFault, Errno, Served, SessionEnd};

use crate::common::*;

fn errno(errno: Errno) -> u32 {
    errno.raw_os_error().unsigned_abs()
}

fn device_info(id: u16) -> Vec<u8> {
    let request = DeviceInfo {
        argsz: 16,
        ..DeviceInfo::default()
    };
    message(id, Command::DeviceGetInfo, &request.encode())
}

fn read(id: u16, region: u32, offset: u64, count: u32) -> Vec<u8> {
    let access = RegionAccess {
        offset,
        region,
        count,
    };
    message(id, Command::RegionRead, &access.encode())
}

fn map(iova: u64) -> Vec<u8> {
    let map = protocol::DmaMap {
        argsz: 32,
        flags: 3,
        offset: 0,
        address: iova,
        size: PAGE,
    };
    message(3, Command::DmaMap, &map.encode())
}

fn unmap(flags: u32, iova: u64) -> Vec<u8> {
    let unmap = protocol::DmaUnmap {
        argsz: 24,
        flags,
        address: iova,
        size: PAGE,
    };
    message(1, Command::DmaUnmap, &unmap.encode())
}

fn assign(start: u32, count: u32) -> Vec<u8> {
    let irqs = SetIrqs {
        argsz: 20,
        flags: 0x24,
        index: IRQ_MSIX,
        start,
        count,
    };
    message(4, Command::DeviceSetIrqs, &irqs.encode())
}

#[test]
fn a_message_may_come_octet_by_octet() {
    let mut raw = Raw::new();
    let file = memory(PAGE);
    let two = [map(0x1000), device_info(9)].concat();
    for (at, octet) in two.iter().enumerate() {
        assert_eq!(raw.session.serve_one(&mut raw.toy), Ok(Served::Idle));
        // The descriptor comes with an octet in the middle of its message.
        let fds = if at == 20 { &[file.as_fd()][..] } else { &[] };
        assert_eq!(send(&raw.socket, &[*octet], fds), 1);
        let done = [map(0).len() - 1, two.len() - 1].contains(&at);
        let served = if done { Served::Message } else { Served::Idle };
        assert_eq!(
            raw.session.serve_one(&mut raw.toy),
            Ok(served),
            "octet {at}"
        );
    }
    let replies = messages(&receive(&raw.socket));
    let ids: Vec<u16> = replies
        .iter()
        .map(|(header, _)| header.message_id)
        .collect();
    assert_eq!(ids, [3, 9]);
    assert_eq!(raw.session.dma().write(0x1ffc, &[1; 4]), Ok(()));
}

#[test]
fn a_client_that_vanishes_takes_everything_along() {
    for sent in [0, 5, 16, 20] {
        let mut raw = Raw::new();
        let (file, event) = (memory(PAGE), event());
        assert_eq!(raw.errno(&map(0x1000), &[file.as_fd()]), 0);
        assert_eq!(raw.errno(&assign(0, 1), &[event.as_fd()]), 0);
        let (dma, irqs) = (raw.session.dma(), raw.session.irqs());
        assert!(dma.may_write(0x1000, PAGE).is_ok() && irqs.trigger(IRQ_MSIX, 0));
        // Killed within a message, a descriptor on its way.
        send(
            &raw.socket,
            &map(0x2000)[..sent],
            &[file.as_fd()][..sent.min(1)],
        );
        assert_eq!(raw.session.serve_one(&mut raw.toy), Ok(Served::Idle));
        drop(raw.socket);
        let end = match sent {
            0 => SessionEnd::Closed,
            _ => SessionEnd::ClosedWithinMessage,
        };
        assert_eq!(raw.session.serve_one(&mut raw.toy), Err(end));
        assert_eq!(raw.session.serve_one(&mut raw.toy), Err(end));
        // The toy was asked to quiesce while the map was still there, once.
        assert_eq!(
            (raw.toy.maps_at_quiesce, raw.toy.bar[QUIESCED as usize]),
            (1, 1)
        );
        assert_eq!(
            dma.write(0x1000, &[1]),
            Err(DmaFault::Unmapped { iova: 0x1000 })
        );
        assert_eq!((dma.map_count(), dma.file_count()), (0, 0));
        assert!(!irqs.trigger(IRQ_MSIX, 0));
        assert_eq!(signals(&event), 1);
    }
}

/// What the function does when it is told to quiesce still reaches memory, and nothing after it.
#[test]
fn the_function_is_quiesced_before_its_maps_go() {
    let mut raw = Raw::new();
    let file = memory(PAGE);
    for flags in [0, 2] {
        assert_eq!(raw.errno(&map(0x1000), &[file.as_fd()]), 0);
        assert_eq!(raw.errno(&unmap(flags, 0x1000), &[]), 0);
        assert_eq!(std::mem::take(&mut raw.toy.maps_at_quiesce), 1);
        assert_eq!(raw.session.dma().map_count(), 0);
    }
}

#[test]
fn a_dropped_session_takes_everything_along() {
    let mut raw = Raw::new();
    let file = memory(PAGE);
    assert_eq!(raw.errno(&map(0x1000), &[file.as_fd()]), 0);
    let dma = raw.session.dma();
    drop(raw);
    assert_eq!((dma.map_count(), dma.file_count()), (0, 0));
}

#[test]
fn a_client_that_does_not_read_delays_nobody() {
    let mut raw = Raw::new();
    let (count, most) = (200, 1 << 16);
    let requests: Vec<u8> = (0..count).flat_map(|id| read(id, 2, 0, most)).collect();
    let reset = message(count, Command::DeviceReset, &[]);
    assert_eq!(send(&raw.socket, &requests, &[]), requests.len());
    assert_eq!(send(&raw.socket, &reset, &[]), reset.len());
    // Each call returns. In the end a reply waits, and no further message is read.
    raw.settle().expect("a session");
    assert!(raw.session.wants_write());
    assert_eq!(raw.session.serve_one(&mut raw.toy), Ok(Served::Idle));
    assert_eq!(raw.toy.bar[RESETS as usize], 0, "the last message was read");
    let mut octets = Vec::new();
    let whole = usize::from(count) * (Header::OCTETS + RegionAccess::OCTETS + most as usize);
    let whole = whole + Header::OCTETS;
    while octets.len() < whole {
        octets.extend(receive(&raw.socket));
        raw.settle().expect("a session");
    }
    assert!(!raw.session.wants_write());
    let replies = messages(&octets);
    let ids: Vec<u16> = replies
        .iter()
        .map(|(header, _)| header.message_id)
        .collect();
    assert_eq!(ids, (0..=count).collect::<Vec<u16>>());
    let mut reads = replies.iter().take(usize::from(count));
    assert!(reads.all(|(_, payload)| payload[16..].iter().all(|o| *o == 0x77)));
    assert_eq!(raw.toy.bar[RESETS as usize], 1);
}

/// A client that wants no reply does not learn that its command was refused; the server does, once.
#[test]
fn refused_commands_without_a_reply_are_named() {
    let mut raw = Raw::new();
    let write = |region: u32, flags: u32| {
        let access = RegionAccess {
            offset: 0x100,
            region,
            count: 4,
        };
        let payload = [&access.encode()[..], &[7; 4]].concat();
        let mut header = Header::command(1, Command::RegionWrite, payload.len());
        header.flags = flags;
        [&header.encode()[..], &payload].concat()
    };
    for (region, flags, replies) in [
        (0, header_flags::NO_REPLY, 0),
        (1, header_flags::NO_REPLY, 0),
        (1, 0, 1),
        (99, header_flags::NO_REPLY, 0),
    ] {
        let found = raw.exchange(&write(region, flags), &[]).expect("a session");
        assert_eq!(found.len(), replies, "region {region}");
    }
    let refused = [Errno::INVAL; 2].map(|errno| (Command::RegionWrite, errno));
    assert_eq!(raw.session.take_refused(), refused);
    assert!(raw.session.take_refused().is_empty());
    for _ in 0..100 {
        let sent = raw.exchange(&write(1, header_flags::NO_REPLY), &[]);
        sent.expect("a session");
    }
    assert_eq!(raw.session.take_refused().len(), 64);
}

#[test]
fn too_many_descriptors_are_closed_and_refused() {
    let mut raw = Raw::new();
    let event = event();
    let eight = [event.as_fd(); 8];
    assert_eq!(raw.errno(&assign(0, 8), &eight), 0);
    for count in [17, 100, 253] {
        let fds: Vec<BorrowedFd> = vec![event.as_fd(); count];
        assert_eq!(
            raw.errno(&assign(0, 8), &fds),
            errno(Errno::TOOBIG),
            "{count}"
        );
    }
    // Two, eight and one descriptors in three pieces of one message.
    let file = memory(PAGE);
    let pieces = map(0x1000);
    for piece in pieces.chunks(16) {
        send(&raw.socket, piece, &[file.as_fd(); 8]);
    }
    raw.settle().expect("a session");
    let replies = messages(&receive(&raw.socket));
    assert_eq!(replies[0].0.error, errno(Errno::TOOBIG));
    // Descriptors with what takes none, or fewer.
    let invalid = errno(Errno::INVAL);
    assert_eq!(
        raw.errno(&map(0x1000), &[file.as_fd(), file.as_fd()]),
        invalid
    );
    assert_eq!(raw.errno(&device_info(1), &[file.as_fd()]), invalid);
    assert_eq!(raw.errno(&device_info(1), &[]), 0);
    assert_eq!(raw.session.irqs().assigned_count(IRQ_MSIX), 8);
    assert_eq!(raw.session.dma().map_count(), 0);
}

#[test]
fn a_message_too_large_is_dropped_and_the_next_one_answered() {
    let mut raw = Raw::new();
    for size in [MESSAGE_OCTETS_MAX, MESSAGE_OCTETS_MAX + 1, 3 << 20] {
        let header = Header {
            size,
            ..Header::command(1, Command::RegionWrite, 0)
        };
        let mut large = header.encode().to_vec();
        large.resize(size as usize, 0);
        large.extend(device_info(2));
        let replies = raw.exchange(&large, &[]).expect("a session");
        let wanted = match size {
            MESSAGE_OCTETS_MAX => Errno::INVAL,
            _ => Errno::MSGSIZE,
        };
        assert_eq!(replies[0].0.error, errno(wanted), "{size}");
        assert_eq!((replies[1].0.message_id, replies[1].0.error), (2, 0));
        assert_eq!(replies.len(), 2);
    }
}

#[test]
fn an_access_is_not_longer_than_announced() {
    let mut raw = Raw::new();
    let most = TRANSFER_OCTETS_MAX;
    assert_eq!(raw.errno(&read(1, 2, 0, most), &[]), 0);
    for count in [most + 1, 4 << 20, u32::MAX] {
        let refused = raw.errno(&read(1, 2, 0, count), &[]);
        assert_eq!(refused, errno(Errno::INVAL), "{count}");
    }
}

#[test]
fn a_size_that_cannot_be_ends_the_session() {
    for size in [0, 15, DROPPED_OCTETS_MAX + 1, u32::MAX] {
        let mut raw = Raw::new();
        let header = Header {
            size,
            ..Header::command(1, Command::DeviceReset, 0)
        };
        let end = raw.exchange(&header.encode(), &[]);
        assert_eq!(end, Err(SessionEnd::BadSize { size }));
        assert_eq!(raw.toy.bar[RESETS as usize], 0);
    }
}

#[test]
fn the_version_comes_first_and_once() {
    let mut raw = Raw::before_version();
    let invalid = errno(Errno::INVAL);
    assert_eq!(raw.errno(&device_info(1), &[]), invalid);
    let other = Version { major: 1, minor: 0 };
    assert_eq!(
        raw.errno(&message(0, Command::Version, &other.encode()), &[]),
        invalid
    );
    let text = [&[0, 0, 1, 0][..], b"{]\0"].concat();
    assert_eq!(
        raw.errno(&message(0, Command::Version, &text), &[]),
        invalid
    );
    assert_eq!(
        raw.errno(&message(0, Command::Version, &[0, 0, 1]), &[]),
        invalid
    );
    assert_eq!(raw.errno(&device_info(1), &[]), invalid);
    // A later minor version is answered with ours.
    let later = Version { major: 0, minor: 9 };
    let later = message(0, Command::Version, &later.encode());
    let replies = raw.exchange(&later, &[]).expect("a session");
    let version = Version::decode(&replies[0].1).expect("a version");
    assert_eq!((version.major, version.minor), (0, 1));
    assert_eq!(raw.errno(&version_message(), &[]), invalid);
    assert_eq!(raw.errno(&device_info(1), &[]), 0);
}

#[test]
fn what_is_not_supported_is_refused() {
    let mut raw = Raw::new();
    let unsupported = errno(Errno::NOTSUP);
    let commands = [
        Command::DeviceGetRegionIoFds,
        Command::DmaRead,
        Command::DmaWrite,
        Command::DirtyPages,
        Command::Other(0),
        Command::Other(15),
        Command::Other(0xffff),
    ];
    for command in commands {
        assert_eq!(
            raw.errno(&message(1, command, &[0; 20]), &[]),
            unsupported,
            "{command:?}"
        );
    }
    assert_eq!(raw.errno(&unmap(1, 0), &[]), unsupported);
    assert_eq!(raw.errno(&unmap(4, 0), &[]), errno(Errno::INVAL));
    assert_eq!(raw.errno(&unmap(2, 0), &[]), 0);
}

/// Each command with an octet more and one less, a small `argsz`, and wrong flags.
#[test]
fn wrong_sizes_and_flags_are_refused() {
    let mut raw = Raw::new();
    let invalid = errno(Errno::INVAL);
    let region = protocol::RegionInfo {
        argsz: 32,
        ..protocol::RegionInfo::default()
    };
    let irq = protocol::IrqInfo {
        argsz: 16,
        ..protocol::IrqInfo::default()
    };
    let write = [read(0, 0, 0x200, 4)[16..].to_vec(), vec![0; 4]].concat();
    let valid = [
        (true, map(0x1000)),
        (true, device_info(1)),
        (
            true,
            message(1, Command::DeviceGetRegionInfo, &region.encode()),
        ),
        (true, message(1, Command::DeviceGetIrqInfo, &irq.encode())),
        (true, assign(0, 1)),
        (false, read(1, 0, 0, 4)),
        (false, message(1, Command::RegionWrite, &write)),
        (false, message(1, Command::DeviceReset, &[])),
    ];
    for (has_argsz, message) in valid {
        let header = Header::decode(&message).expect("a header");
        let name = Command::from_code(header.command);
        let with = |flags: u32, payload: &[u8]| {
            let size = (Header::OCTETS + payload.len()) as u32;
            let header = Header {
                flags,
                size,
                ..header
            };
            [&header.encode()[..], payload].concat()
        };
        let payload = &message[Header::OCTETS..];
        let longer = [payload, &[0]].concat();
        assert_eq!(
            raw.errno(&with(0, &longer), &[]),
            invalid,
            "{name:?} longer"
        );
        if let Some((_, shorter)) = payload.split_last() {
            assert_eq!(
                raw.errno(&with(0, shorter), &[]),
                invalid,
                "{name:?} shorter"
            );
            assert_eq!(raw.errno(&with(0, &[]), &[]), invalid, "{name:?} empty");
        }
        if has_argsz {
            let small = [&15u32.to_ne_bytes()[..], &payload[4..]].concat();
            assert_eq!(raw.errno(&with(0, &small), &[]), invalid, "{name:?} argsz");
        }
        for flags in [2, 0xf, header_flags::ERROR, 1 << 6, 1 << 31] {
            assert_eq!(
                raw.errno(&with(flags, payload), &[]),
                invalid,
                "{name:?} {flags:#x}"
            );
        }
        // A reply to nothing is not answered, nor is what wants no reply, right or wrong.
        for flags in [1, 0x21, header_flags::NO_REPLY, header_flags::NO_REPLY | 2] {
            let quiet = raw.exchange(&with(flags, payload), &[]);
            assert_eq!(quiet, Ok(vec![]), "{name:?} {flags:#x}");
        }
        let quiet = raw.exchange(&with(header_flags::NO_REPLY, &longer), &[]);
        assert_eq!(quiet, Ok(vec![]), "{name:?}");
        let expected = if name == Command::DmaMap {
            errno(Errno::EXIST)
        } else {
            0
        };
        assert_eq!(raw.errno(&message, &[]), expected, "{name:?}");
    }
}
