//! A board in simulation: its pins, and a JTAG host at them.
//!
//! ```text
//! board (Verilog or netlist) + models of its PLL and TAP --> Verilator --> [`BoardSim`]
//! [`BoardSim::scan`] --> TMS, TDI, TCK --> TAP --> console
//! ```
//!
//! | latency | a scan of 9 bits takes 14 periods of TCK                               |
//! | units   | cycles of the core's clock; TCK's halves are drawn from the seed       |
//! | source  | IEEE 1149.1; the model of the TAP is `sim/cells/jtagg.v`               |

use crate::error::SimError;
use crate::form::Form;
use crate::netlist;
use crate::ports::{port, words, Port};
use crate::verilator::{build, Model, Options};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;

/// Models of the cells that a board has beside those of the core, and its bench.
const CELLS: [&str; 3] = [
    include_str!("../cells/jtagg.v"),
    include_str!("../cells/ehxplll.v"),
    include_str!("../cells/board_bench.v"),
];
/// Cycles of half a period of TCK: random phase and ratio, within what the console allows.
pub const TCK_HALF_CYCLES: RangeInclusive<usize> = 6..=11;
/// Bits of the part's instructions, and the ones that are used here.
const INSTRUCTION_BITS: usize = 8;
const ER1: u32 = 0x32;
/// Bits of a scan of the console, and the one that says that there is an octet.
const SCAN_BITS: usize = 9;
const HAS_OCTET: u32 = 1 << 8;
/// Clocks with TMS high that bring a TAP from any state to its reset.
const RESET_CLOCKS: usize = 5;

fn inputs() -> [Port; 5] {
    [
        port("reset", 1),
        port("button_n", 1),
        port("tck", 1),
        port("tms", 1),
        port("tdi", 1),
    ]
}

fn outputs() -> [Port; 2] {
    [port("tdo", 1), port("led_n", 8)]
}

/// Pins that the host drives, in the order of [`inputs`].
const BUTTON_N: usize = 1;
const TCK: usize = 2;
const TMS: usize = 3;
const TDI: usize = 4;

/// A board with power, its button up, and a JTAG host.
#[derive(Debug)]
pub struct BoardSim {
    model: Model,
    inputs: [u32; 5],
    outputs: [u32; 2],
    random: ChaCha8Rng,
    cycles: u64,
}

impl BoardSim {
    /// Builds (unless it was) and loads the board of this Verilog, whose top module is `board`; of
    /// the netlist, if the form says so. TCK and what crossings show are drawn from `seed`.
    ///
    /// # Errors
    /// A tool is missing or fails.
    pub fn load(verilog: &str, form: Form, seed: u64) -> Result<Self, SimError> {
        let board = match form {
            Form::Netlist => netlist::text(verilog, "board")?,
            Form::Emitted | Form::Silicon => verilog.to_owned(),
        };
        let (inputs, outputs) = (inputs(), outputs());
        let library = build(&Options {
            verilog: &format!("{board}\n{}", CELLS.concat()),
            inputs: &inputs,
            outputs: &outputs,
            trace: false,
            form,
            gated: &[],
            training: None,
        })?;
        let model_seed = (seed % 0x7fff_fffe) as u32 + 1;
        let model = Model::load(&library, words(&inputs), words(&outputs), None, model_seed)?;
        let mut board = Self {
            model,
            inputs: [0; 5],
            outputs: [0; 2],
            random: ChaCha8Rng::seed_from_u64(seed),
            cycles: 0,
        };
        board.inputs[BUTTON_N] = 1;
        Ok(board)
    }

    /// Simulates some cycles of the core's clock.
    pub fn run(&mut self, cycles: usize) {
        for _ in 0..cycles {
            self.model.cycle(&self.inputs, &mut self.outputs, false);
        }
        self.cycles += cycles as u64;
    }

    /// Cycles so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The LEDs that light, LED 0 in bit 0.
    pub fn leds(&self) -> u8 {
        !(self.outputs[1] as u8)
    }

    /// Presses the button, or lets it go.
    pub fn press(&mut self, pressed: bool) {
        self.inputs[BUTTON_N] = u32::from(!pressed);
    }

    /// One period of TCK; returns TDO as it was when TCK rose.
    fn clock(&mut self, tms: bool, tdi: bool) -> bool {
        self.inputs[TMS] = u32::from(tms);
        self.inputs[TDI] = u32::from(tdi);
        self.half(false);
        let tdo = self.outputs[0] != 0;
        self.half(true);
        tdo
    }

    fn half(&mut self, tck: bool) {
        self.inputs[TCK] = u32::from(tck);
        let cycles = self.random.random_range(TCK_HALF_CYCLES);
        self.run(cycles);
    }

    fn walk(&mut self, tms: &[bool]) {
        for &tms in tms {
            self.clock(tms, false);
        }
    }

    /// From any state to Run-Test/Idle.
    fn reset_tap(&mut self) {
        self.walk(&[true; RESET_CLOCKS]);
        self.walk(&[false]);
    }

    /// From Shift back to Run-Test/Idle, with `bits` bits of `value`, lowest first; what came back.
    fn shift(&mut self, bits: usize, value: u32) -> u32 {
        let mut out = 0;
        for bit in 0..bits {
            let tdo = self.clock(bit == bits - 1, value >> bit & 1 == 1);
            out |= u32::from(tdo) << bit;
        }
        self.walk(&[true, false]);
        out
    }

    /// Resets the TAP and reads the part's identification.
    pub fn identification(&mut self) -> u32 {
        self.reset_tap();
        self.walk(&[true, false, false]);
        self.shift(32, 0)
    }

    /// Resets the TAP and selects the console.
    pub fn select_console(&mut self) {
        self.reset_tap();
        self.walk(&[true, true, false, false]);
        self.shift(INSTRUCTION_BITS, ER1);
    }

    /// One scan of the console: sends a command, if there is one, and returns the next octet of the
    /// report, if there is one.
    pub fn scan(&mut self, command: Option<u8>) -> Option<u8> {
        self.walk(&[true, false, false]);
        let value = command.map_or(0, |command| HAS_OCTET | u32::from(command));
        let out = self.shift(SCAN_BITS, value);
        (out & HAS_OCTET != 0).then_some(out as u8)
    }

    /// Scans until nothing has come for `scans` scans.
    pub fn read_report(&mut self, scans: usize) -> String {
        let mut octets = vec![];
        let mut silent = 0;
        while silent < scans {
            match self.scan(None) {
                Some(octet) => {
                    octets.push(octet);
                    silent = 0;
                }
                None => silent += 1,
            }
        }
        String::from_utf8_lossy(&octets).into_owned()
    }
}
