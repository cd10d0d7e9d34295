//! MPA's FPDU half: the octets of a job become FPDUs that are whole, checked and free of markers.
//!
//! ```text
//! job's octets -> splitter -> marker removal -> placement buffer
//!                    |----> CRC32C, marker check -> FpduVerdict -> ddp
//!                    |----> first words ----------> FpduRecord --> ddp
//!                    \----> JobDone -> stream; kill -> reader
//! ```
//!
//! | enters | leaves |
//! |---|---|
//! | octets of a job from packet memory | one `FpduRecord` per whole FPDU and host frame |
//! | | one `FpduVerdict` per FPDU that is checked: not `FPDU_PLACE`, not a host frame |
//! | | its words in `record.beats` beats of the placement stream (not for `FPDU_CHECK`) |
//!
//! The words of an FPDU run from ULPDU_Length to the CRC, those of a host frame from its first
//! octet, both from lane 0 of a new beat on.
//!
//! | what passes the room | first beat, joined to FPDU | fifth word to record | end to verdict |
//! |---|---|---|---|
//! | FPDU | 5 cycles | 3 | 5 |
//! | FPDU that was checked (`FPDU_PLACE`) | 5 cycles | 3 | no verdict |
//! | host frame | 3 cycles (its length is known before) | 3 | no verdict |
//!
//! The fifth word, without markers, leaves in the second placed beat of 128 bits, which is complete
//! with the second FPDU beat, or with the third where a marker stands before its end; of 512 bits
//! it leaves in the first. A record of fewer words comes 3 cycles after the last beat; where that
//! beat flushes, 4.
//!
//! Errors found here travel in the verdict and in the record (`ulpdu_length`); ddp answers
//! and counts them (`refuse_mpa_crc`, `refuse_mpa_marker`, `refuse_mpa_zero_length`), so that a
//! connection's errors are decided in one place. Nothing is dropped here.
//!
//! Sources: RFC 5044, and the older draft where MPA-011 names it.

pub mod room;
pub mod splitter;
pub mod split_control;
pub mod job_queue;
pub mod window;
pub mod head_word;
pub mod length;
pub mod cursor;
pub mod span;
pub mod beat_output;
pub mod job_end;
pub mod admission;
pub mod strip;
pub mod compact;
pub mod marker_check;
pub mod record;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
