//! Headers as dwords: golden headers, and the two round trips over every field.

use pcie_sim::tlp::{
    AddressFormat, Completion, CompletionStatus, ConfigurationRequest, Fmt, MemoryRequest, Message,
    PackError, Traffic, Type,
};
use pcie_sim::{octets_from_dwords, Bdf, ByteEnables, Header, Kind, Length, Tlp};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

const DEVICE: Bdf = Bdf::new(0x12, 0x03, 0x4);
const HOST: Bdf = Bdf::new(0, 0, 0);

/// Each header as the tables of section 2.2 lay it out, worked out by hand.
#[test]
fn golden_headers_pack_and_parse() {
    let read = Tlp::memory_read(DEVICE, 0xa5, 0x0012_3457, 7)
        .expect("short")
        .header;
    let write = Tlp::memory_write(DEVICE, 0x12_3456_7ffc, &[1, 2, 3, 4])
        .expect("short")
        .header;
    let whole = Tlp::memory_read(HOST, 0xff, 0xffff_f000, 4096)
        .expect("1024 dwords")
        .header;
    let configuration_read = Tlp::configuration_read(HOST, 2, DEVICE, 0x10c).header;
    let configuration_write = Tlp::configuration_write(HOST, 1, DEVICE, 0x06, &[0, 0])
        .expect("one dword")
        .header;
    let refusal = CompletionStatus::UnsupportedRequest;
    let completion = Tlp::completion_without_data(&read, HOST, refusal)
        .expect("a read is answered")
        .header;
    let with_data = Header {
        traffic: Traffic {
            class: 5,
            no_snoop: true,
            ..Traffic::default()
        },
        length: Length::from_field(2),
        kind: Kind::CplD(Completion {
            completer: HOST,
            status: CompletionStatus::Successful,
            byte_count_modified: false,
            byte_count: 4096,
            requester: DEVICE,
            tag: 0xa5,
            lower_address: 0x7c,
        }),
    };
    let golden: [(Header, &[u32]); 7] = [
        (read, &[0x0000_0003, 0x121c_a538, 0x0012_3454]),
        (write, &[0x6000_0001, 0x121c_000f, 0x0000_0012, 0x3456_7ffc]),
        (whole, &[0x0000_0000, 0x0000_ffff, 0xffff_f000]),
        (configuration_read, &[0x0400_0001, 0x0000_020f, 0x121c_010c]),
        (
            configuration_write,
            &[0x4400_0001, 0x0000_010c, 0x121c_0004],
        ),
        (completion, &[0x0a00_0000, 0x0000_2007, 0x121c_a557]),
        (with_data, &[0x4a50_1002, 0x0000_0000, 0x121c_a57c]),
    ];
    for (header, dwords) in golden {
        assert_eq!(header.pack().as_deref(), Ok(dwords), "{header:?}");
        assert_eq!(Header::parse(dwords), Ok(header), "{dwords:08x?}");
    }
}

#[test]
fn header_octets_cross_the_link_most_significant_first() {
    let packed = Tlp::memory_read(DEVICE, 0xa5, 0x0012_3454, 4)
        .expect("short")
        .header
        .pack();
    let octets = octets_from_dwords(&packed.expect("packs"));
    assert_eq!(
        octets,
        [0, 0, 0, 1, 0x12, 0x1c, 0xa5, 0x0f, 0x00, 0x12, 0x34, 0x54]
    );
}

#[test]
fn values_that_fit_no_field_are_refused_by_name() {
    let mut header = Tlp::memory_write(DEVICE, 0x1000, &[0; 4])
        .expect("short")
        .header;
    let Kind::MWr(request) = &mut header.kind else {
        unreachable!("built as a write")
    };
    request.address = 0x1001;
    assert_eq!(
        header.pack(),
        Err(PackError::AddressUnaligned { address: 0x1001 })
    );
    let Kind::MWr(request) = &mut header.kind else {
        unreachable!("built as a write")
    };
    request.address = 1 << 32;
    assert_eq!(
        header.pack(),
        Err(PackError::AddressBeyondFormat { address: 1 << 32 })
    );
}

fn bdf() -> impl Strategy<Value = Bdf> {
    any::<u16>().prop_map(Bdf::from_bits)
}

fn traffic() -> impl Strategy<Value = Traffic> {
    (0u8..8, any::<[bool; 5]>()).prop_map(|(class, flags)| {
        let [id_ordering, relaxed_ordering, no_snoop, digest, poisoned] = flags;
        Traffic {
            class,
            id_ordering,
            relaxed_ordering,
            no_snoop,
            digest,
            poisoned,
        }
    })
}

fn memory_request() -> impl Strategy<Value = MemoryRequest> {
    (bdf(), any::<u8>(), any::<u8>(), any::<u64>(), any::<bool>()).prop_map(
        |(requester, tag, enables, address, wide)| {
            let enables = ByteEnables::from_bits(enables);
            let (format, mask) = match wide {
                true => (AddressFormat::Bits64, !0x3),
                false => (AddressFormat::Bits32, 0xffff_fffc),
            };
            MemoryRequest {
                requester,
                tag,
                enables,
                format,
                address: address & mask,
            }
        },
    )
}

fn configuration_request() -> impl Strategy<Value = ConfigurationRequest> {
    (bdf(), any::<u8>(), any::<u8>(), bdf(), 0u16..1024).prop_map(
        |(requester, tag, enables, target, dword)| {
            let enables = ByteEnables::from_bits(enables);
            ConfigurationRequest {
                requester,
                tag,
                enables,
                target,
                register: dword * 4,
            }
        },
    )
}

fn completion() -> impl Strategy<Value = Completion> {
    let status = prop::sample::select(vec![
        CompletionStatus::Successful,
        CompletionStatus::UnsupportedRequest,
        CompletionStatus::ConfigurationRetry,
        CompletionStatus::CompleterAbort,
    ]);
    (
        bdf(),
        status,
        any::<bool>(),
        1u16..=4096,
        bdf(),
        any::<u8>(),
        0u8..0x80,
    )
        .prop_map(
            |(
                completer,
                status,
                byte_count_modified,
                byte_count,
                requester,
                tag,
                lower_address,
            )| {
                Completion {
                    completer,
                    status,
                    byte_count_modified,
                    byte_count,
                    requester,
                    tag,
                    lower_address,
                }
            },
        )
}

fn message() -> impl Strategy<Value = Message> {
    (bdf(), any::<u8>(), 0u8..8, any::<u8>(), any::<[u32; 2]>()).prop_map(
        |(requester, tag, routing, code, content)| Message {
            requester,
            tag,
            routing,
            code,
            content,
        },
    )
}

fn header() -> impl Strategy<Value = Header> {
    let kind = prop_oneof![
        memory_request().prop_map(Kind::MRd),
        memory_request().prop_map(Kind::MWr),
        configuration_request().prop_map(Kind::CfgRd0),
        configuration_request().prop_map(Kind::CfgWr0),
        completion().prop_map(Kind::Cpl),
        completion().prop_map(Kind::CplD),
        message().prop_map(Kind::Msg),
        message().prop_map(Kind::MsgD),
    ];
    (traffic(), any::<u32>(), kind).prop_map(|(traffic, length, kind)| Header {
        traffic,
        length: Length::from_field(length),
        kind,
    })
}

/// Bits of each dword that some field of the header owns (section 2.2).
fn owned_bits(header: &Header) -> [u32; 4] {
    // Dword 0: all but T9, T8, LN, TH and AT.
    let first = 0xff74_f3ff;
    match header.packet_type() {
        Type::Memory => match header.fmt().header_dwords() {
            3 => [first, u32::MAX, !0x3, 0],
            _ => [first, u32::MAX, u32::MAX, !0x3],
        },
        Type::Configuration0 => [first, u32::MAX, 0xffff_0ffc, 0],
        Type::Completion => [first, u32::MAX, 0xffff_ff7f, 0],
        Type::Message(_) => [first, u32::MAX, u32::MAX, u32::MAX],
    }
}

/// A failing case's seed is printed, and stored in a file next to this one to be run first.
fn seeded(cases: u32) -> ProptestConfig {
    let persistence = FileFailurePersistence::WithSource("regressions");
    ProptestConfig {
        cases,
        failure_persistence: Some(Box::new(persistence)),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(seeded(1024))]

    #[test]
    fn every_header_packs_and_parses_to_itself(header in header()) {
        let packed = header.pack().expect("every field is in range");
        prop_assert_eq!(packed.len(), header.fmt().header_dwords());
        prop_assert_eq!(Header::parse(&packed), Ok(header));
    }

    #[test]
    fn every_dword_that_parses_packs_to_its_owned_bits(
        first in prop_oneof![
            any::<u32>(),
            // Mostly packets that exist.
            (prop::sample::select(vec![0x00u32, 0x20, 0x40, 0x60, 0x04, 0x44, 0x0a, 0x4a, 0x34]),
             any::<u32>()).prop_map(|(fmt_type, rest)| fmt_type << 24 | rest >> 8),
        ],
        rest in any::<[u32; 3]>(),
    ) {
        let dwords = [first, rest[0], rest[1], rest[2]];
        let count = Fmt::from_field(first >> 29).map_or(4, Fmt::header_dwords);
        if let Ok(header) = Header::parse(&dwords[..count]) {
            let packed = header.pack().expect("what was parsed is in range");
            let owned = owned_bits(&header);
            for (at, (given, kept)) in dwords.iter().zip(packed.iter()).enumerate() {
                let mut expected = given & owned[at];
                // A reserved completion status counts as Unsupported Request.
                if let (1, Kind::Cpl(completion) | Kind::CplD(completion)) = (at, &header.kind) {
                    expected = expected & !0xe000 | completion.status.field() << 13;
                }
                prop_assert_eq!(*kept, expected, "dword {}", at);
            }
        }
    }

    #[test]
    fn no_dwords_make_the_parser_panic(dwords in prop::collection::vec(any::<u32>(), 0..6)) {
        let _ = Header::parse(&dwords);
    }
}
