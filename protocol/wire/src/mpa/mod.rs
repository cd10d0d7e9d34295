//! MPA: framing over a TCP stream (RFC 5044; draft-ietf-rddp-mpa-02 for revision 0; RFC 6581 for
//! revision 2).
//!
//! - [`startup`]: Request and Reply frames, with the enhanced data of revision 2.
//! - [`fpdu`]: ULPDU_Length, PAD and CRC of one FPDU without markers; [`fpdu::Framing`] writes
//!   FPDUs into a stream, with or without markers.
//! - [`marker`]: positions and values of markers.
//! - [`crc32c`]: the check over an FPDU.

pub mod crc32c;
pub mod marker;
pub mod fpdu;
pub mod startup;
