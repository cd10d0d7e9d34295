//! Stored frames against the frames sent, after their two octets of pad.
use super::super::*;
use crate::receive::front_end::testing::{beat, stored};
use rnic_hdl_tools::testkit::{simulate, Random};

/// One frame in, the stored frame out.
fn shifts<const W: usize>(size: usize) {
    let mut random = Random::from_environment();
    let frame: Vec<u8> = (0..size).map(|_| random.bits() as u8).collect();
    let mut uut = simulate!(PadShift::<W>::default());
    let expected = stored::<W>(&frame, &mut random);
    let mut got = Vec::new();
    let mut beats: Vec<Option<&[u8]>> = frame.chunks(W / 8).map(Some).collect();
    beats.extend([None, None]);
    for (number, octets) in beats.iter().enumerate() {
        uut.beat_valid.next = octets.is_some();
        let octets = octets.unwrap_or(&[]);
        uut.beat_data.next = beat(octets, &mut random);
        uut.beat.next = MacBeat {
            octets: (octets.len() as u64).into(),
            first: number == 0,
            last: (number + 1) * (W / 8) >= size,
            spills: octets.len() > W / 8 - 2 && (number + 1) * (W / 8) >= size,
            ..Default::default()
        };
        uut.tick();
        if uut.control.val().valid {
            got.push((uut.control.val(), uut.data.val()));
        }
    }
    assert_eq!(got.len(), expected.len(), "{size} octets");
    for (index, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let ends = got.0.end;
        assert_eq!(ends, expected.0.end, "beat {index} of {size} octets");
        if ends {
            assert_eq!(got.0.frame_octets, size as u64);
        }
        assert_eq!((got.0.row, got.0.beat), (expected.0.row, expected.0.beat));
        let in_beat = (size + 2 - index * (W / 8)).min(W / 8);
        for octet in 0..in_beat {
            assert_eq!(
                got.1.get_bits::<8>(8 * octet),
                expected.1.get_bits::<8>(8 * octet),
                "octet {octet} of beat {index} of {size}"
            );
        }
    }
}

#[test]
fn stores_two_zero_octets_then_the_frame() {
    for size in 1..150 {
        shifts::<64>(size);
        shifts::<128>(size);
    }
    for size in 58..70 {
        shifts::<512>(size);
    }
}
