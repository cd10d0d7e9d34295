//! CRC32C as MPA uses it: reflected, all-ones start, complemented, least significant octet first
//! (RFC 5044 section 4.4).

use ::crc::{Crc, Table, CRC_32_ISCSI};

/// Octets of the CRC field.
pub const CRC_OCTETS: usize = 4;

static CALCULATOR: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// The number.
pub fn crc32c(octets: &[u8]) -> u32 {
    CALCULATOR.checksum(octets)
}

/// The CRC field for `covered`: everything of the FPDU before the field, a leading marker included.
pub fn field(covered: &[u8]) -> [u8; CRC_OCTETS] {
    crc32c(covered).to_le_bytes()
}

/// Whether the last field of `fpdu`, markers included, is the CRC of everything before it.
pub fn verify(fpdu: &[u8]) -> bool {
    fpdu.split_last_chunk::<CRC_OCTETS>()
        .is_some_and(|(covered, crc)| field(covered) == *crc)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MPA-020: the check value of the algorithm.
    #[test]
    fn the_check_string_gives_the_published_value() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(field(b"123456789"), [0x83, 0x92, 0x06, 0xe3]);
    }

    #[test]
    fn input_shorter_than_a_field_does_not_verify() {
        assert!(!verify(&[0, 0, 0]));
        assert!(verify(&field(&[])));
    }
}
