//! The player: what each word does and how long it takes, in lockstep with its Verilog.
use super::*;
use crate::script::{Value, When, Word, WORD_CYCLES};
use rnic_hdl_tools::testkit::{lockstep, simulate, Simulation};

/// A player whose memory answers as [`crate::script_rom`] does.
struct Rig {
    uut: Simulation<Player>,
    script: Vec<Word>,
    fetched: u128,
}

impl Rig {
    fn new(script: Vec<Word>) -> Self {
        let mut uut = simulate!(Player::default());
        uut.pulse(|uut| &mut uut.reset);
        Self {
            uut,
            script,
            fetched: 0,
        }
    }

    fn tick(&mut self) {
        self.uut.settle();
        let address = self.uut.address.val().index();
        let (low, high) = (self.fetched as u64, (self.fetched >> 64) as u64);
        self.fetched = self.script.get(address).map_or(0, |word| word.encode());
        self.uut.tick();
        self.uut.word.next = Bits::from(low) | (Bits::<WORD_BITS>::from(high) << 64);
        self.uut.settle();
    }

    /// Cycles until the condition holds.
    fn wait_for(&mut self, condition: impl Fn(&Player) -> bool) -> usize {
        for cycle in 0..1000 {
            if condition(&self.uut) {
                return cycle;
            }
            self.tick();
        }
        panic!("it never comes to that");
    }
}

#[test]
fn beats_carry_the_registers_that_words_have_loaded() {
    let mut rig = Rig::new(vec![
        Word::HeaderLow(0x1111_2222_3333_4444),
        Word::HeaderHigh(0x5555_6666_7777_8888),
        Word::PayloadHigh(0x9999),
        Word::Request {
            low: 0xaaaa,
            last: true,
        },
        Word::Completion {
            low: 0xbbbb,
            dwords: 3,
            last: false,
        },
        Word::Frame {
            octets: 0xcccc,
            count: 5,
            last: true,
        },
    ]);
    let cycles = rig.wait_for(|uut| uut.request_valid.val());
    assert_eq!(cycles, 4 * WORD_CYCLES);
    let halves = |bits: Bits<128>| [0, 64].map(|bit| bits.get_bits::<64>(bit).to_u64());
    let header = [0x1111_2222_3333_4444, 0x5555_6666_7777_8888];
    assert_eq!(halves(rig.uut.header.val()), header);
    assert_eq!(halves(rig.uut.data.val()), [0xaaaa, 0x9999]);
    assert!(rig.uut.last.val());
    // It is offered until it is taken.
    (0..20).for_each(|_| rig.tick());
    assert!(rig.uut.request_valid.val());
    rig.uut.request_ready.next = true;
    rig.wait_for(|uut| uut.completion_valid.val());
    assert!(!rig.uut.request_valid.val() && !rig.uut.last.val());
    assert_eq!(rig.uut.keep.val(), 0b0111u64);
    assert_eq!(halves(rig.uut.data.val()), [0xbbbb, 0x9999]);
    rig.tick();
    assert!(!rig.uut.completion_valid.val());
    assert_eq!(rig.wait_for(|uut| uut.frame_valid.val()) + 1, WORD_CYCLES);
    assert_eq!(rig.uut.octets.val(), 5u64);
    assert!(rig.uut.last.val());
    rig.wait_for(|uut| uut.done.val());
}

#[test]
fn a_wait_is_for_both_counts_and_then_for_cycles() {
    let mut rig = Rig::new(vec![Word::Wait {
        cycles: 30,
        tlps: 2,
        reads: 1,
    }]);
    (0..50).for_each(|_| rig.tick());
    rig.uut.tlps.next = 2.into();
    (0..50).for_each(|_| rig.tick());
    assert!(!rig.uut.done.val());
    rig.uut.reads.next = 1.into();
    let cycles = rig.wait_for(|uut| uut.done.val());
    assert!((30..40).contains(&cycles), "{cycles} cycles");
}

/// What never comes fails its scene, and holds up neither it nor the next one for long.
#[test]
fn a_wait_in_vain_ends_and_fails_its_scene() {
    let wait = Word::Wait {
        cycles: 3,
        tlps: 1,
        reads: 0,
    };
    let expect = Word::Expect { tlps: 0, reads: 0 };
    let mut rig = Rig::new(vec![wait, wait, expect, Word::Begin, expect]);
    (0..TIMEOUT_CYCLES).for_each(|_| rig.tick());
    assert!(!rig.uut.done.val());
    rig.wait_for(|uut| uut.done.val());
    assert!(!rig.uut.good.val());
    assert_eq!(rig.uut.scenes.val(), 0b01u64, "the scene after it holds");
}

#[test]
fn expectations_are_kept_and_texts_depend_on_them() {
    let expect = |tlps| Word::Expect { tlps, reads: 7 };
    let text = |when, text| Word::Text { when, text };
    let mut rig = Rig::new(vec![
        expect(5),
        text(When::Failed, 1),
        text(When::Held, 2),
        expect(6),
        text(When::Held, 3),
        text(When::Failed, 4),
        text(When::AllHeld, 5),
        text(When::AnyFailed, 6),
        Word::Hex(Value::Reads),
    ]);
    rig.uut.tlps_signature.next = 5.into();
    rig.uut.reads_signature.next = 7.into();
    let mut written = vec![];
    for _ in 0..200 {
        if rig.uut.report_write.val() {
            written.push(rig.uut.report_word.val().to_u64());
        }
        rig.tick();
    }
    assert_eq!(written, [2, 4, 6, 7]);
    assert!(rig.uut.done.val() && !rig.uut.good.val());
    assert_eq!(rig.uut.scenes.val(), 0b10u64);
}

/// One bit of the first frame's last beat, one of the first signature, and no other.
#[test]
fn a_spoiled_run_has_one_wrong_bit() {
    let frame = |last| Word::Frame {
        octets: 0x10,
        count: 8,
        last,
    };
    let expect = Word::Expect { tlps: 0, reads: 0 };
    let words = [frame(false), frame(true), frame(true), expect, expect];
    for (spoil_frame, spoil_signature) in [(false, false), (true, false), (false, true)] {
        let mut rig = Rig::new(words.to_vec());
        rig.uut.spoil_frame.next = spoil_frame;
        rig.uut.spoil_signature.next = spoil_signature;
        let mut given = vec![];
        for _ in 0..60 {
            if rig.uut.frame_valid.val() {
                given.push(rig.uut.frame_data.val().to_u64());
            }
            rig.tick();
        }
        let spoiled = if spoil_frame { 0x11 } else { 0x10 };
        assert_eq!(given, [0x10, spoiled, 0x10]);
        let scenes = if spoil_signature { 0b01u64 } else { 0b11 };
        assert_eq!(rig.uut.scenes.val(), scenes);
    }
}

#[test]
fn a_scene_resets_the_core() {
    let mut rig = Rig::new(vec![Word::Begin]);
    rig.wait_for(|uut| uut.core_reset.val());
    let cycles = rig.wait_for(|uut| !uut.core_reset.val());
    assert_eq!(cycles, RESET_CYCLES);
}

#[test]
fn lockstep_with_verilog() {
    lockstep!("player", Player::default(), 8000, |uut, random| {
        uut.reset.next = random.chance(1, 500);
        uut.word.next = random.wide();
        uut.request_ready.next = random.chance(1, 2);
        uut.tlps.next = random.wide();
        uut.reads.next = random.wide();
        uut.tlps_signature.next = random.wide();
        uut.reads_signature.next = random.wide();
        uut.answer.next = random.wide();
        uut.report_busy.next = random.chance(1, 2);
        uut.spoil_frame.next = random.chance(1, 2);
        uut.spoil_signature.next = random.chance(1, 2);
    });
}
