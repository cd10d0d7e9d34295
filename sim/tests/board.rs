//! A board at its pins: power-up, button, LEDs, and the console over JTAG, with a script that is
//! short and knows nothing of frames. TCK has another phase and length at each edge, and each
//! crossing shows a change a cycle late at random.

use rnic_abi::limits::RESET_CYCLES;
use rnic_abi::registers::{IDENTITY, IDENTITY_VALUE};
use rnic_abi::sizes::Sizes;
use rnic_board::script::{text, Value, When, Word};
use rnic_sim::{BoardSim, Form};

/// Scans without an octet after which the report has ended.
const SILENT_SCANS: usize = 20;
/// Cycles in which the script ends.
const RUN_CYCLES: usize = 6_000;
/// Identification of the LFE5UM5G-85F.
const PART: u32 = 0x8111_3043;
const GOOD: &str = "register 50525746 pass\nall pass\n";
const BAD: &str = "register 50525746 FAIL\nsome FAIL\n";
/// LEDs of a run that has ended.
const PASSED: u8 = 0b0001_0101;
const FAILED: u8 = 0b0000_1001;

/// The completion that answers a read of a register: completer 1:0.0, requester 0, tag 0.
fn signature_of_the_answer() -> u32 {
    let dwords = [0x4a00_0001, 0x0100_0004, 0x0000_0000, IDENTITY_VALUE];
    let octets: Vec<u8> = dwords.into_iter().flat_map(u32::to_le_bytes).collect();
    crc32c::crc32c(&octets)
}

/// Asks for a register and reports it; `expected` is the signature of the answer.
fn script(expected: u32) -> Vec<Word> {
    let wait = |cycles, tlps| Word::Wait {
        cycles,
        tlps,
        reads: 0,
    };
    let mut script = vec![Word::Begin, wait(RESET_CYCLES as u32 + 64, 0)];
    script.extend(text(When::Always, "register "));
    script.push(Word::HeaderLow(0x0000_000f_0000_0001));
    script.push(Word::HeaderHigh(u64::from(IDENTITY)));
    script.push(Word::Request { low: 0, last: true });
    // The signature has it a cycle for each doubleword later.
    script.push(wait(16, 1));
    script.push(Word::Hex(Value::Answer));
    script.push(Word::Expect {
        tlps: expected,
        reads: 0,
    });
    script.extend(text(When::Held, " pass\n"));
    script.extend(text(When::Failed, " FAIL\n"));
    script.extend(text(When::AllHeld, "all pass\n"));
    script.extend(text(When::AnyFailed, "some FAIL\n"));
    script.push(Word::End);
    script
}

fn board(expected: u32, seed: u64) -> BoardSim {
    let verilog = rnic_board::verilog(&script(expected), Sizes::SMALLEST);
    let verilog = verilog.expect("the checks accept the board");
    let mut board = BoardSim::load(&verilog, Form::Emitted, seed).expect("Verilator is there");
    board.run(RUN_CYCLES);
    board
}

#[test]
fn the_report_is_read_again_and_the_self_test_runs_again() {
    let mut board = board(signature_of_the_answer(), 1);
    assert_eq!(board.leds(), PASSED);
    assert_eq!(board.identification(), PART);
    board.select_console();
    assert_eq!(board.read_report(SILENT_SCANS), GOOD);
    // From the first octet on.
    board.scan(Some(b'a'));
    assert_eq!(board.read_report(SILENT_SCANS), GOOD);
    board.scan(Some(b'r'));
    board.run(RUN_CYCLES);
    assert_eq!(board.read_report(SILENT_SCANS), GOOD);
    // An unknown command has no effect.
    assert_eq!(board.scan(Some(b'x')), None);
    assert_eq!(board.read_report(SILENT_SCANS), "");
    // The button starts all over.
    board.press(true);
    board.run(100);
    assert_eq!(
        board.leds() & 0b1111,
        0,
        "in reset no LED of the run lights"
    );
    board.press(false);
    board.run(RUN_CYCLES);
    assert_eq!(board.leds(), PASSED);
    assert_eq!(board.read_report(SILENT_SCANS), GOOD);
}

/// The console works at every phase and length of TCK that it allows.
#[test]
fn the_report_does_not_depend_on_when_bits_cross() {
    for seed in 2..12 {
        let mut board = board(signature_of_the_answer(), seed);
        board.select_console();
        assert_eq!(board.read_report(SILENT_SCANS), GOOD, "seed {seed}");
    }
}

#[test]
fn one_changed_bit_of_a_signature_fails() {
    let mut board = board(signature_of_the_answer() ^ 1 << 17, 1);
    assert_eq!(board.leds(), FAILED);
    board.select_console();
    assert_eq!(board.read_report(SILENT_SCANS), BAD);
}
