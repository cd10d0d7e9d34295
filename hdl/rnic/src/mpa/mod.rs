//! MPA: from octets accepted in order to whole FPDUs without markers (RFC 5044).
//!
//! ```text
//! joined octets, started jobs --> [ room ] --> record (one per FPDU) --> ddp
//!                                   |  \----> placement stream (its words) --> placement
//!                                   \--> job_done, kill --> stream manager, packet reader
//! ```
//!
//! **Enters** `joined_*`: the octets of one job after another, lane 0 first, `joined_last` with the
//! last beat of a job; `started`: the jobs, in the same order, each before its octets. A job of a
//! stream begins at an FPDU's first octet, a leading marker included.
//!
//! **Leaves** For each whole FPDU one `record` with the verdicts of CRC32C and markers, and its
//! words from ULPDU_Length to the CRC, without markers, in `record.beats` beats of the placement
//! stream (none for `FPDU_CHECK`). For each stream job one `job_done`, after the last beat of the
//! last FPDU that was handed on; before it, nothing is known of what comes next. For a host job
//! one record, and the frame in the placement stream, octet 0 in lane 0.
//!
//! | what passes | first joined beat to first FPDU beat | its trigger beat to record |
//! |---|---|---|
//! | FPDU | 5 cycles | 6 after its last beat |
//! | FPDU that was checked (`FPDU_PLACE`) | 5 cycles | 6 after its fourth beat |
//! | host frame | 3 cycles (its length is known before) | 6 after its first beat |
//!
//! Nothing is dropped here and nothing counted: a wrong CRC, a wrong marker and a ULPDU_Length of
//! zero travel in the record, and `ddp` refuses and counts them (`refuse_mpa_crc`,
//! `refuse_mpa_marker`, `refuse_mpa_zero_length`). An FPDU that is not whole stays in packet memory.
//!
//! Backpressure: the placement buffer and the record's register slice close the gate in front of
//! them; `joined_ready` follows. A record never waits for beats that are still to come in front
//! of the gate, except for `FPDU_HOST` and `FPDU_PLACE`, whose record comes first.
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
