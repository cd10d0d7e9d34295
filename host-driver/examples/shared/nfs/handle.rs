//! File handles.

use crate::files::FileId;
use rpcrdma::stream::{DecodeError, Message, Reader, TooMuch};

/// Octets of the longest handle (RFC 1813, 2.4).
pub const HANDLE_OCTETS_MAX: u32 = 64;
/// Octets of a handle of `nfs_server`: its instance, number and generation.
const OWN_OCTETS: usize = 16;

/// A file handle: nobody but its server knows what is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handle {
    octets: [u8; HANDLE_OCTETS_MAX as usize],
    length: usize,
}

impl Handle {
    /// These octets; `None`: there are too many.
    #[must_use]
    pub fn new(octets: &[u8]) -> Option<Self> {
        let mut handle = Self {
            octets: [0; HANDLE_OCTETS_MAX as usize],
            length: octets.len(),
        };
        handle
            .octets
            .get_mut(..octets.len())?
            .copy_from_slice(octets);
        Some(handle)
    }

    /// Hexadecimal digits, as `--handle` has them.
    ///
    /// # Errors
    /// What they should look like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "write 2 to 128 hexadecimal digits, two an octet".to_owned();
        let text = text.strip_prefix("\\x").unwrap_or(text);
        let digits: Option<Vec<u8>> = text
            .chars()
            .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
            .collect();
        let digits = digits.filter(|digits| !digits.is_empty() && digits.len() % 2 == 0);
        let digits = digits.ok_or_else(wrong)?;
        let octets: Vec<u8> = digits
            .chunks(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect();
        Self::new(&octets).ok_or_else(wrong)
    }

    /// The octets.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.octets[..self.length]
    }

    /// Read `nfs_fh3`.
    ///
    /// # Errors
    /// It is none.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let octets = reader.inline_opaque(HANDLE_OCTETS_MAX)?;
        Self::new(octets).ok_or(DecodeError::TooLong)
    }

    /// Append `nfs_fh3`.
    ///
    /// # Errors
    /// The message is too long.
    pub fn write(&self, message: &mut Message) -> Result<(), TooMuch> {
        message.opaque(self.octets())
    }

    /// Of a file of `nfs_server`, which knows its handles by `instance` after a restart.
    #[must_use]
    pub fn of_file(instance: u64, file: FileId) -> Self {
        let mut octets = [0; HANDLE_OCTETS_MAX as usize];
        octets[..8].copy_from_slice(&instance.to_be_bytes());
        octets[8..12].copy_from_slice(&file.number.to_be_bytes());
        octets[12..16].copy_from_slice(&file.generation.to_be_bytes());
        Self {
            octets,
            length: OWN_OCTETS,
        }
    }

    /// Instance and file of a handle of `nfs_server`; `None`: it is none.
    #[must_use]
    pub fn file(&self) -> Option<(u64, FileId)> {
        let octets: &[u8; OWN_OCTETS] = self.octets().try_into().ok()?;
        let (instance, rest) = octets.split_first_chunk::<8>()?;
        let (number, generation) = rest.split_first_chunk::<4>()?;
        let file = FileId {
            number: u32::from_be_bytes(*number),
            generation: u32::from_be_bytes(generation.try_into().ok()?),
        };
        Some((u64::from_be_bytes(*instance), file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_of_the_server_names_its_file() {
        let file = FileId {
            number: 0x0102_0304,
            generation: 7,
        };
        let handle = Handle::of_file(0x1122_3344_5566_7788, file);
        assert_eq!(handle.file(), Some((0x1122_3344_5566_7788, file)));
        let text = "11223344556677880102030400000007";
        assert_eq!(Handle::parse(text), Ok(handle));
        assert_eq!(Handle::parse(&text[2..]).expect("shorter").file(), None);
    }

    #[test]
    fn what_is_no_handle_is_refused() {
        for text in ["", "1", "0g", "+1", &"00".repeat(65)] {
            Handle::parse(text).expect_err(text);
        }
        assert_eq!(
            Handle::parse(&"0f".repeat(64)).map(|one| one.octets().len()),
            Ok(64)
        );
        let mut message = Message::new();
        message.opaque(&[1; 65]).expect("short");
        let read = Handle::read(&mut Reader::new(message.inline()));
        assert_eq!(read, Err(DecodeError::TooLong));
    }
}
