//! How packed files begin.

pub(super) const GZIP: &[u8] = &[0x1f, 0x8b];
pub(super) const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
pub(super) const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
