//! Header decode: golden FPDUs, random headers, every pairing of queue and opcode.
use super::super::*;
use rnic_hdl_tools::testkit::{bits_of, simulate, Random, Simulation};

fn decode(uut: &mut Simulation<HeaderDecode>, octets: &[u8], ulpdu_length: u64) -> DdpSegment {
    uut.header.next = bits_of(octets);
    uut.ulpdu_length.next = ulpdu_length.into();
    uut.ticks(2);
    uut.segment.val()
}

fn connected() -> Simulation<HeaderDecode> {
    simulate!(HeaderDecode::default())
}

fn number(octets: &[u8]) -> u64 {
    octets
        .iter()
        .fold(0, |value, &octet| (value << 8) | u64::from(octet))
}

#[test]
fn golden_fpdus_parse_as_the_specification_prints_them() {
    // FPDU A of RFC 5044 after its marker: a Send with Last, QN 0, MSN 1, MO 0, 24 octets.
    let octets = [
        0x00, 0x2a, 0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
    ];
    let segment = decode(&mut connected(), &octets, 42);
    assert!(segment.known && segment.last && !segment.tagged && !segment.opcode_bad);
    assert!(!segment.qn_bad && !segment.invalidates && segment.has_payload);
    assert_eq!(
        (segment.ddp_version, segment.rdmap_version),
        (1u64.into(), 1u64.into())
    );
    assert_eq!((segment.opcode, segment.qn), (3u64.into(), 0u64.into()));
    assert_eq!((segment.msn, segment.mo), (1u64.into(), 0u64.into()));
    assert_eq!(
        (segment.payload, segment.mo_end),
        (24u64.into(), 24u64.into())
    );
    // Revision 0 prints versions 0: control octets 40 03.
    let segment = decode(&mut connected(), &[0x00, 0x2a, 0x40, 0x03], 42);
    assert_eq!(
        (segment.ddp_version, segment.rdmap_version),
        (0u64.into(), 0u64.into())
    );
}

#[test]
fn ddp_010_011_fields_of_random_headers_are_where_the_figures_put_them() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    for _ in 0..500 {
        let mut octets: [u8; 20] = std::array::from_fn(|_| random.below(256) as u8);
        if random.chance(1, 4) {
            octets[8..15].fill(0xff);
        }
        let ulpdu_length = if random.chance(1, 2) {
            random.below(40)
        } else {
            random.below(65536)
        };
        let segment = decode(&mut uut, &octets, ulpdu_length);
        let tagged = octets[2] & 0x80 != 0;
        let header_octets = if tagged { 14 } else { 18 };
        let context = format!("{octets:02x?}, length {ulpdu_length}");
        assert_eq!(segment.zero_length, ulpdu_length == 0, "{context}");
        assert_eq!(segment.short, ulpdu_length < header_octets, "{context}");
        assert_eq!(segment.known, ulpdu_length >= header_octets, "{context}");
        assert_eq!(
            (segment.tagged, segment.last),
            (tagged, octets[2] & 0x40 != 0),
            "{context}"
        );
        assert_eq!(segment.stag, number(&octets[4..8]), "{context}");
        assert_eq!(segment.to, number(&octets[8..16]), "{context}");
        assert_eq!(segment.msn, number(&octets[12..16]), "{context}");
        assert_eq!(segment.mo, number(&octets[16..20]), "{context}");
        assert_eq!(segment.qn_bad, number(&octets[8..12]) > 2, "{context}");
        if !segment.short {
            let payload = ulpdu_length - header_octets;
            let (to_end, wraps) = number(&octets[8..16]).overflowing_add(payload);
            assert_eq!(segment.payload, payload, "{context}");
            assert_eq!(
                (segment.to_end.to_u64(), segment.wraps),
                (to_end, wraps),
                "{context}"
            );
            assert_eq!(
                segment.mo_end,
                number(&octets[16..20]) + payload,
                "{context}"
            );
            assert_eq!(segment.has_payload, payload > 0, "{context}");
        }
    }
}

#[test]
fn rdmap_003_every_pairing_of_buffer_model_queue_and_opcode() {
    let mut uut = connected();
    for tagged in [false, true] {
        for opcode in 0..16u8 {
            for qn in 0..3u8 {
                let control = if tagged { 0xc1 } else { 0x41 };
                let octets = [0, 60, control, 0x40 | opcode, 0, 0, 0, 0, 0, 0, 0, qn];
                let segment = decode(&mut uut, &octets, 60);
                let fits = match (tagged, qn) {
                    (true, _) => matches!(opcode, 0 | 2),
                    (false, 0) => matches!(opcode, 3..=6),
                    (false, 1) => opcode == 1,
                    (false, _) => opcode == 7,
                };
                assert_eq!(segment.opcode_bad, !fits, "{tagged} {opcode} {qn}");
                let invalidates = !tagged && matches!(opcode, 4 | 6);
                assert_eq!(segment.invalidates, invalidates, "{tagged} {opcode} {qn}");
            }
        }
    }
}
