//! Packet memory: frames as they come are written into pages; octets of accepted frames are read
//! back as jobs, each one run of full beats.
//!
//! ```text
//! store_*, frame_info --> store --> memory --> (reader's addresses) --> joiner --> joined_*
//!                           |  ^                      ^
//!                  stored <-+  +-- pool <-- release*   +-- reader <-- job, kill, frame tables
//! ```
//!
//! 512 pages of 256 octets. A frame takes whole pages, from its first beat on; `next[page]` links
//! them. Whoever holds a frame (head and tail page) owns its pages, and gives each of them back
//! once, in one chain or in several, first pages first, on the `release` ports. Until then its
//! octets stay where they are. What is left of a frame is read by its first page left; the link to
//! the next frame is kept under its last page.
//!
//! | dropped                                          | counted                         |
//! |--------------------------------------------------|---------------------------------|
//! | `VERDICT_DROP`                                   | no (the front end counts)       |
//! | no free page, or the release queue nearly full   | `count_no_page`: `drop_no_page` |
//! | 16 stored frames wait already                    | `count_no_page`: `drop_no_page` |
//!
//! | path                                       | cycles                              |
//! |--------------------------------------------|-------------------------------------|
//! | `frame_info` to `stored_valid`             | 2                                   |
//! | `job` taken to first `joined_valid`        | 9, 10 if the first word is partial  |
//! | ... for each link followed to `offset`     | 3; links lead one and eight pages on |
//! | page to page within a run                  | 0                                   |
//! | run to run of one job                      | 0 to 6                              |
//! | job to job                                 | 1 to 2                              |
//! | page given back to being free again        | 4, and 3 per page before it         |
//!
//! Synthesis of [`room::Packet64`] (yosys, nextpnr, seed 1, out of context, ECP5-5G -8): 2,235
//! LUT4, 2,457 registers, 203 DPR16X4, 67 DP16KD; 198 MHz. The limit is the multiplexer behind the
//! packet memory, which yosys builds of blocks of 2,048 words.
pub mod types;
pub mod store;
pub mod pool;
pub mod memory;
pub mod planner;
pub mod streamer;
pub mod reader;
pub mod joiner;
pub mod room;

#[cfg(test)]
mod tests;
