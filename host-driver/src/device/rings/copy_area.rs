//! Memory for octets that the device reads and nobody else holds: the headers of frames.
//!
//! A ring of octets: reserved in the order of frames, freed in the same order. A piece is
//! contiguous, so the rest of the area before its end is skipped if the piece does not fit
//! there.

use crate::device::access::DmaBuffer;
use rnic_abi::transmit_ring::ELEMENTS_MAX;

/// Octets to a multiple of which each piece begins: the smallest cut of a PCI Express read.
const ALIGNMENT: u64 = 64;

/// The area, and how much of it is in use.
#[derive(Debug)]
pub(crate) struct CopyArea {
    memory: DmaBuffer,
    /// Octets reserved so far, those skipped included; the next piece begins here, modulo the
    /// area's octets.
    reserved: u64,
    /// Octets freed so far.
    freed: u64,
}

/// Pieces that fit: where they are, and what [`CopyArea::take`] and [`CopyArea::free`] get.
#[derive(Debug)]
pub(crate) struct Reservation {
    /// Bus addresses, in the order of the pieces; 0 for those that there are not.
    pub(crate) addresses: [u64; ELEMENTS_MAX],
    /// Octets reserved with them.
    pub(crate) end: u64,
}

impl CopyArea {
    /// An area of which all is free; `memory` is a power of two of at least 64 octets, at a
    /// multiple of 64.
    pub(crate) fn new(memory: DmaBuffer) -> Self {
        assert!(memory.octets.is_power_of_two(), "{} octets", memory.octets);
        Self {
            memory,
            reserved: 0,
            freed: 0,
        }
    }

    /// Where pieces of these octets fit now, if all of them do: no more of them than a frame has.
    /// Nothing is in use by that.
    pub(crate) fn find(&self, pieces: impl Iterator<Item = usize>) -> Option<Reservation> {
        let size = self.memory.octets as u64;
        // No division: every frame asks several times.
        let place = |end: u64| end & (size - 1);
        let mut addresses = [0; ELEMENTS_MAX];
        let mut end = self.reserved;
        for (address, octets) in addresses.iter_mut().zip(pieces) {
            let octets = octets as u64;
            let left = size - place(end);
            if octets > left {
                end += left;
            }
            *address = self.memory.address + place(end);
            end += (octets + ALIGNMENT - 1) & !(ALIGNMENT - 1);
        }
        (end - self.freed <= size).then_some(Reservation { addresses, end })
    }

    /// Take what was found last.
    pub(crate) fn take(&mut self, end: u64) {
        self.reserved = end;
    }

    /// Free everything up to the end of a reservation.
    pub(crate) fn free(&mut self, end: u64) {
        self.freed = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x1000;

    fn area(octets: usize) -> CopyArea {
        CopyArea::new(DmaBuffer {
            address: BASE,
            octets,
        })
    }

    fn take(area: &mut CopyArea, pieces: &[usize]) -> Option<Reservation> {
        let found = area.find(pieces.iter().copied())?;
        area.take(found.end);
        Some(found)
    }

    #[test]
    fn pieces_follow_each_other_and_skip_a_rest_that_is_too_short() {
        let mut area = area(512);
        let first = take(&mut area, &[1, 65, 200]).expect("all is free");
        assert_eq!(first.addresses[..3], [BASE, BASE + 64, BASE + 192]);
        assert!(take(&mut area, &[65]).is_none(), "64 are left");
        let second = take(&mut area, &[64]).expect("64 are left");
        assert_eq!(second.addresses[0], BASE + 448);
        assert!(take(&mut area, &[1]).is_none(), "nothing is left");
        area.free(first.end);
        let third = take(&mut area, &[400]).expect("448 are free");
        assert_eq!(third.addresses[0], BASE);
        // 64 octets after it, then those of the second one, which are in use.
        assert!(take(&mut area, &[65]).is_none());
        area.free(second.end);
        area.free(third.end);
        let fourth = take(&mut area, &[128]).expect("the rest of 64 is skipped");
        assert_eq!(fourth.addresses[0], BASE);
    }

    /// Whatever came before, what fits half of the area fits if nothing is in use.
    #[test]
    fn an_area_without_reservations_has_room_for_half_of_itself() {
        for offset in (0..1024).step_by(64) {
            let mut area = area(1024);
            let first = take(&mut area, &[offset]).expect("it is empty");
            area.free(first.end);
            assert!(take(&mut area, &[512]).is_some(), "{offset}");
        }
    }
}
