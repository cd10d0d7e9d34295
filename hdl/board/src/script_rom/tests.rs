//! The script memory: contents, and what is after them, in lockstep with its Verilog.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate, Random};

fn script(random: &mut Random) -> Vec<Word> {
    let word = |random: &mut Random| Word::Frame {
        octets: random.below(u64::MAX),
        count: 1 + random.below(8) as u8,
        last: random.chance(1, 2),
    };
    (0..WORDS - 7).map(|_| word(random)).collect()
}

#[test]
fn words_are_read_two_cycles_later_and_those_after_the_script_end_it() {
    let script = script(&mut Random::from_environment());
    let mut uut = simulate!(ScriptRom::new(&script));
    for address in [0, 1, 1000, script.len() - 1, script.len(), WORDS - 1] {
        uut.address.next = (address as u64).into();
        uut.ticks(2);
        let expected = script.get(address).map_or(0, |word| word.encode());
        assert_eq!(uut.word.val().get_bits::<64>(0), expected as u64);
        assert_eq!(uut.word.val().get_bits::<8>(64), (expected >> 64) as u64);
    }
}

#[test]
fn lockstep_with_verilog() {
    let script = script(&mut Random::from_environment());
    lockstep!(
        "script_rom",
        ScriptRom::new(&script),
        4000,
        |uut, random| {
            uut.address.next = random.wide();
        }
    );
}

#[test]
#[should_panic(expected = "ScriptRom: 4097 words")]
fn a_script_that_does_not_fit_is_refused() {
    ScriptRom::new(&[Word::Begin; WORDS + 1]);
}
