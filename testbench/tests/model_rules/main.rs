//! The model decides as the tables of `ARCHITECTURE.md` say: one test for each row.
//!
//! - [`drops`]: the front end, down to a TCP segment with sane header.
//! - [`acceptance`]: what becomes of segments of an offloaded connection.
//! - [`framing`]: FPDU boundaries, markers, CRC32C.
//! - [`beyond_gap`]: what may be in memory of FPDUs beyond a gap.
//! - [`refusals`]: why DDP and RDMAP stop a stream, first failing test first.
//! - [`messages`]: what is placed and completed.
//! - [`properties`]: no segmentation changes the result; no flipped bit is placed.
//! - [`contexts`]: a connection set up table by table.
//!
//! The row "not enabled" has no test: the model is always enabled.

mod rig;
mod drops;
mod acceptance;
mod framing;
mod beyond_gap;
mod reads;
mod refusals;
mod messages;
mod properties;
mod contexts;
