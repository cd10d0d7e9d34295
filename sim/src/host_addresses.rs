//! Which bus addresses a simulated host's allocations have.

/// Address of the first allocation; above 4 GiB, so that both address forms of a TLP occur (BAR0
/// and interrupts are below).
const FIRST_ADDRESS: u64 = 0x1_0000_0000;
/// Unmapped octets after each allocation: the monitor reports a write past its end.
const GUARD_OCTETS: u64 = 4096;

/// Addresses in ascending order; none is used twice.
#[derive(Clone, Debug)]
pub struct HostAddresses {
    next: u64,
}

impl Default for HostAddresses {
    fn default() -> Self {
        Self::starting_at(FIRST_ADDRESS)
    }
}

impl HostAddresses {
    /// Addresses from `next` on.
    pub fn starting_at(next: u64) -> Self {
        Self { next }
    }

    /// The address of `octets` octets, a multiple of `align`; what is after them stays unused.
    pub fn take(&mut self, octets: usize, align: u64) -> u64 {
        let address = self.next.next_multiple_of(align.max(1));
        self.next = (address + octets as u64 + GUARD_OCTETS).next_multiple_of(64);
        address
    }
}
