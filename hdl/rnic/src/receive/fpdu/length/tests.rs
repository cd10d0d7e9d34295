//! FPDU lengths against the words of the FPDU, put down one by one.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random, Simulation};

/// The words of an FPDU, put down one by one.
fn words_on_the_wire(ulpdu_length: usize, markers: bool, phase: usize) -> usize {
    let content = (ulpdu_length + 2).div_ceil(4) + 1;
    let (mut put, mut words) = (0, 0);
    while put < content {
        if !(markers && (phase + words) % 128 == 0) {
            put += 1;
        }
        words += 1;
    }
    words
}

fn connected<const LG: usize>() -> Simulation<FpduLength<LG>> {
    simulate!(FpduLength::default())
}

fn run<const LG: usize>(
    uut: &mut Simulation<FpduLength<LG>>,
    ulpdu_length: usize,
    words_left: usize,
) {
    uut.ulpdu_length.next = (ulpdu_length as u64).into();
    uut.words_left.next = (words_left as u64).into();
    for step in 0..3 {
        uut.sum.next = step == 0;
        uut.divide.next = step == 1;
        uut.decide.next = step == 2;
        uut.tick();
    }
}

fn check<const LG: usize>(
    uut: &mut Simulation<FpduLength<LG>>,
    length: usize,
    markers: bool,
    phase: usize,
) {
    let words = words_on_the_wire(length, markers, phase);
    uut.host.next = false;
    uut.markers.next = markers;
    uut.phase.next = (phase as u64).into();
    for words_left in [words - 1, words, words + 1] {
        run(uut, length, words_left);
        let case = format!("length {length}, markers {markers}, phase {phase}");
        assert_eq!(uut.words.val().to_u64(), words as u64, "{case}");
        let beats = words.div_ceil(1 << LG);
        assert_eq!(uut.beats.val().to_u64(), beats as u64, "{case}");
        assert_eq!(uut.single.val(), beats == 1, "{case}");
        assert_eq!(
            uut.whole.val(),
            words_left >= words,
            "{case}, {words_left} words"
        );
        assert_eq!(
            uut.too_long.val(),
            length > SINGLE_PASS_ULPDU_OCTETS,
            "{case}"
        );
    }
}

fn check_edges<const LG: usize>() {
    let mut uut = connected::<LG>();
    for phase in 0..128 {
        // Where the last word meets the next marker, and one group further.
        let short = 4 * (128 - phase);
        for length in [
            0,
            1,
            2,
            3,
            38,
            39,
            short,
            short + 3,
            short + 504,
            short + 507,
        ] {
            check(&mut uut, length, true, phase);
        }
        let group = short + 508;
        for length in [
            group - 3,
            group - 2,
            group - 1,
            group,
            group + 1,
            9216,
            9217,
            65535,
        ] {
            check(&mut uut, length.min(65535), true, phase);
        }
    }
    for length in (0..600).chain(9210..9220).chain(65530..65536) {
        check(&mut uut, length, false, 0);
        check(&mut uut, length, true, length % 128);
    }
}

#[test]
fn mpa_002_mpa_013_words_and_beats_of_every_phase_and_edge_at_4_words_a_beat() {
    check_edges::<2>();
}

#[test]
fn mpa_002_mpa_013_words_and_beats_of_every_phase_and_edge_at_16_words_a_beat() {
    check_edges::<4>();
}

#[test]
fn a_host_frame_takes_its_octets_rounded_up() {
    let mut uut = connected::<2>();
    uut.host.next = true;
    uut.markers.next = true;
    for octets in [1usize, 14, 15, 16, 17, 1514, 9216] {
        run(&mut uut, octets, 0);
        assert_eq!(uut.words.val().to_u64(), octets.div_ceil(4) as u64);
        assert_eq!(uut.beats.val().to_u64(), octets.div_ceil(16) as u64);
        assert_eq!(uut.single.val(), octets <= 16);
    }
}

#[test]
fn lockstep_with_verilog() {
    let mut step = 0;
    let uut = FpduLength::<2>::default();
    lockstep!("fpdu_length", uut, 6000, |uut, random: &mut Random| {
        if step % 3 == 0 {
            uut.ulpdu_length.next = random.wide();
            uut.words_left.next = random.wide();
            uut.phase.next = random.wide();
            uut.markers.next = random.chance(3, 4);
            uut.host.next = random.chance(1, 8);
        }
        uut.sum.next = step % 3 == 0;
        uut.divide.next = step % 3 == 1;
        uut.decide.next = step % 3 == 2;
        step += 1;
    });
}
