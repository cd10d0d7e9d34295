//! How to run the hardware under test.

use rnic_driver::Config;
use rnic_sim::SimulationConfig;

/// The core that is loaded, how its host and driver behave, and what is watched; by default nothing
/// is, and no frame waits.
#[derive(Clone, Debug, Default)]
pub struct RtlOptions {
    /// The core and its host. How much a TLP carries at most is what `config` says.
    pub simulation: SimulationConfig,
    /// The device was used before, and reset in mid-traffic ([`crate::play::used`]).
    pub used: bool,
    /// Frames are put on the bulk transmit ring, and looped back; those that a device cannot send
    /// come from the wire ([`super::is_looped`]).
    pub loopback: bool,
    /// How the driver sets the device up.
    pub config: Config,
    /// The wire pauses while packet memory is nearly full, as the sender of a capture would have
    /// been slowed down; if not, frames come as a wire brings them, whatever becomes of them.
    pub pauses: bool,
    /// Free pages below which each frame is watched until it has its verdict, so that it is known
    /// which ones the device had no room for; 0: never.
    pub short_pages: u32,
    /// Every frame is watched: nothing else can say which segments beyond a gap found no room.
    pub watches_all: bool,
}
