//! A received Terminate in words: layer, error type and error code (RFC 5040 section 4.8, RFC 5041
//! section 7.2, RFC 5044 section 8, RFC 6581 section 9).

/// `DDP, tagged buffer error, base or bounds violation`.
pub fn words(layer: u8, etype: u8, code: u8) -> String {
    let (layer_name, type_name) = names(layer, etype);
    let code_name = code_name(layer, etype, code);
    format!("{layer_name}, {type_name}, {code_name}")
}

/// Of one that ends inside of its control field (RFC 5040 section 4.8), after `octets` octets.
pub fn too_short(octets: u32) -> String {
    format!("too short to say why: {octets} of the 4 octets of its control field")
}

const fn names(layer: u8, etype: u8) -> (&'static str, &'static str) {
    match (layer, etype) {
        (0, 0) => ("RDMAP", "local catastrophic error"),
        (0, 1) => ("RDMAP", "remote protection error"),
        (0, 2) => ("RDMAP", "remote operation error"),
        (0, _) => ("RDMAP", "unknown error type"),
        (1, 0) => ("DDP", "local catastrophic error"),
        (1, 1) => ("DDP", "tagged buffer error"),
        (1, 2) => ("DDP", "untagged buffer error"),
        (1, 3) => ("DDP", "error of the layer below"),
        (1, _) => ("DDP", "unknown error type"),
        (2, 0) => ("MPA", "MPA error"),
        (2, _) => ("MPA", "unknown error type"),
        _ => ("unknown layer", "unknown error type"),
    }
}

const fn code_name(layer: u8, etype: u8, code: u8) -> &'static str {
    match (layer, etype, code) {
        (0, 1, 0x00) => "invalid STag",
        (0, 1, 0x01) => "base or bounds violation",
        (0, 1, 0x02) => "access rights violation",
        (0, 1, 0x03) => "STag not associated with the stream",
        (0, 1, 0x04) => "Tagged Offset wraps",
        (0, 1, 0x09) => "STag cannot be invalidated",
        (0, 2, 0x05) => "invalid RDMAP version",
        (0, 2, 0x06) => "unexpected opcode",
        (0, 2, 0x07) => "catastrophic error of the stream",
        (0, 2, 0x08) => "catastrophic error of all streams",
        (0, 2, 0x09) => "STag cannot be invalidated",
        (0, 1 | 2, 0xff) => "unspecified error",
        (1, 1, 0x00) => "invalid STag",
        (1, 1, 0x01) => "base or bounds violation",
        (1, 1, 0x02) => "STag not associated with the stream",
        (1, 1, 0x03) => "Tagged Offset wraps",
        (1, 1, 0x04) => "invalid DDP version",
        (1, 2, 0x01) => "invalid queue number",
        (1, 2, 0x02) => "no buffer available",
        (1, 2, 0x03) => "MSN out of range",
        (1, 2, 0x04) => "invalid message offset",
        (1, 2, 0x05) => "message too long for its buffer",
        (1, 2, 0x06) => "invalid DDP version",
        (2, 0, 0x01) => "TCP connection closed, terminated or lost",
        (2, 0, 0x02) => "CRC error",
        (2, 0, 0x03) => "marker and ULPDU length disagree",
        (2, 0, 0x04) => "invalid MPA Request or Reply frame",
        (2, 0, 0x05) => "local catastrophic error",
        (2, 0, 0x06) => "insufficient IRD",
        (2, 0, 0x07) => "no matching RTR option",
        (0 | 1, 0, 0x00) => "no code",
        _ => "unknown code",
    }
}

#[cfg(test)]
mod tests {
    use super::{too_short, words};
    use rnic_abi::errors::ALL;

    /// Every error that the device itself stops with has words.
    #[test]
    fn the_errors_of_the_device_are_known() {
        for error in ALL {
            let (layer, etype, code) = error.terminate();
            let text = words(layer as u8, etype as u8, code as u8);
            assert!(!text.contains("unknown"), "{}: {text}", error.name());
        }
        assert_eq!(
            words(1, 1, 1),
            "DDP, tagged buffer error, base or bounds violation"
        );
        assert_eq!(
            words(3, 0, 0),
            "unknown layer, unknown error type, unknown code"
        );
        assert_eq!(
            too_short(3),
            "too short to say why: 3 of the 4 octets of its control field"
        );
        assert_eq!(words(2, 0, 5), "MPA, MPA error, local catastrophic error");
        assert_eq!(words(1, 2, 7), "DDP, untagged buffer error, unknown code");
    }
}
