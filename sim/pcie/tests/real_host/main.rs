//! A host and a link as they are: credits that run out, stalls, answers that are split and
//! reordered at random, faults, resets.
//!
//! - `bench`: host and device, joined.
//! - `flow_control`: credits and stalls.
//! - `answers`: splits, order, delays.
//! - `faults`: each fault and its error.
//! - `reset`: what is in flight when the link or the function is reset.

mod bench;
mod flow_control;
mod answers;
mod faults;
mod reset;
