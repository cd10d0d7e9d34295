//! The signature unit beside the core, in software: it takes beats of one port, a doubleword a
//! cycle, and counts and signs them.
//!
//! The unit on the board is slow on purpose: one CRC of 32 bits in place of one of a whole beat. So
//! the core meets a host that is seldom ready.

use rnic_board::script::FOUR_DWORDS;

/// What the core must send: CRC32C of each of its two ports.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Signatures {
    /// Of posted requests and completions.
    pub tlps: u32,
    /// Of read requests.
    pub reads: u32,
}

/// A packet that the core has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The three or four doublewords of its header.
    pub header: Vec<u32>,
    /// Octets, in whole doublewords.
    pub payload: Vec<u8>,
}

/// The unit of one port.
#[derive(Clone, Debug, Default)]
pub(super) struct Signer {
    /// CRC32C of all so far.
    pub(super) signature: u32,
    /// Packets whose last beat was taken.
    pub(super) sent: Vec<Packet>,
    /// The packet under way.
    open: Option<Packet>,
    /// Cycles until the next beat can be taken.
    busy: usize,
}

impl Signer {
    /// Whether it takes a beat in this cycle.
    pub(super) fn is_ready(&self) -> bool {
        self.busy == 0
    }

    /// A cycle in which it takes none.
    pub(super) fn rest(&mut self) {
        self.busy = self.busy.saturating_sub(1);
    }

    /// A cycle in which it takes a beat: the header counts with the first one of a packet. Returns
    /// the packet if it is whole.
    pub(super) fn take(&mut self, header: &[u32], data: &[u32], last: bool) -> Option<&Packet> {
        let mut dwords = Vec::new();
        let packet = self.open.get_or_insert_with(|| {
            let count = if header[0] & FOUR_DWORDS == 0 { 3 } else { 4 };
            dwords.extend_from_slice(&header[..count]);
            Packet {
                header: dwords.clone(),
                payload: Vec::new(),
            }
        });
        let payload = data.iter().flat_map(|dword| dword.to_le_bytes());
        packet.payload.extend(payload);
        dwords.extend_from_slice(data);
        for dword in &dwords {
            self.signature = crc32c::crc32c_append(self.signature, &dword.to_le_bytes());
        }
        self.busy = dwords.len();
        if !last {
            return None;
        }
        self.sent.extend(self.open.take());
        self.sent.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_three_and_four_doublewords_and_all_payload_are_signed() {
        let mut signer = Signer::default();
        let short = [0x4000_0005, 1, 2, 0xdead];
        assert_eq!(signer.take(&short, &[3, 4, 5, 6], false), None);
        let busy = (0..).take_while(|_| {
            let is_busy = !signer.is_ready();
            signer.rest();
            is_busy
        });
        assert_eq!(busy.count(), 7);
        let whole = signer.take(&[0; 4], &[7], true).cloned();
        let whole = whole.expect("its last beat was taken");
        assert_eq!(whole.header, [0x4000_0005, 1, 2]);
        assert_eq!(whole.payload.len(), 20);
        signer.rest();
        signer.take(&[FOUR_DWORDS, 8, 9, 10], &[], true);
        let dwords = [0x4000_0005, 1, 2, 3, 4, 5, 6, 7, FOUR_DWORDS, 8, 9, 10];
        let octets: Vec<u8> = dwords.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(signer.signature, crc32c::crc32c(&octets));
        assert_eq!(signer.sent.len(), 2);
    }
}
