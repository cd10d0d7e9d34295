//! The errors that a Terminate names: a layer, a type of the layer, a code of the type.
//!
//! One table for each layer: RDMAP's is RFC 5040 section 4.8, DDP's is RFC 5041 section 7.2, MPA's
//! is RFC 5044 section 8 with the codes of RFC 6581. The same error has different numbers in RDMAP
//! and DDP (TO wrap: 4 and 3).

use core::fmt;

/// Layer, type and code of an error (RDMAP-016, RDMAP-017).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cause {
    /// Layer, four bits.
    pub layer: u8,
    /// Error type of the layer, four bits.
    pub error_type: u8,
    /// Error code of the type.
    pub code: u8,
}

/// Layer number of RDMAP.
pub const LAYER_RDMAP: u8 = 0;
/// Layer number of DDP.
pub const LAYER_DDP: u8 = 1;
/// Layer number of the LLP, here MPA.
pub const LAYER_LLP: u8 = 2;

macro_rules! table {
    ($(#[$table_doc:meta])* $table:ident, $layer:ident:
     $($(#[$doc:meta])* $cause:ident = $error_type:literal, $code:literal, $name:literal;)*) => {
        $($(#[$doc])* pub const $cause: Cause =
            Cause { layer: $layer, error_type: $error_type, code: $code };)*
        $(#[$table_doc])*
        pub const $table: &[(Cause, &str)] = &[$(($cause, $name),)*];
    };
}

table! {
    /// RDMAP: type 0 local catastrophic, 1 remote protection, 2 remote operation (RDMAP-018, -019).
    RDMAP_TABLE, LAYER_RDMAP:
    /// Local catastrophic error.
    RDMAP_CATASTROPHIC = 0, 0x00, "local catastrophic";
    /// The STag is not valid.
    RDMAP_STAG = 1, 0x00, "invalid STag";
    /// Base or bounds violation.
    RDMAP_BOUNDS = 1, 0x01, "base or bounds";
    /// Access rights violation.
    RDMAP_ACCESS = 1, 0x02, "access rights";
    /// The STag is not associated with the stream.
    RDMAP_ASSOCIATION = 1, 0x03, "STag of another stream";
    /// TO plus length exceeds 2^64.
    RDMAP_WRAP = 1, 0x04, "TO wrap";
    /// The STag cannot be invalidated.
    RDMAP_INVALIDATE = 1, 0x09, "STag cannot be invalidated";
    /// Unspecified protection error.
    RDMAP_PROTECTION = 1, 0xff, "unspecified protection error";
    /// Invalid RDMAP version.
    RDMAP_VERSION = 2, 0x05, "invalid RDMAP version";
    /// Unexpected opcode.
    RDMAP_OPCODE = 2, 0x06, "unexpected opcode";
    /// Catastrophic for the stream.
    RDMAP_STREAM_CATASTROPHIC = 2, 0x07, "catastrophic for the stream";
    /// Catastrophic for all streams.
    RDMAP_GLOBAL_CATASTROPHIC = 2, 0x08, "catastrophic for all streams";
    /// The STag cannot be invalidated.
    RDMAP_OPERATION_INVALIDATE = 2, 0x09, "STag cannot be invalidated (operation)";
    /// Unspecified operation error.
    RDMAP_OPERATION = 2, 0xff, "unspecified operation error";
}

table! {
    /// DDP: type 0 local catastrophic, 1 tagged buffer, 2 untagged buffer (DDP-046).
    DDP_TABLE, LAYER_DDP:
    /// Local catastrophic error.
    DDP_CATASTROPHIC = 0, 0x00, "local catastrophic";
    /// The STag is not valid.
    DDP_STAG = 1, 0x00, "invalid STag";
    /// Base or bounds violation.
    DDP_BOUNDS = 1, 0x01, "base or bounds";
    /// The STag is not associated with the stream.
    DDP_ASSOCIATION = 1, 0x02, "STag of another stream";
    /// TO plus length exceeds 2^64.
    DDP_WRAP = 1, 0x03, "TO wrap";
    /// Invalid DDP version in a tagged segment.
    DDP_TAGGED_VERSION = 1, 0x04, "invalid DDP version, tagged";
    /// Invalid QN.
    DDP_QN = 2, 0x01, "invalid QN";
    /// No buffer is available for the MSN.
    DDP_NO_BUFFER = 2, 0x02, "no buffer for the MSN";
    /// The MSN is out of range.
    DDP_MSN = 2, 0x03, "MSN out of range";
    /// Invalid MO.
    DDP_MO = 2, 0x04, "invalid MO";
    /// The message is too long for its buffer.
    DDP_TOO_LONG = 2, 0x05, "message too long";
    /// Invalid DDP version in an untagged segment.
    DDP_UNTAGGED_VERSION = 2, 0x06, "invalid DDP version, untagged";
}

table! {
    /// MPA: all of type 0 (MPA-053 to MPA-056).
    MPA_TABLE, LAYER_LLP:
    /// TCP was closed or lost.
    MPA_CONNECTION = 0, 0x01, "TCP connection closed or lost";
    /// CRC32C is wrong.
    MPA_CRC = 0, 0x02, "CRC32C mismatch";
    /// Marker and length chain disagree.
    MPA_MARKER = 0, 0x03, "marker mismatch";
    /// Invalid start-up frame.
    MPA_STARTUP = 0, 0x04, "invalid start-up frame";
    /// Local catastrophic error (RFC 6581).
    MPA_CATASTROPHIC = 0, 0x05, "local catastrophic";
    /// The responder has too few RDMA Read resources (RFC 6581).
    MPA_READ_RESOURCES = 0, 0x06, "insufficient IRD";
    /// No ready-to-receive message that both can use (RFC 6581).
    MPA_RTR = 0, 0x07, "no matching RTR";
}

impl Cause {
    /// Name of the error, if it is in the tables.
    pub fn name(&self) -> Option<&'static str> {
        let mut rows = [RDMAP_TABLE, DDP_TABLE, MPA_TABLE].into_iter().flatten();
        rows.find(|(cause, _)| cause == self).map(|&(_, name)| name)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layer = match self.layer {
            LAYER_RDMAP => "RDMAP",
            LAYER_DDP => "DDP",
            LAYER_LLP => "MPA",
            _ => "unknown layer",
        };
        let name = self.name().unwrap_or("unknown error");
        write!(
            f,
            "{layer} ({:#x}, {:#04x}): {name}",
            self.error_type, self.code
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    /// DDP-046, RDMAP-017: each row is of its table's layer; no two rows share their numbers.
    #[test]
    fn tables_are_of_their_layer_and_unambiguous() {
        let tables = [(RDMAP_TABLE, 0), (DDP_TABLE, 1), (MPA_TABLE, 2)];
        let mut seen = Vec::new();
        for (table, layer) in tables {
            for (cause, name) in table {
                assert_eq!(cause.layer, layer);
                assert_eq!(cause.name(), Some(*name));
                assert!(!seen.contains(cause), "{name}");
                seen.push(*cause);
            }
        }
    }

    #[test]
    fn causes_are_shown_by_layer_and_name() {
        assert_eq!(DDP_WRAP.to_string(), "DDP (0x1, 0x03): TO wrap");
        let unknown = Cause {
            layer: 3,
            error_type: 1,
            code: 2,
        };
        assert_eq!(
            unknown.to_string(),
            "unknown layer (0x1, 0x02): unknown error"
        );
    }
}
