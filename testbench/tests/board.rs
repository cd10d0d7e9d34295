//! A board at its pins: the self-test passes, and fails when something is wrong; the console works
//! whenever bits cross; the top elaborates. TCK has another phase and length at each edge, and each
//! crossing shows a change a cycle late at random.

use indicatif::ProgressBar;
use rnic_sim::verilator::workspace_root;
use rnic_sim::{netlist, BoardSim, Form};
use rnic_testbench::selftest::board::{run_on_board, verilog};
use rnic_testbench::selftest::{generate, Script};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Identification of the LFE5UM5G-85F.
const PART: u32 = 0x8111_3043;
/// LEDs of a run that has passed, with all four scenes.
const PASSED: u8 = 0b1111_0101;
/// Scans without an octet after which the report has ended.
const SILENT_SCANS: usize = 4;
/// What a short run leaves out: yosys is compiled when it first runs, for more than a minute.
const YOSYS: &str = "what yosys reads";
/// The same: a simulation of its own, and for its script a core that only `selftest.rs` needs, too.
const BOARD: &str = "the board in simulation";
/// Cycles in which the self-test ends, with a margin.
const RUN_CYCLES: usize = 70_000;

/// One script for all tests.
fn script() -> &'static Script {
    static SCRIPT: OnceLock<Script> = OnceLock::new();
    SCRIPT.get_or_init(|| generate(&ProgressBar::hidden()).expect("the scenes are sound"))
}

fn board(seed: u64) -> BoardSim {
    let verilog = verilog(script()).expect("the checks accept the board");
    BoardSim::load(&verilog, Form::Emitted, seed).expect("Verilator is there")
}

#[test]
fn the_board_passes_and_fails_when_a_bit_of_a_frame_or_of_a_signature_is_wrong() {
    if rnic_effort::is_left_out(BOARD) {
        return;
    }
    let runs = run_on_board(script(), Form::Emitted, 1, &ProgressBar::hidden());
    let runs = runs.expect("Verilator is there");
    for run in &runs {
        assert!(run.is_right(), "{run:?}");
    }
    assert_eq!(runs.iter().filter(|run| run.must_pass).count(), 2);
    assert_eq!(runs[0].report, script().report);
    assert_eq!(runs[0].leds, PASSED);
    // The scene that is wrong, and no other.
    for run in runs.iter().filter(|run| !run.must_pass) {
        assert_eq!(run.report.matches("FAIL").count(), 2, "{}", run.report);
        assert!(run.report.contains("in order FAIL\n"), "{}", run.report);
    }
}

#[test]
fn the_console_starts_over_and_takes_no_unknown_command() {
    if rnic_effort::is_left_out(BOARD) {
        return;
    }
    let mut board = board(1);
    assert_eq!(board.identification(), PART);
    board.run(RUN_CYCLES);
    board.select_console();
    assert_eq!(board.read_report(SILENT_SCANS), script().report);
    assert_eq!(board.scan(Some(b'x')), None);
    assert_eq!(board.read_report(SILENT_SCANS), "");
    board.scan(Some(b'a'));
    assert_eq!(board.read_report(SILENT_SCANS), script().report);
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
}

/// The first octets of the report, at many phases and lengths of TCK.
#[test]
fn the_report_does_not_depend_on_when_bits_cross() {
    if rnic_effort::is_left_out(BOARD) {
        return;
    }
    for seed in 2..12 {
        let mut board = board(seed);
        board.select_console();
        // They are there long before the first scene has ended.
        let title: Vec<u8> = (0..19).map_while(|_| board.scan(None)).collect();
        assert_eq!(
            String::from_utf8_lossy(&title),
            "Ferrowarp self-test",
            "seed {seed}"
        );
    }
}

#[test]
fn yosys_elaborates_the_top_and_names_what_is_missing() {
    if rnic_effort::is_left_out(YOSYS) {
        return;
    }
    let board = verilog(script()).expect("the checks accept the board");
    netlist::check_hierarchy(&board, rnic_board::TOP).expect("every module is there");
    let broken = board.replace("EHXPLLL #(", "EHXPLLX #(");
    let error = netlist::check_hierarchy(&broken, rnic_board::TOP);
    let error = error.expect_err("there is no such cell").to_string();
    assert!(error.contains("EHXPLLX"), "{error}");
}

/// A PLL, and a register that takes `data` of the pin.
fn crossing(register: &str) -> String {
    format!(
        "module board(input clock12, input button_n, output reg led_n);\nwire clock;\n\
         EHXPLLL #(.CLKI_DIV(1), .CLKFB_DIV(5), .CLKOP_DIV(10), .FEEDBK_PATH(\"CLKOP\")) pll(\n\
         .CLKI(clock12), .CLKFB(clock), .CLKOP(clock), .RST(1'b0), .STDBY(1'b0));\n{register}\n\
         endmodule\n"
    )
}

/// `constraints/bitstream.py --check` on a small design.
fn check(name: &str, register: &str) -> Output {
    let root = workspace_root();
    let folder: PathBuf = root.join("target/crossings").join(name);
    std::fs::create_dir_all(&folder).expect("target is ours");
    let design = folder.join("board.v");
    std::fs::write(&design, crossing(register)).expect("target is ours");
    let mut command = Command::new(root.join(".tools/venv/bin/python3"));
    command.arg(root.join("constraints/bitstream.py"));
    command.arg("--check").arg("--out").arg(&folder).arg(design);
    command.output().expect("python3 is there")
}

#[test]
fn a_bit_of_no_clock_reaches_nothing_but_a_synchroniser() {
    if rnic_effort::is_left_out(YOSYS) {
        return;
    }
    let synced = "(* keep *) reg crossing_first;\nalways @(posedge clock) begin\n\
                  crossing_first <= button_n;\nled_n <= crossing_first;\nend";
    let good = check("synced", synced);
    let said = String::from_utf8_lossy(&good.stdout);
    assert!(
        good.status.success() && said.contains("crossings: 1 bits"),
        "{good:?}"
    );
    let broken = [
        ("bare", "always @(posedge clock) led_n <= button_n;"),
        ("gate", "always @(posedge clock) led_n <= button_n ^ led_n;"),
        (
            "other_clock",
            "reg half = 0; always @(posedge clock) half <= !half;\n\
             always @(posedge clock12) led_n <= half;",
        ),
        ("no_pll", "always @(posedge clock12) led_n <= !led_n;"),
    ];
    for (name, register) in broken {
        let output = check(name, register);
        assert_eq!(output.status.code(), Some(2), "{name}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with("bitstream: "), "{name}: {said}");
    }
}
