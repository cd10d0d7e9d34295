//! Why a connection was stopped: layer, type and code as in a Terminate message
//! (RFC 5040 section 4.8, RFC 5041 section 7.2, RFC 5044 section 8).
//!
//! FPDUs are checked in the order of the stream, each in the order of this table. The first check
//! that fails decides; nothing of that FPDU is placed, and nothing of the stream after it.
//!
//! | FPDU | check | error |
//! |---|---|---|
//! | any | CRC32C, if the connection has it | [`StreamError::MpaCrc`] |
//! | any | markers, if the connection has them | [`StreamError::MpaMarker`] |
//! | any | ULPDU_Length is not 0, unless it is the first FPDU of the stream | [`StreamError::MpaLocalCatastrophic`] |
//! | any | ULPDU_Length is at least 14 octets (tagged) or 18 octets (untagged) | [`StreamError::DdpShortHeader`] |
//! | tagged | DDP version | [`StreamError::DdpTaggedVersion`] |
//! | untagged | DDP version | [`StreamError::DdpUntaggedVersion`] |
//! | any | RDMAP version | [`StreamError::RdmapVersion`] |
//! | untagged | QN is 0, 1 or 2, and that queue is open | [`StreamError::DdpQn`] |
//! | any | opcode fits: tagged 0 or 2; QN 0: 3 to 6; QN 1: 1; QN 2: 7 | [`StreamError::RdmapOpcode`] |
//! | tagged, with payload | the STag is known, its key is right, its region is valid | [`StreamError::DdpStag`] |
//! | | the region is of the connection's Protection Domain, and, if bound, of this connection | [`StreamError::DdpAssociation`] |
//! | | the region has the right: `RIGHT_REMOTE_WRITE` for opcode 0, `RIGHT_READ_SINK` for opcode 2 | [`StreamError::RdmapAccess`] |
//! | | TO plus length is less than 2^64 | [`StreamError::DdpWrap`] |
//! | | all octets are in the region | [`StreamError::DdpBounds`] |
//! | Read Response | it continues the oldest outstanding read, and ends where that ends | [`StreamError::RdmapReadResponse`] |
//! | untagged | the MSN is not before the expected one | [`StreamError::DdpMsn`] |
//! | | a buffer is posted for the MSN | [`StreamError::DdpNoBuffer`] |
//! | | the MSN is the expected one | [`StreamError::DdpMsn`] |
//! | | MO is in the buffer; without payload it may be at its end | [`StreamError::DdpMo`] |
//! | | MO plus payload is in the buffer | [`StreamError::DdpTooLong`] |
//! | Send with Invalidate, last segment | the STag can be invalidated: known, valid, associated, `RIGHT_REMOTE_INVALIDATE` | [`StreamError::RdmapInvalidate`] |
//! | completes a message or a read | the completion queue has room | [`StreamError::CqOverflow`] |
//!
//! **Nothing to place.** An FPDU of ULPDU_Length 0 is good as the first one of a stream alone (RFC
//! 6581 section 8): it has no completion. A tagged segment without payload writes nothing, and its
//! STag and TO are not checked (RFC 5041 section 5.2); a Read Response without payload, with L,
//! ends a read of no octets. An untagged segment without payload completes its message with L like
//! any other, also in a buffer of 0 octets.

use crate::counters::{self, Counter, FIRST_REFUSAL};

/// RDMAP, the layer number in a Terminate.
pub const LAYER_RDMAP: u32 = 0;
/// DDP, the layer number in a Terminate.
pub const LAYER_DDP: u32 = 1;
/// MPA, the layer number in a Terminate.
pub const LAYER_MPA: u32 = 2;

/// An error a connection can stop with. The discriminant is the device's own number for it; 0 means
/// no error.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum StreamError {
    /// CRC32C of an FPDU is wrong.
    MpaCrc = 1,
    /// A marker and the length chain disagree on an FPDU's start.
    MpaMarker = 2,
    /// A local catastrophic error of MPA: ULPDU_Length is zero in an FPDU other than the first of
    /// its stream. No document has a code of its own for it (MPA-005).
    MpaLocalCatastrophic = 3,
    /// The ULPDU is shorter than its DDP header.
    DdpShortHeader = 4,
    /// Wrong DDP version in a tagged segment.
    DdpTaggedVersion = 5,
    /// Wrong DDP version in an untagged segment.
    DdpUntaggedVersion = 6,
    /// Wrong RDMAP version.
    RdmapVersion = 7,
    /// Reserved opcode, or an opcode that does not belong to this buffer model or queue.
    RdmapOpcode = 8,
    /// The STag is unknown, has another key, or is not valid.
    DdpStag = 9,
    /// The STag is of another Protection Domain or stream.
    DdpAssociation = 10,
    /// The region's rights do not allow the operation.
    RdmapAccess = 11,
    /// TO plus length exceeds 2^64.
    DdpWrap = 12,
    /// The octets are not inside of the region.
    DdpBounds = 13,
    /// The stream has no queue of this number.
    DdpQn = 14,
    /// No receive buffer is posted for the MSN.
    DdpNoBuffer = 15,
    /// The MSN has been consumed already.
    DdpMsn = 16,
    /// The message offset is beyond the buffer.
    DdpMo = 17,
    /// The message is longer than its buffer.
    DdpTooLong = 18,
    /// The Invalidate STag of a Send with Invalidate cannot be invalidated by this stream.
    RdmapInvalidate = 19,
    /// A Read Response does not continue the oldest outstanding read, or there is none.
    RdmapReadResponse = 20,
    /// The FPDU completes a message or a read, and the completion queue of its connection has no
    /// room for the entry. Nothing of the FPDU is placed, and no Error entry is written: see
    /// [`CQ_OVERFLOW`](crate::registers::CQ_OVERFLOW).
    CqOverflow = 21,
}

/// Every error, in the order of its number.
pub const ALL: [StreamError; 21] = [
    StreamError::MpaCrc,
    StreamError::MpaMarker,
    StreamError::MpaLocalCatastrophic,
    StreamError::DdpShortHeader,
    StreamError::DdpTaggedVersion,
    StreamError::DdpUntaggedVersion,
    StreamError::RdmapVersion,
    StreamError::RdmapOpcode,
    StreamError::DdpStag,
    StreamError::DdpAssociation,
    StreamError::RdmapAccess,
    StreamError::DdpWrap,
    StreamError::DdpBounds,
    StreamError::DdpQn,
    StreamError::DdpNoBuffer,
    StreamError::DdpMsn,
    StreamError::DdpMo,
    StreamError::DdpTooLong,
    StreamError::RdmapInvalidate,
    StreamError::RdmapReadResponse,
    StreamError::CqOverflow,
];

impl StreamError {
    /// Layer, error type and error code of a Terminate.
    pub const fn terminate(self) -> (u32, u32, u32) {
        match self {
            Self::MpaCrc => (LAYER_MPA, 0, 0x02),
            Self::MpaMarker => (LAYER_MPA, 0, 0x03),
            Self::MpaLocalCatastrophic => (LAYER_MPA, 0, 0x05),
            Self::DdpShortHeader => (LAYER_DDP, 0, 0x00),
            Self::DdpTaggedVersion => (LAYER_DDP, 1, 0x04),
            Self::DdpUntaggedVersion => (LAYER_DDP, 2, 0x06),
            Self::RdmapVersion => (LAYER_RDMAP, 2, 0x05),
            Self::RdmapOpcode => (LAYER_RDMAP, 2, 0x06),
            Self::DdpStag => (LAYER_DDP, 1, 0x00),
            Self::DdpAssociation => (LAYER_DDP, 1, 0x02),
            Self::RdmapAccess => (LAYER_RDMAP, 1, 0x02),
            Self::DdpWrap => (LAYER_DDP, 1, 0x03),
            Self::DdpBounds => (LAYER_DDP, 1, 0x01),
            Self::DdpQn => (LAYER_DDP, 2, 0x01),
            Self::DdpNoBuffer => (LAYER_DDP, 2, 0x02),
            Self::DdpMsn => (LAYER_DDP, 2, 0x03),
            Self::DdpMo => (LAYER_DDP, 2, 0x04),
            Self::DdpTooLong => (LAYER_DDP, 2, 0x05),
            Self::RdmapInvalidate => (LAYER_RDMAP, 1, 0x09),
            Self::RdmapReadResponse => (LAYER_RDMAP, 2, 0x06),
            // A local catastrophic error: the peer has done nothing wrong.
            Self::CqOverflow => (LAYER_RDMAP, 0, 0x00),
        }
    }

    /// The counter of FPDUs that it stops, which is named after the cause.
    pub const fn counter(self) -> Counter {
        counters::ALL[FIRST_REFUSAL + self as usize - 1]
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MpaCrc => "mpa_crc",
            Self::MpaMarker => "mpa_marker",
            Self::MpaLocalCatastrophic => "mpa_local_catastrophic",
            Self::DdpShortHeader => "ddp_short_header",
            Self::DdpTaggedVersion => "ddp_tagged_version",
            Self::DdpUntaggedVersion => "ddp_untagged_version",
            Self::RdmapVersion => "rdmap_version",
            Self::RdmapOpcode => "rdmap_opcode",
            Self::DdpStag => "ddp_stag",
            Self::DdpAssociation => "ddp_association",
            Self::RdmapAccess => "rdmap_access",
            Self::DdpWrap => "ddp_wrap",
            Self::DdpBounds => "ddp_bounds",
            Self::DdpQn => "ddp_qn",
            Self::DdpNoBuffer => "ddp_no_buffer",
            Self::DdpMsn => "ddp_msn",
            Self::DdpMo => "ddp_mo",
            Self::DdpTooLong => "ddp_too_long",
            Self::RdmapInvalidate => "rdmap_invalidate",
            Self::RdmapReadResponse => "rdmap_read_response",
            Self::CqOverflow => "cq_overflow",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each has a counter of its own, of its name; the code that stands for several faults has the
    /// name that the documents give it (RFC 6581: 0x05 is local catastrophic), and its
    /// counter that of the fault.
    #[test]
    fn errors_have_counters_that_name_the_cause() {
        for error in ALL {
            let counter = error.counter().name();
            let cause = counter.strip_prefix("refuse_").expect("it counts refusals");
            match error {
                StreamError::MpaLocalCatastrophic => {
                    assert_eq!(error.terminate(), (LAYER_MPA, 0, 0x05));
                    assert_eq!(
                        (error.name(), cause),
                        ("mpa_local_catastrophic", "mpa_zero_length")
                    );
                }
                _ => assert_eq!(error.name(), cause),
            }
        }
    }
}
