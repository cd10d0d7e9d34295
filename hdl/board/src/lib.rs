//! Boards that the core is configured into, with a self-test in place of a bus and a wire.
//!
//! | in  | a script ([`script`])                                                     |
//! | out | Verilog whose top module is [`TOP`], with a board's pins and nothing else |
#![deny(missing_docs)]
// Kernels are translated: a match arm cannot have a guard, so its condition is inside the arm.
#![allow(clippy::collapsible_match)]

pub mod script;
mod bit_sync;
mod pll;
mod jtag_tap;
mod script_rom;
mod startup;
mod player;
mod signature;
mod report;
mod console;
mod leds;
mod board;

use board::Board;
use rnic_abi::sizes::Sizes;
use rnic_hdl::top::emit_with;
use rnic_hdl_tools::emit::{verilog_named, EmitError};
use script::Word;

/// Name of the top module.
pub const TOP: &str = "board";

pub use pll::CORE_MHZ;

/// The Verilog of the board with this script; its core has tables of these sizes.
///
/// # Errors
/// The checks or the emission lint refuse the board.
///
/// # Panics
/// If the script is longer than its memory ([`script::WORDS`]).
pub fn verilog(script: &[Word], sizes: Sizes) -> Result<String, EmitError> {
    let script = script.to_vec();
    emit_with(sizes, move || {
        verilog_named(TOP, &Board::standalone(&script))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The top has the board's pins, and the lint accepts all that is behind them.
    #[test]
    fn the_board_is_emitted() {
        let script = [Word::Begin, Word::End];
        let text = verilog(&script, Sizes::SMALLEST).expect("the checks accept the board");
        assert!(text.contains("module board(clock12,button_n,led_n);"));
    }
}
