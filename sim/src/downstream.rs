//! TLPs to the device, cut into beats of one of the core's ports.

use pcie_sim::Tlp;
use std::collections::VecDeque;

/// One beat of a TLP to the core.
#[derive(Copy, Clone, Debug)]
pub struct DownstreamBeat<'a> {
    /// Header doublewords.
    pub header: &'a [u32; 4],
    /// Payload doublewords of the beat.
    pub data: &'a [u32],
    /// Last beat of the packet.
    pub last: bool,
}

#[derive(Debug)]
struct Packet {
    header: [u32; 4],
    data: Vec<u32>,
}

/// Packets in order, a beat a cycle.
#[derive(Debug)]
pub struct Downstream {
    queue: VecDeque<Packet>,
    beat_dwords: usize,
    /// Doublewords of the first packet already given.
    given: usize,
}

impl Downstream {
    /// None yet, for a port of `beat_dwords` doublewords.
    pub fn new(beat_dwords: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            beat_dwords,
            given: 0,
        }
    }

    /// Append a packet.
    ///
    /// # Panics
    /// If its header cannot be packed: packets of the root complex are well formed.
    pub fn push(&mut self, tlp: &Tlp) {
        let packed = tlp.header.pack().expect("well formed");
        let mut header = [0; 4];
        header[..packed.len()].copy_from_slice(&packed);
        let dword = |octets: &[u8]| {
            let mut whole = [0; 4];
            whole[..octets.len()].copy_from_slice(octets);
            u32::from_le_bytes(whole)
        };
        let data = tlp.payload.chunks(4).map(dword).collect();
        self.queue.push_back(Packet { header, data });
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Drop all packets: the link has gone down.
    pub fn clear(&mut self) {
        self.queue.clear();
        self.given = 0;
    }

    /// The beat of this cycle.
    pub fn beat(&self) -> Option<DownstreamBeat<'_>> {
        let packet = self.queue.front()?;
        let rest = &packet.data[self.given..];
        Some(DownstreamBeat {
            header: &packet.header,
            data: &rest[..rest.len().min(self.beat_dwords)],
            last: rest.len() <= self.beat_dwords,
        })
    }

    /// Advance after a beat that the port has taken.
    pub fn advance(&mut self) {
        let Some(packet) = self.queue.front() else {
            return;
        };
        self.given += self.beat_dwords;
        if self.given >= packet.data.len() {
            self.queue.pop_front();
            self.given = 0;
        }
    }
}
