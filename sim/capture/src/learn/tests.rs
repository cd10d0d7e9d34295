use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_model::mpa::MpaReceiver;

/// What is learned of a stream of `octets`.
fn learned(octets: &[u8], start: u32, framing: Framing) -> Flow {
    let mut stream = Reassembly::default();
    stream.begin(start);
    stream.push(start, octets, 0);
    flow(
        &Direction {
            source: ([192, 0, 2, 1], 1).into(),
            destination: ([192, 0, 2, 2], 2).into(),
            stream: &stream,
            start: 0,
            has_startup: true,
            revision: 1,
            markers: framing.markers,
            crc: framing.crc,
            first_frame: 0,
            last_frame: 0,
        },
        None,
    )
}

/// Random streams, half of them with a wrong octet: `rnic-wire` and the model's framing find the
/// same FPDUs up to the first bad one, and the same rest.
#[test]
fn fpdus_agree_with_the_models_framing() {
    let seed = 3;
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let (mut whole, mut stopped) = (0, 0);
    for run in 0..400 {
        let framing = Framing {
            markers: generator.random(),
            crc: generator.random(),
        };
        let mut octets = Vec::new();
        for _ in 0..generator.random_range(1..8) {
            let mut ulpdu = vec![0; generator.random_range(0..1500)];
            generator.fill(&mut ulpdu[..]);
            framing.append(&mut octets, &[&ulpdu]);
        }
        octets.truncate(octets.len() - generator.random_range(0..4));
        if generator.random() {
            let at = generator.random_range(0..octets.len());
            octets[at] ^= 1 << generator.random_range(0..8);
        }
        let start = generator.random();
        let flow = learned(&octets, start, framing);
        let mut model = MpaReceiver::new(start, framing.markers, framing.crc);
        let fpdus = model.push(&octets);
        let good = fpdus
            .iter()
            .take_while(|fpdu| fpdu.crc_good && fpdu.marker_good);
        let good: Vec<Range<u32>> = good.map(|fpdu| fpdu.sequence..fpdu.sequence_end).collect();
        assert_eq!(flow.fpdus, good, "run {run}, seed {seed}");
        let seen = fpdus.iter().take(good.len() + 1);
        let longest = seen.map(|fpdu| fpdu.sequence_end.wrapping_sub(fpdu.sequence));
        let longest = longest.max().unwrap_or(0).max(model.held_octets() as u32);
        assert_eq!(flow.longest_fpdu, longest, "run {run}, seed {seed}");
        match good.len() == fpdus.len() {
            true => whole += 1,
            false => stopped += 1,
        }
    }
    assert!(whole > 100 && stopped > 50, "{whole}, {stopped}");
}

/// MPA-011: peers of the older draft count from the leading marker.
#[test]
fn markers_may_count_from_a_leading_marker() {
    let framing = Framing {
        markers: true,
        crc: false,
    };
    let mut octets = Vec::new();
    framing.append(&mut octets, &[&[0; 600]]);
    let good = learned(&octets, 0, framing).fpdus;
    assert_eq!(good.first(), Some(&(0..octets.len() as u32)));
    for (pointer, is_good) in [(0x1fcu16, true), (0x200, true), (0x204, false)] {
        octets[514..516].copy_from_slice(&pointer.to_be_bytes());
        let fpdus = learned(&octets, 0, framing).fpdus;
        assert_eq!(fpdus.len(), usize::from(is_good), "{pointer:#x}");
    }
}
