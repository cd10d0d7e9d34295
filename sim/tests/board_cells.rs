//! Models of the cells that a board has beside those of the core, in a small design of their own: a
//! PLL whose lock lights LED 0, and a register behind the JTAG port that keeps what was scanned in.

use rnic_sim::{BoardSim, Form};

/// Identification of the LFE5UM5G-85F.
const PART: u32 = 0x8111_3043;
/// Cycles in which the PLL locks, with a margin.
const LOCK_CYCLES: usize = 200;

/// The design. Its register moves at the falling edge of TCK and takes TDI one TCK late, as designs
/// in the JTAG clock's own domain do; nothing of it is the console's.
fn design(feedback: u32) -> String {
    format!(
        "
module board(input clock12, input button_n, output [7:0] led_n);
    wire clock, locked, tck, tdi, select, shift, update;
    EHXPLLL #(.CLKI_DIV(1), .CLKFB_DIV({feedback}), .CLKOP_DIV(10), .FEEDBK_PATH(\"CLKOP\")) pll(
        .CLKI(clock12), .CLKFB(clock), .CLKOP(clock), .LOCK(locked), .RST(1'b0), .STDBY(1'b0));
    reg [8:0] held = 9'h0, leaving = 9'h0, coming = 9'h0;
    reg late = 1'b0;
    JTAGG jtagg(.JTCK(tck), .JTDI(tdi), .JCE1(select), .JSHIFT(shift), .JUPDATE(update),
        .JTDO1(leaving[0]), .JTDO2(1'b0));
    always @(negedge tck) begin
        late <= select && shift;
        if (late) coming <= {{tdi, coming[8:1]}};
        if (select) leaving <= shift ? leaving >> 1 : held;
        if (update) held <= coming;
    end
    assign led_n = {{7'h7f, !locked}};
endmodule
"
    )
}

fn board(feedback: u32, seed: u64) -> BoardSim {
    BoardSim::load(&design(feedback), Form::Emitted, seed).expect("Verilator is there")
}

#[test]
fn the_pll_locks_only_if_the_clock_has_the_frequency_that_its_parameters_say() {
    for (feedback, locks) in [(5, true), (6, false)] {
        let mut board = board(feedback, 1);
        board.run(LOCK_CYCLES);
        assert_eq!(
            board.leds() & 1 == 1,
            locks,
            "feedback divided by {feedback}"
        );
    }
}

/// IEEE 1149.1: after a reset the TAP shows the identification; a scan gives what the register
/// captured, and leaves in it what was shifted in.
#[test]
fn the_tap_identifies_the_part_and_scans_its_register() {
    for seed in 1..20 {
        let mut board = board(5, seed);
        assert_eq!(board.identification(), PART);
        board.select_console();
        assert_eq!(board.scan(None), None, "nothing is in the register yet");
        let sent = [0x00, 0xff, 0xa5, 0x5a, 0x01, 0x80];
        let came: Vec<_> = sent.iter().map(|&octet| board.scan(Some(octet))).collect();
        assert_eq!(
            came[1..],
            sent[..5].iter().copied().map(Some).collect::<Vec<_>>()
        );
        assert_eq!(board.scan(None), Some(0x80));
        assert_eq!(board.scan(None), None);
    }
}
