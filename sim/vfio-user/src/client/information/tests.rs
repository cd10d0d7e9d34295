use super::*;
use crate::protocol::{Command, Header};

/// A region of 64 KiB whose capabilities follow.
fn reply(capabilities: &[u8], flags: u32, with_file: bool) -> Message {
    let info = protocol::RegionInfo {
        argsz: (protocol::RegionInfo::OCTETS + capabilities.len()) as u32,
        flags,
        index: 2,
        cap_offset: protocol::RegionInfo::OCTETS as u32,
        size: 1 << 16,
        offset: 1 << 20,
    };
    let payload = [&info.encode()[..], capabilities].concat();
    let file = || rustix::fs::memfd_create("bar", rustix::fs::MemfdFlags::CLOEXEC);
    Message {
        header: Header::command(0, Command::DeviceGetRegionInfo, 0).reply(payload.len()),
        payload,
        fds: with_file
            .then(|| file().expect("a file"))
            .into_iter()
            .collect(),
        damage: None,
    }
}

fn parse(message: Message) -> Result<Option<RegionInfo>, &'static str> {
    let request = protocol::RegionInfo {
        argsz: REGION_INFO_OCTETS,
        ..protocol::RegionInfo::default()
    };
    region(2, &request, message)
}

fn capability(id: u16, next: u32, areas: &[(u64, u64)], count: u32) -> Vec<u8> {
    let header = CapabilityHeader {
        id,
        version: 1,
        next,
    };
    let sparse = SparseHeader {
        nr_areas: count,
        reserved: 0,
    };
    let mut octets = [&header.encode()[..], &sparse.encode()].concat();
    for (offset, size) in areas {
        let area = SparseArea {
            offset: *offset,
            size: *size,
        };
        octets.extend_from_slice(&area.encode());
    }
    octets
}

const ALL: u32 = region_flags::READ | region_flags::MMAP | region_flags::CAPABILITIES;

#[test]
fn areas_are_listed_in_order() {
    // A capability of another kind before the one that matters.
    let first = capability(7, 48, &[], 0);
    let second = capability(1, 0, &[(0, 4096), (8192, 4096)], 2);
    let info = parse(reply(&[first, second].concat(), ALL, true));
    let info = info.expect("well formed").expect("it fits");
    assert!(info.readable && !info.writable && info.file.is_some());
    assert_eq!((info.octets, info.file_offset), (1 << 16, 1 << 20));
    let areas: Vec<(u64, u64)> = info.areas.iter().map(|a| (a.offset, a.octets)).collect();
    assert_eq!(areas, [(0, 4096), (8192, 4096)]);
}

#[test]
fn without_a_list_all_of_it_or_nothing_can_be_mapped() {
    let whole = parse(reply(&[], region_flags::MMAP, true)).expect("well formed");
    let areas = whole.expect("it fits").areas;
    assert_eq!((areas[0].offset, areas[0].octets), (0, 1 << 16));
    for (flags, file) in [(region_flags::MMAP, false), (region_flags::READ, true)] {
        let none = parse(reply(&[], flags, file)).expect("well formed");
        let none = none.expect("it fits");
        assert!(none.areas.is_empty() && none.file.is_none());
    }
}

#[test]
fn malformed_lists_are_refused() {
    let cases = [
        capability(1, 32, &[], 0),
        capability(1, 39, &[], 0),
        capability(1, 4000, &[], 0),
        capability(1, 0, &[(0, 4096)], 2),
        capability(1, 0, &[(0, 4096)], u32::MAX),
        capability(1, 0, &[(4096, 1 << 16)], 1),
        capability(1, 0, &[(u64::MAX, 2)], 1),
        capability(1, 0, &[], 0)[..12].to_vec(),
        vec![],
    ];
    for (index, case) in cases.into_iter().enumerate() {
        assert!(parse(reply(&case, ALL, true)).is_err(), "case {index}");
    }
    let mut short = reply(&[], 0, false);
    short.payload.truncate(31);
    assert!(parse(short).is_err());
    let other = protocol::RegionInfo::default();
    assert!(region(3, &other, reply(&[], 0, false)).is_err());
}

#[test]
fn what_does_not_fit_is_asked_for_again() {
    let long = capability(7, 0, &[(0, 0); 100], 0);
    assert!(parse(reply(&long, ALL, true))
        .expect("well formed")
        .is_none());
}
