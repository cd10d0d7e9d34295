//! Beats of the core's TLP port, put together: in a beat a cycle, out the header of three or four
//! doublewords and the octets that count.

use crate::core::TlpBeat;

/// A TLP assembled from its beats.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    open: bool,
    /// Doublewords of its header.
    pub(crate) header: [u32; 4],
    /// Octets, in whole doublewords.
    pub(crate) payload: Vec<u8>,
}

impl Assembly {
    /// Whether a part of a packet has come, and not its end.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Add a beat; returns true when the packet is complete.
    pub(crate) fn take(&mut self, beat: &TlpBeat) -> bool {
        if !self.open {
            self.header.copy_from_slice(beat.header);
            self.payload.clear();
        }
        for (lane, dword) in beat.data.iter().enumerate() {
            if beat.keep >> lane & 1 == 1 {
                self.payload.extend_from_slice(&dword.to_le_bytes());
            }
        }
        self.open = !beat.last;
        beat.last
    }
}

/// The three or four doublewords of a header that its format says.
pub(crate) fn header_of(dwords: &[u32]) -> &[u32] {
    let has_four = dwords[0] >> 29 & 1 == 1;
    &dwords[..if has_four { 4 } else { 3 }]
}

/// Bus address in the header of a memory request.
pub(crate) fn address_of(header: &[u32]) -> u64 {
    match *header {
        [_, _, high, low] => u64::from(high) << 32 | u64::from(low),
        [_, _, low] => u64::from(low),
        _ => unreachable!("a header has three or four doublewords"),
    }
}
