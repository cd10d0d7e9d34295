//! Control and status registers: BAR0 as `rnic_abi::registers` lays it out.
//!
//! ```text
//! register bus --> RegisterFile --> enable, max_payload, queue and ring registers
//!                      |   |
//!                      |   +--> TableEngine <--> table bus (request, done, data), fence
//!                      |              |--> TableRelay of each room with tables
//!                      +------> Counters   <-- counts
//! ```
//!
//! Enters: one access at a time on the register bus; pulses to count; the table bus's answers.
//! Leaves: the values of the registers; table requests. A read is answered 4 cycles later, a
//! counter's within 72. No read waits for a table: while an operation runs, `TABLE_COMMAND` reads
//! as busy, and writes to the table registers are ignored. Reads of unused addresses give 0. A
//! value that `rnic_abi::registers` does not allow is not taken; the register keeps what it had.
//!
//! Nothing is dropped here and nothing counted but what others ask to be counted. A reset clears
//! all registers, but not the counters, which stand in RAM.

pub mod counters;
pub mod registers;
pub mod relay;
pub mod routes;
pub mod room;
pub mod tables;

#[cfg(test)]
mod tests;
