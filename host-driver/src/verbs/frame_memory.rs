//! Which memory a frame needs, without an allocation for each.

use rnic_abi::transmit_ring::ELEMENTS_MAX;

/// The memory of a frame, by number.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct FrameMemory {
    numbers: [u64; ELEMENTS_MAX],
    count: usize,
}

impl FrameMemory {
    /// One more; a frame has no more pieces than fit.
    pub(crate) fn add(&mut self, number: u64) {
        if let Some(place) = self.numbers.get_mut(self.count) {
            *place = number;
            self.count += 1;
        }
    }

    /// All of them.
    pub(crate) fn numbers(&self) -> &[u64] {
        &self.numbers[..self.count]
    }
}
