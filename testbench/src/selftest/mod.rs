//! The script of the self-test of a board: small runs that were compared with the model, as words
//! for the player beside the core ([`rnic_board::script`]), and what the core must send.
//!
//! ```text
//!  scenes --> play, hardware against model --> transcript --> relevant --> encode --> words
//!                                                  |                                   |
//!                                                  +--- the same TLPs and reads? <-- player
//! ```
//!
//! A signature of what a core sends says nothing by itself. So the words are run on the verilated
//! core exactly as the hardware player runs them, and there is no script unless the core then sends
//! the TLPs and the read requests of the run that was compared with the model, each of the two in
//! the same order. The signatures are those of that run.
//!
//! - [`scenes`]: what is played.
//! - [`relevant`]: a transcript without what does not belong in a script.
//! - [`encode`]: items into words.
//! - [`signer`]: the unit that takes what the core sends.
//! - [`player`]: the words on a verilated core.
//! - [`mod@generate`]: the whole script.
//! - [`board`]: the script on a simulated board, at its pins.

pub mod scenes;
pub mod relevant;
pub mod encode;
pub mod signer;
pub mod player;
pub mod generate;
pub mod board;

pub use generate::{generate, SceneSummary, Script, SelftestError};
pub use player::{play, play_at, Part, Played, Stuck};
pub use signer::{Packet, Signatures};
