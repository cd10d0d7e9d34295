//! Segments around the ends of a read, against the rule in plain integers.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random};

/// A segment and a head that agree, but for what is changed now and then.
fn draw(random: &mut Random) -> (DdpSegment, Buffer, bool) {
    let to = random.bits();
    let stag = random.below(1 << 32);
    let payload = if random.chance(1, 4) {
        0
    } else {
        random.below(1 << 16)
    };
    let left = match random.below(4) {
        0 => 0,
        1 => random.below(3),
        _ => random.below(1 << 31),
    };
    let octets = (payload + left).saturating_sub(random.below(8) / 7);
    let last = (octets == payload) ^ random.chance(1, 8);
    let flip =
        |random: &mut Random, bits: u64| u64::from(random.chance(1, 8)) << random.below(bits);
    let place = to & 0xffff_ffff | stag << 32;
    let to_high = to >> 32 & 7 ^ flip(random, 12) & 7;
    let segment = DdpSegment {
        last,
        stag: stag.into(),
        to: to.into(),
        to_end: to.wrapping_add(payload).into(),
        payload: payload.into(),
        has_payload: payload > 0,
        ..DdpSegment::default()
    };
    let head = Buffer {
        address: (place ^ flip(random, 64)).into(),
        octets: octets.into(),
        to_high: to_high.into(),
    };
    (segment, head, !random.chance(1, 8))
}

#[test]
fn rdmap_011_a_segment_continues_its_read_or_differs() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(ReadCheck::default());
    let mut continued = 0;
    for _ in 0..4000 {
        let (segment, head, is_open) = draw(&mut random);
        uut.segment.next = segment;
        uut.head.next = head;
        uut.is_open.next = is_open;
        uut.ticks(2);
        let (place, to) = (head.address.to_u64(), segment.to.to_u64());
        let stag = segment.stag.to_u64();
        let whole = |place: u64, high: u64| place & 0xffff_ffff | high << 32;
        let is_next =
            whole(place, head.to_high.to_u64()) == to & ((1 << 35) - 1) && place >> 32 == stag;
        let (payload, octets) = (segment.payload.to_u64(), head.octets.to_u64());
        let continues = is_open
            && (payload == 0 || is_next)
            && payload <= octets
            && segment.last == (payload == octets);
        assert_eq!(uut.differs.val(), !continues, "{segment:?} of {head:?}");
        if continues && payload > 0 {
            continued += 1;
            let moved = uut.moved_head.val();
            assert_eq!(moved.octets.to_u64(), octets - payload);
            let end = to.wrapping_add(payload);
            assert_eq!(moved.address.to_u64(), end & 0xffff_ffff | stag << 32);
            assert_eq!(moved.to_high.to_u64(), end >> 32 & 7);
        }
    }
    assert!(continued > 1000, "{continued} segments continued a read");
}

#[test]
fn read_check_agrees_with_its_verilog() {
    lockstep!("ddp_reads", ReadCheck::default(), 2000, |uut, random| {
        let (segment, head, is_open) = draw(random);
        uut.segment.next = segment;
        uut.head.next = head;
        uut.is_open.next = is_open;
    });
}
