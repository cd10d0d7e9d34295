//! Whether a file holds a capture, by its first octets; compressed files count as captures.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What captures, and files in which captures are kept, begin with.
const MAGIC: [&[u8]; 10] = [
    // pcap, by the order of octets: microseconds, nanoseconds, the longer records of old Linux.
    &[0xa1, 0xb2, 0xc3, 0xd4],
    &[0xd4, 0xc3, 0xb2, 0xa1],
    &[0xa1, 0xb2, 0x3c, 0x4d],
    &[0x4d, 0x3c, 0xb2, 0xa1],
    &[0xa1, 0xb2, 0xcd, 0x34],
    &[0x34, 0xcd, 0xb2, 0xa1],
    // pcapng: a section header block.
    &[0x0a, 0x0d, 0x0d, 0x0a],
    // gzip, zstd, xz.
    &[0x1f, 0x8b],
    &[0x28, 0xb5, 0x2f, 0xfd],
    &[0xfd, b'7', b'z', b'X', b'Z', 0],
];
/// Octets of the longest.
const MAGIC_OCTETS: u64 = 6;

/// Does the regular file at `path` hold a capture?
pub(crate) fn holds_capture(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?
        .take(MAGIC_OCTETS)
        .read_to_end(&mut head)?;
    Ok(MAGIC.iter().any(|magic| head.starts_with(magic)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_is_known_by_its_first_octets() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        for magic in MAGIC {
            for rest in [&b""[..], b" and more"] {
                std::fs::write(&path, [magic, rest].concat()).expect("room");
                assert!(holds_capture(&path).expect("a file"), "{magic:x?}");
            }
            std::fs::write(&path, &magic[..magic.len() - 1]).expect("room");
            assert!(!holds_capture(&path).expect("a file"), "{magic:x?}");
        }
        for report in ["", "{}\n", "<!DOCTYPE html>", "# EOF\n"] {
            std::fs::write(&path, report).expect("room");
            assert!(!holds_capture(&path).expect("a file"), "{report}");
        }
    }
}
