//! The whole engine with a host that answers in any legal way, and in every wrong one.
mod bench;
pub mod completer;
mod rig;
mod ranges;
mod pace;
mod faults;
mod resets;
mod lockstep;
