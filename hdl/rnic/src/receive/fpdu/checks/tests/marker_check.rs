//! Pointers of 130 markers in a row.
use super::super::*;
use rnic_hdl_tools::testkit::{simulate, Random, Simulation};

/// Puts an FPDU's markers through, `wrong` of them with another pointer; is it bad?
fn bad(
    uut: &mut Simulation<MarkerCheck>,
    distance: u64,
    pointers: &[u16],
    random: &mut Random,
) -> bool {
    for (index, pointer) in pointers.iter().enumerate() {
        // The first beat holds the first marker or none.
        let apart = index == 0 && distance > 3;
        uut.opens.next = index == 0;
        uut.distance.next = distance.into();
        uut.marker_valid.next = !apart;
        let octets = pointer.to_be_bytes();
        let low_bits = random.below(4) as u8;
        let marker = u32::from_le_bytes([
            random.below(256) as u8,
            random.below(256) as u8,
            octets[0],
            octets[1] | low_bits,
        ]);
        uut.marker.next = u64::from(marker).into();
        if apart {
            uut.tick();
            uut.opens.next = false;
            uut.distance.next = random.below(128).into();
            uut.marker_valid.next = true;
        }
        uut.tick();
    }
    uut.opens.next = false;
    uut.marker_valid.next = false;
    uut.tick();
    assert_eq!(uut.found.val(), !pointers.is_empty());
    uut.bad.val()
}

#[test]
fn mpa_008_mpa_010_mpa_011_mpa_012_pointers_of_130_markers_modulo_two_to_the_sixteenth() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(MarkerCheck::default());
    for distance in [0u64, 1, 3, 4, 64, 127] {
        for lead in [4u16, 0] {
            // From ULPDU_Length: 4 octets less after a leading marker.
            let less = if distance == 0 { lead } else { 0 };
            let right: Vec<u16> = (0..130u64)
                .map(|index| (4 * distance + 512 * index) as u16)
                .map(|at| if at == 0 { 0 } else { at.wrapping_sub(less) })
                .collect();
            // The 129th marker is 2^16 octets after the first one: both of its values.
            let count = if distance == 0 { 128 } else { 130 };
            assert!(
                !bad(&mut uut, distance, &right[..count], &mut random),
                "{distance}"
            );
            for at in [0usize, 1, 2, 64, 127] {
                for change in [4u16, 8, 512, 0x8000] {
                    let mut wrong = right.clone();
                    wrong[at] ^= change;
                    let other = distance == 0
                        && at > 0
                        && [0, 4].contains(&((512 * at) as u16).wrapping_sub(wrong[at]));
                    assert_eq!(
                        bad(&mut uut, distance, &wrong[..count], &mut random),
                        !other,
                        "distance {distance}, marker {at}, change {change}"
                    );
                }
            }
        }
    }
    let mut wrapped = vec![0u16];
    wrapped.extend((1..=128u64).map(|index| (512 * index) as u16));
    assert!(!bad(&mut uut, 0, &wrapped, &mut random), "0 at 2^16");
    wrapped[128] = 0xfffc;
    assert!(!bad(&mut uut, 0, &wrapped, &mut random), "0xfffc at 2^16");
    wrapped[0] = 0xfffc;
    assert!(
        bad(&mut uut, 0, &wrapped, &mut random),
        "a leading marker is 0"
    );
}
