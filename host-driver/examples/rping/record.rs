//! What `rping` sends: where a buffer is, and what is in it. Wire-compatible with Linux' `rping`.
//!
//! ```text
//!  octets  0        8      12     16        all most significant first
//!          +--------+------+------+
//!          |   to   | stag | size |         of the client's buffer; all zero: go ahead
//!          +--------+------+------+
//! ```

/// Octets of a record.
pub const RECORD_OCTETS: usize = 16;
/// Smallest buffer.
pub const SIZE_MIN: usize = 64;
/// Largest buffer. Linux' `rping` takes one octet less.
pub const SIZE_MAX: usize = 65_536;

/// Where a buffer is. The server's answers have one, too, which says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Tagged Offset of its first octet.
    pub to: u64,
    /// Its STag.
    pub stag: u32,
    /// Its octets.
    pub size: u32,
}

impl Record {
    /// As it is sent.
    pub fn octets(&self) -> [u8; RECORD_OCTETS] {
        let mut octets = [0; RECORD_OCTETS];
        octets[..8].copy_from_slice(&self.to.to_be_bytes());
        octets[8..12].copy_from_slice(&self.stag.to_be_bytes());
        octets[12..].copy_from_slice(&self.size.to_be_bytes());
        octets
    }

    /// The record of a message; `None`: it has another length.
    pub fn read(message: &[u8]) -> Option<Self> {
        let (to, rest) = message.split_first_chunk()?;
        let (stag, rest) = rest.split_first_chunk()?;
        let size = rest.try_into().ok()?;
        Some(Self {
            to: u64::from_be_bytes(*to),
            stag: u32::from_be_bytes(*stag),
            size: u32::from_be_bytes(size),
        })
    }
}

/// First and last octet of what is repeated after a ping's number.
const FIRST: u8 = b'A';
const LAST: u8 = b'z';

/// The buffer of ping `number`: its number in words, ASCII from a letter on that is another one for
/// each ping, and a zero octet.
pub fn pattern(number: u64, size: usize) -> Vec<u8> {
    let mut text = format!("rdma-ping-{number}: ").into_bytes();
    let letters = FIRST..=LAST;
    let first = (number % letters.len() as u64) as usize;
    text.extend(
        letters
            .cycle()
            .skip(first)
            .take(size.saturating_sub(text.len())),
    );
    text.truncate(size);
    if let Some(last) = text.last_mut() {
        *last = 0;
    }
    text
}

/// The text of a buffer, up to its zero octet.
pub fn text(buffer: &[u8]) -> String {
    let text = buffer.split(|octet| *octet == 0).next();
    String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        // The first Send of testbench/captures/rping-v4-crc.pcap.
        let sent = [
            0, 0, 0x56, 0x46, 0x0f, 0x79, 0x47, 0x10, 0xe3, 0x6f, 0xb3, 0, 0, 0, 0x10, 0,
        ];
        let record = Record::read(&sent).expect("a record");
        assert_eq!(
            record,
            Record {
                to: 0x5646_0f79_4710,
                stag: 0xe36f_b300,
                size: 4096
            }
        );
        assert_eq!(record.octets(), sent);
        assert_eq!(Record::read(&sent[1..]), None);
        assert_eq!(Record::read(&[&sent[..], &[0]].concat()), None);
    }

    /// As in that capture: the letters begin one later with each ping, and `z` is followed by `A`.
    #[test]
    fn a_buffer_is_that_of_linux() {
        let first = pattern(0, 4096);
        assert!(first.starts_with(b"rdma-ping-0: ABCDEFGHIJ"));
        assert!(first[60..].starts_with(b"pqrstuvwxyzABC"));
        assert_eq!(first[4095], 0);
        assert!(pattern(9, 64).starts_with(b"rdma-ping-9: JKLM"));
        assert_eq!(pattern(58, 64)[14..], pattern(0, 63)[13..]);
        assert_eq!(text(&pattern(1, 20)), "rdma-ping-1: BCDEFG");
    }
}
