use super::*;

/// Sizes as the specification gives them.
#[test]
fn structures_have_the_sizes_of_the_specification() {
    let sizes = [
        (Header::OCTETS, 16),
        (Version::OCTETS, 4),
        (DmaMap::OCTETS, 32),
        (DmaUnmap::OCTETS, 24),
        (DeviceInfo::OCTETS, 16),
        (RegionInfo::OCTETS, 32),
        (CapabilityHeader::OCTETS, 8),
        (SparseHeader::OCTETS, 8),
        (SparseArea::OCTETS, 16),
        (IrqInfo::OCTETS, 16),
        (SetIrqs::OCTETS, 20),
        (RegionAccess::OCTETS, 16),
    ];
    for (index, (ours, specified)) in sizes.into_iter().enumerate() {
        assert_eq!(ours, specified, "structure {index}");
    }
}

/// A golden message: encoded, decoded, and refused when one octet is missing.
macro_rules! golden {
    ($value:expr, $kind:ty, $octets:expr) => {{
        let value: $kind = $value;
        let octets: &[u8] = &$octets;
        assert_eq!(value.encode(), octets);
        assert_eq!(<$kind>::decode(octets), Some(value));
        let longer = [octets, &[0xa5]].concat();
        assert_eq!(<$kind>::decode(&longer), Some(value));
        assert_eq!(<$kind>::decode_whole(octets), Some(value));
        assert_eq!(<$kind>::decode_whole(&longer), None);
        assert_eq!(<$kind>::decode(&octets[..octets.len() - 1]), None);
    }};
}

#[cfg(target_endian = "little")]
#[test]
fn headers_and_memory_have_golden_octets() {
    let header = Header {
        message_id: 0x0201,
        command: 0x0403,
        size: 0x0807_0605,
        flags: 0x0c0b_0a09,
        error: 0x100f_0e0d,
    };
    let ascending: Vec<u8> = (1..=16).collect();
    golden!(header, Header, ascending);
    golden!(Version { major: 0, minor: 1 }, Version, [0, 0, 1, 0]);
    let map = DmaMap {
        argsz: 32,
        flags: map_flags::READ | map_flags::WRITE,
        offset: 0x1000,
        address: 0x8877_6655_4433_2211,
        size: 0x2000,
    };
    let octets = [
        [32, 0, 0, 0, 3, 0, 0, 0],
        [0, 0x10, 0, 0, 0, 0, 0, 0],
        [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88],
        [0, 0x20, 0, 0, 0, 0, 0, 0],
    ];
    golden!(map, DmaMap, octets.concat());
    let unmap = DmaUnmap {
        argsz: 24,
        flags: unmap_flags::ALL,
        address: 1,
        size: 2,
    };
    let octets = [
        [24, 0, 0, 0, 2, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0],
        [2, 0, 0, 0, 0, 0, 0, 0],
    ];
    golden!(unmap, DmaUnmap, octets.concat());
}

#[cfg(target_endian = "little")]
#[test]
fn device_structures_have_golden_octets() {
    let device = DeviceInfo {
        argsz: 16,
        flags: device_flags::PCI | device_flags::RESET,
        num_regions: 9,
        num_irqs: 5,
    };
    let octets = [16, 0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0, 5, 0, 0, 0];
    golden!(device, DeviceInfo, octets);
    let region = RegionInfo {
        argsz: 64,
        flags: region_flags::READ | region_flags::MMAP | region_flags::CAPABILITIES,
        index: 7,
        cap_offset: 32,
        size: 0x100,
        offset: 0x7000,
    };
    let octets = [
        [64, 0, 0, 0, 0xd, 0, 0, 0],
        [7, 0, 0, 0, 32, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 0, 0],
        [0, 0x70, 0, 0, 0, 0, 0, 0],
    ];
    golden!(region, RegionInfo, octets.concat());
    let irqs = SetIrqs {
        argsz: 20,
        flags: set_irqs_flags::DATA_EVENTFD | set_irqs_flags::ACTION_TRIGGER,
        index: IRQ_MSIX,
        start: 3,
        count: 1,
    };
    let octets = [
        20, 0, 0, 0, 0x24, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0,
    ];
    golden!(irqs, SetIrqs, octets);
    let info = IrqInfo {
        argsz: 16,
        flags: irq_flags::EVENTFD,
        index: 2,
        count: 8,
    };
    let octets = [16, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0];
    golden!(info, IrqInfo, octets);
    let access = RegionAccess {
        offset: 0x0102_0304_0506_0708,
        region: 1,
        count: 4,
    };
    let octets = [8, 7, 6, 5, 4, 3, 2, 1, 1, 0, 0, 0, 4, 0, 0, 0];
    golden!(access, RegionAccess, octets);
}

#[test]
fn a_reply_repeats_id_and_command() {
    let command = Header::command(0xbeef, Command::RegionRead, RegionAccess::OCTETS);
    assert_eq!((command.size, command.flags), (32, 0));
    let reply = command.reply(20);
    assert_eq!((reply.message_id, reply.command), (0xbeef, 9));
    assert_eq!((reply.size, reply.flags, reply.error), (36, 1, 0));
    let error = command.error_reply(22);
    assert_eq!((error.size, error.flags, error.error), (16, 0x21, 22));
    assert!(!command.is_final() && reply.is_final());
}

#[test]
fn commands_have_the_numbers_of_the_specification() {
    assert_eq!(Command::Version.code(), 1);
    assert_eq!(Command::DeviceSetIrqs.code(), 8);
    assert_eq!(Command::DeviceReset.code(), 13);
    for code in 0..=20 {
        assert_eq!(Command::from_code(code).code(), code);
    }
    assert_eq!(Command::from_code(15), Command::Other(15));
}

#[test]
fn capabilities_are_read_as_written() {
    let octets = Capabilities::OURS.encode();
    let text = br#"{"capabilities":{"max_data_xfer_size":1048576,"max_msg_fds":16}}"#;
    assert_eq!(octets, [&text[..], &[0]].concat());
    assert_eq!(Capabilities::decode(&octets), Ok(Capabilities::OURS));
    for nothing in ["", "\0", "{}", "{\"capabilities\":{}}\0"] {
        let read = Capabilities::decode(nothing.as_bytes());
        assert_eq!(read, Ok(Capabilities::DEFAULT), "{nothing:?}");
    }
}

#[test]
fn malformed_capabilities_are_refused() {
    let deep = "[".repeat(100_000);
    let bad = [
        "{",
        "[]",
        "7",
        "\0\0",
        "{\"capabilities\":[]}",
        "{\"capabilities\":{\"max_msg_fds\":-1}}",
        "{\"capabilities\":{\"max_msg_fds\":\"8\"}}",
        "{\"capabilities\":{\"max_data_xfer_size\":4294967296}}",
        &deep,
    ];
    for text in bad {
        let read = Capabilities::decode(text.as_bytes());
        assert_eq!(read, Err(BadCapabilities), "{text:.40}");
    }
}
