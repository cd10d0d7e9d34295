//! The whole device, verilated, in one test program: a test here may take minutes of one core, and
//! the others run beside it.
//!
//! - [`rtl_captures`], [`waveform`]: captures of other stacks, and what is drawn of them.
//! - [`out_of_order`], [`crowded`], [`closed_loop`]: gaps, and more than packet memory holds.
//! - [`bar_accesses`], [`interrupts`], [`read_faults`], [`transmit`]: the host's side.
//! - [`reset`], [`churn`], [`sizes`]: what is left of a reset and of closed connections, and what
//!   the smallest tables hold.

mod bar_accesses;
mod churn;
mod closed_loop;
mod crowded;
mod interrupts;
mod out_of_order;
mod read_faults;
mod reset;
mod rtl_captures;
mod sizes;
mod transmit;
mod waveform;
