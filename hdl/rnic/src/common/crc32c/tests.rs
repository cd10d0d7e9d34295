//! The stream against a foreign CRC32C, and each width against its Verilog.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random};
use std::collections::VecDeque;

/// Verdict latency in cycles, as the module says.
const LATENCY_CYCLES: usize = 4;

/// `words` random words followed by their CRC field, as octets; `flip` damages one bit.
fn fpdu(words: usize, flip: bool, random: &mut Random) -> Vec<u8> {
    let mut octets: Vec<u8> = (0..words * 4).map(|_| random.below(256) as u8).collect();
    // MPA-020: least significant octet first.
    octets.extend(crc32c::crc32c(&octets).to_le_bytes());
    if flip {
        let bit = random.below(octets.len() as u64 * 8) as usize;
        octets[bit / 8] ^= 1 << (bit % 8);
    }
    octets
}

/// One cycle of input.
#[derive(Clone, Default)]
struct Beat<const D: usize> {
    valid: bool,
    data: Bits<D>,
    first: bool,
    last: bool,
    tail_zero_words: u64,
    good: bool,
}

fn beats<const D: usize>(octets: &[u8], good: bool) -> Vec<Beat<D>> {
    let chunks = octets.chunks(D / 8);
    let count = chunks.len();
    let beat = |(index, chunk): (usize, &[u8])| {
        let mut data = Bits::<D>::default();
        for (octet, value) in chunk.iter().enumerate() {
            data.set_bits::<8>(octet * 8, LiteralType::from(*value).into());
        }
        Beat {
            valid: true,
            data,
            first: index == 0,
            last: index + 1 == count,
            tail_zero_words: ((D / 8 - chunk.len()) / 4) as u64,
            good,
        }
    };
    chunks.enumerate().map(beat).collect()
}

/// FPDUs of every length up to `words_max` words and a CRC field, back to back with odd gaps.
fn traffic<const D: usize>(words_max: usize, random: &mut Random) -> Vec<Beat<D>> {
    let mut traffic = vec![];
    for words in (1..=words_max).chain((1..=words_max).rev()) {
        let flip = random.chance(1, 3);
        for beat in beats(&fpdu(words, flip, random), !flip) {
            if random.chance(1, 8) {
                // Noise without `valid` must not count.
                traffic.push(Beat {
                    data: random.wide(),
                    first: true,
                    last: true,
                    ..Beat::default()
                });
            }
            traffic.push(beat);
        }
    }
    traffic
}

fn apply<const D: usize>(uut: &mut Crc32cStream<D>, beat: &Beat<D>) {
    uut.valid.next = beat.valid;
    uut.data.next = beat.data;
    uut.first.next = beat.first;
    uut.last.next = beat.last;
    uut.tail_zero_words.next = beat.tail_zero_words.into();
}

fn every_verdict_matches<const D: usize>(words_max: usize) {
    let mut random = Random::from_environment();
    let mut traffic = traffic::<D>(words_max, &mut random);
    traffic.extend(vec![Beat::default(); LATENCY_CYCLES]);
    let mut uut = simulate!(Crc32cStream::<D>::default());
    // Expected outputs in this and the next cycles.
    let mut due: VecDeque<Option<bool>> = vec![None; LATENCY_CYCLES].into();
    let mut verdicts = [0usize; 2];
    for beat in &traffic {
        apply(&mut uut, beat);
        let verdict = uut.verdict_valid.val().then(|| uut.verdict_good.val());
        assert_eq!(verdict, due.pop_front().flatten());
        verdict
            .into_iter()
            .for_each(|good| verdicts[usize::from(good)] += 1);
        due.push_back((beat.valid && beat.last).then_some(beat.good));
        uut.tick();
    }
    assert_eq!(verdicts.iter().sum::<usize>(), 2 * words_max);
    assert!(
        verdicts.iter().all(|&count| count > words_max / 4),
        "{verdicts:?}"
    );
}

#[test]
fn mpa_020_a_right_crc_is_good_and_one_flipped_bit_is_not_at_128_bits() {
    every_verdict_matches::<128>(40);
}

#[test]
fn mpa_020_a_right_crc_is_good_and_one_flipped_bit_is_not_at_512_bits() {
    every_verdict_matches::<512>(60);
}

#[test]
fn mpa_020_narrow_beats_work_too() {
    every_verdict_matches::<32>(16);
    every_verdict_matches::<64>(16);
}

#[test]
#[should_panic(expected = "D = 48 must be a multiple of 32")]
fn refuses_a_beat_that_is_not_whole_words() {
    let _ = Crc32cStream::<48>::default();
}

#[test]
fn reset_forgets_the_beats_on_their_way() {
    let mut uut = simulate!(Crc32cStream::<128>::default());
    let whole = fpdu(3, false, &mut Random::from_environment());
    apply(&mut uut, &beats::<128>(&whole, true)[0]);
    uut.tick();
    apply(&mut uut, &Beat::default());
    uut.pulse(|uut| &mut uut.reset);
    for _ in 0..2 * LATENCY_CYCLES {
        assert!(!uut.verdict_valid.val());
        uut.tick();
    }
}

fn in_lockstep<const D: usize>(name: &str) {
    let mut beats = traffic::<D>(24, &mut Random::from_environment()).into_iter();
    let cycles = beats.len() + LATENCY_CYCLES;
    let uut = Crc32cStream::<D>::default();
    lockstep!(name, uut, cycles, |uut, random| {
        apply(uut, &beats.next().unwrap_or_default());
        uut.reset.next = random.chance(1, 100);
    });
}

#[test]
fn lockstep_with_verilog_at_128_bits() {
    in_lockstep::<128>("crc32c_128");
}

#[test]
fn lockstep_with_verilog_at_512_bits() {
    in_lockstep::<512>("crc32c_512");
}
