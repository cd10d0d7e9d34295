//! The transmit rings of a device, as `rnic_abi::transmit_ring` describes them: doorbells in,
//! frames, statuses and reports out. It inserts neither checksums nor CRCs.
use super::memory::Memory;
use crate::device::ids::TransmitRing;
use rnic_abi::registers;
use rnic_abi::transmit_ring::{
    units, ELEMENTS_SHIFT, ELEMENT_OCTETS, RINGS, STATUS_READ_FAILED, STATUS_WORD, STOPPED,
    UNIT_OCTETS,
};

/// What a test makes of a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is sent.
    Sent,
    /// It gets this status, and is not sent.
    GivenUp(u32),
    /// The read of its units fails.
    Stopped,
}

/// A ring.
#[derive(Debug, Default)]
struct Ring {
    base: [u32; 2],
    report: [u32; 2],
    units_log2: u32,
    tail: u32,
    head: u32,
    given_up: u32,
    stopped: u32,
}

/// The rings.
#[derive(Debug, Default)]
pub(crate) struct TransmitEngine {
    rings: [Ring; RINGS],
    /// Times that a ring was set up.
    pub(crate) setups: usize,
}

impl TransmitEngine {
    /// A register is written; those of other parts have no effect.
    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        for (ring, number) in self.rings.iter_mut().zip(0..) {
            let Some(register) = offset.checked_sub(registers::tx_register(number, 0)) else {
                continue;
            };
            match register {
                registers::TX_BASE_LOW => ring.base[0] = value,
                registers::TX_BASE_HIGH => ring.base[1] = value,
                registers::TX_REPORT_LOW => ring.report[0] = value,
                registers::TX_REPORT_HIGH => ring.report[1] = value,
                registers::TX_UNITS_LOG2 => {
                    self.setups += 1;
                    *ring = Ring {
                        base: ring.base,
                        report: ring.report,
                        units_log2: value,
                        ..Ring::default()
                    };
                }
                registers::TX_TAIL if value.wrapping_sub(ring.head) <= 1 << ring.units_log2 => {
                    ring.tail = value;
                }
                _ => {}
            }
        }
    }

    /// Units that a ring has, below its tail.
    pub(crate) fn waiting(&self, ring: TransmitRing) -> u32 {
        let ring = &self.rings[ring.number() as usize];
        ring.tail.wrapping_sub(ring.head)
    }

    /// Work at the next frame of a ring, and report it. Its octets, if it is sent.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn step(
        &mut self,
        memory: &Memory,
        ring: TransmitRing,
        fate: Fate,
    ) -> Option<Vec<u8>> {
        let ring = &mut self.rings[ring.number() as usize];
        assert!(ring.units_log2 != 0 && ring.stopped == 0 && ring.tail != ring.head);
        let mask = (1 << ring.units_log2) - 1;
        let base = u64::from(ring.base[1]) << 32 | u64::from(ring.base[0]);
        let at = |number: u32| base + u64::from(number & mask) * UNIT_OCTETS as u64;
        let mut frame = None;
        if fate == Fate::Stopped {
            ring.stopped = STOPPED;
        } else {
            let head_address = at(ring.head);
            let [word, ..] = words::<8>(memory, head_address);
            let elements = word >> ELEMENTS_SHIFT & 0xf;
            let mut octets = Vec::new();
            for element in 0..elements {
                let unit = at(ring.head.wrapping_add(1 + element / 2));
                let place = unit + u64::from(element % 2) * ELEMENT_OCTETS as u64;
                let [low, high, count, _] = words::<4>(memory, place);
                let address = u64::from(high) << 32 | u64::from(low);
                octets.extend(memory.peek(address, count as usize));
            }
            assert_eq!(octets.len() as u32, word & 0xffff);
            ring.head = ring.head.wrapping_add(units(elements));
            assert!(ring.tail.wrapping_sub(ring.head) <= mask, "within the tail");
            match fate {
                Fate::GivenUp(status) => {
                    ring.given_up += 1;
                    memory.post(head_address + 4 * STATUS_WORD as u64, status);
                }
                _ => frame = Some(octets),
            }
        }
        let report = u64::from(ring.report[1]) << 32 | u64::from(ring.report[0]);
        let report_words = [ring.head, ring.given_up, ring.stopped, 0];
        for (word, offset) in report_words.into_iter().zip((0..).step_by(4)) {
            memory.post(report + offset, word);
        }
        frame
    }

    /// As [`TransmitEngine::step`], with a read of its octets that fails.
    pub(crate) fn fail(&mut self, memory: &Memory, ring: TransmitRing) {
        self.step(memory, ring, Fate::GivenUp(STATUS_READ_FAILED));
    }
}

fn words<const N: usize>(memory: &Memory, address: u64) -> [u32; N] {
    let octets = memory.peek(address, 4 * N);
    let mut words = octets
        .chunks_exact(4)
        .map(|octets| u32::from_le_bytes(octets.try_into().expect("four octets")));
    std::array::from_fn(|_| words.next().expect("as many words"))
}
