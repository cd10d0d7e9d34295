//! FPDUs through marker removal and compaction, every phase and width.
use super::*;
use crate::receive::fpdu::marker_remover::MarkerRemover;
use crate::receive::fpdu::testing::sender::{without_markers, Sender};
use rnic_hdl_tools::testkit::{bits_of, octets_of, simulate, Random, Simulation};

/// Sends an FPDU through marker removal and compaction, with `gaps` of 8 cycles idle; gives the
/// placed octets and the header.
fn pass<const D: usize, const P: usize, const LG: usize>(
    strip: &mut Simulation<MarkerRemover<D, LG>>,
    uut: &mut Simulation<WordPacker<D, P, LG>>,
    (wire, phase, check): (&[u8], u64, bool),
    random: &mut Random,
) -> (Vec<u8>, Vec<u8>) {
    let beats: Vec<&[u8]> = wire.chunks(D / 8).collect();
    let (mut next, mut idle, mut placed, mut headers) = (0, 0, vec![], vec![]);
    while idle < 7 {
        let valid = next < beats.len() && random.chance(6, 8);
        strip.beat_valid.next = valid;
        strip.markers.next = true;
        strip.check.next = check;
        if valid {
            strip.beat_data.next = bits_of(beats[next]);
            strip.beat_first.next = next == 0;
            strip.beat_last.next = next + 1 == beats.len();
            let tail = (D / 8 - beats[next].len()) / 4;
            strip.beat_tail_words.next = (tail as u64).into();
            strip.phase.next = phase.into();
            next += 1;
        }
        idle = if next == beats.len() { idle + 1 } else { 0 };
        strip.settle();
        uut.closed_valid.next = strip.closed_valid.val();
        uut.closed_data.next = strip.closed_data.val();
        uut.closed_words.next = strip.closed_words.val();
        uut.short.next = strip.marker_valid.val();
        uut.closed_first.next = strip.closed_first.val();
        uut.closed_last.next = strip.closed_last.val();
        uut.closed_check.next = strip.closed_check.val();
        uut.settle();
        if uut.placed_valid.val() {
            placed.extend(octets_of(uut.placed_data.val()));
        }
        if uut.header_valid.val() {
            headers.push(octets_of(uut.header.val()));
        }
        strip.tick();
        uut.tick();
    }
    assert_eq!(headers.len(), 1, "phase {phase}");
    assert_eq!(headers[0], octets_of(uut.header.val()), "it stays");
    (placed, headers.remove(0))
}

fn check_width<const D: usize, const P: usize, const LG: usize>() {
    let mut random = Random::from_environment();
    let mut strip = simulate!(MarkerRemover::<D, LG>::default());
    let mut uut = simulate!(WordPacker::<D, P, LG>::default());
    for phase in (0..128).chain(random.below(128)..128) {
        let length = random.below(1200) as usize;
        let ulpdu: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        let wire = Sender::new(true, 4 * phase).fpdu(&ulpdu);
        let check = random.chance(1, 6);
        let (placed, header) = pass(&mut strip, &mut uut, (&wire, phase, check), &mut random);
        let mut plain = without_markers(&wire, true, 4 * phase);
        let mut first = plain.clone();
        first.resize(20, 0);
        assert_eq!(header, first, "phase {phase}");
        plain.resize(plain.len().next_multiple_of(D / 8), 0);
        if check {
            plain.clear();
        }
        assert_eq!(placed, plain, "phase {phase}, length {length}");
    }
}

#[test]
fn mpa_017_words_are_packed_at_every_phase_at_128_bits() {
    check_width::<128, 256, 2>();
}

#[test]
fn mpa_017_words_are_packed_at_every_phase_at_512_bits() {
    check_width::<512, 1024, 4>();
}
