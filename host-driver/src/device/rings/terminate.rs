//! The payload of the Terminate message that a stopped connection owes its peer.
//!
//! ```text
//!  Completion::Error --> layer, type, code, length --\
//!                    --> RefusedHeader ---------------+--> [ terminate ] --> octets for queue 2
//! ```
//!
//! Nothing is sent here: what an endpoint's connections send is `rnic_iwarp::terminate`'s.

use super::completion::{Completion, RefusedHeader};
use rnic_wire::ddp::errors::Cause;
use rnic_wire::ddp::terminate::{Terminate, TerminateRepr};

impl Completion {
    /// Payload of the Terminate for the peer of a stopped connection, the first message on queue 2
    /// (RFC 5040 section 4.8). `None` unless the completion is an error.
    pub fn terminate(&self) -> Option<Vec<u8>> {
        let Self::Error {
            layer,
            error_type,
            code,
            ulpdu_length,
            header,
            ..
        } = self
        else {
            return None;
        };
        let repr = TerminateRepr {
            cause: Cause {
                layer: *layer as u8,
                error_type: *error_type as u8,
                code: *code as u8,
            },
            // M and D go together: without a header the segment is not known, only the error.
            segment_length: header.map(|_| *ulpdu_length as u16),
            ddp_header: header.as_ref().map_or(&[], RefusedHeader::octets),
            rdmap_header: &[],
        };
        let mut octets = vec![0; repr.buffer_len()];
        repr.emit(&mut Terminate::new_unchecked(&mut octets));
        Some(octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_abi::cqe::{KIND_ERROR, KIND_RECEIVE};
    use rnic_abi::errors::{StreamError, ALL};

    /// An Error entry of connection 5 for a last segment of version 1 and 46 octets.
    fn entry(error: StreamError, is_tagged: bool, opcode: u32) -> [u32; 8] {
        let (layer, error_type, code) = error.terminate();
        let head = u32::from(is_tagged) | 1 << 1 | 1 << 2 | 1 << 4;
        let word_0 = KIND_ERROR | opcode << 4 | head << 10 | 5 << 16;
        let word_1 = layer | error_type << 4 | code << 8 | 46 << 16;
        let (stag, high, low, mo) = (0xdead_beef, 0x0102_0304, 0x0506_0708, 0x090a_0b0c);
        let mo = if is_tagged { 0 } else { mo };
        [word_0, word_1, 0x1234, stag, high, low, mo, 0]
    }

    fn terminate(words: [u32; 8]) -> Vec<u8> {
        let octets = Completion::decode(words).terminate();
        octets.expect("an error has a Terminate")
    }

    /// RDMAP-016, RDMAP-022: a Write out of bounds, octet by octet.
    #[test]
    fn a_refused_write_is_reported_with_its_header() {
        let octets = terminate(entry(StreamError::DdpBounds, true, 0));
        assert_eq!(octets[..6], [0x11, 0x01, 0xc0, 0, 0, 46]);
        let header = [0xc1, 0x40, 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(octets[6..], header);
    }

    /// RDMAP-016: a Send with Invalidate, with its full queue number.
    #[test]
    fn a_refused_send_is_reported_with_its_header() {
        let octets = terminate(entry(StreamError::DdpQn, false, 4));
        assert_eq!(octets[..6], [0x12, 0x01, 0xc0, 0, 0, 46]);
        let header = [
            0x41, 0x44, 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
        ];
        assert_eq!(octets[6..], header);
    }

    /// RDMAP-017, RDMAP-018, RDMAP-019: every error of `rnic_abi::errors`.
    #[test]
    fn every_error_has_its_layer_type_and_code() {
        for error in ALL {
            let octets = terminate(entry(error, true, 0));
            let (layer, error_type, code) = error.terminate();
            assert_eq!(octets[..2], [(layer << 4 | error_type) as u8, code as u8]);
        }
    }

    #[test]
    fn a_terminate_without_a_valid_header_has_the_cause_alone() {
        let crc = entry(StreamError::MpaCrc, false, 0);
        assert_eq!(terminate(crc), [0x20, 0x02, 0, 0]);
        let mut short = entry(StreamError::DdpShortHeader, false, 0);
        short[1] = short[1] & 0xffff | 17 << 16;
        assert_eq!(terminate(short), [0x10, 0x00, 0, 0]);
        let mut short_tagged = entry(StreamError::DdpShortHeader, true, 0);
        short_tagged[1] = short_tagged[1] & 0xffff | 13 << 16;
        assert_eq!(terminate(short_tagged), [0x10, 0x00, 0, 0]);
    }

    #[test]
    fn other_completions_have_no_terminate() {
        let receive = Completion::decode([KIND_RECEIVE, 1, 2, 0, 4, 5, 0, 0]);
        assert_eq!(receive.terminate(), None);
    }
}
