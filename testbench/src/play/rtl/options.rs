//! How to run the hardware under test.

use rnic_abi::sizes::Sizes;
use rnic_driver::Config;
use rnic_sim::{Form, Transcript};
use std::path::PathBuf;

/// The core that is loaded, how its host and driver behave, and what is watched and taken down.
#[derive(Clone, Debug)]
pub struct RtlOptions {
    /// Frame path in bits.
    pub width: usize,
    /// Sizes of its tables.
    pub sizes: Sizes,
    /// Seed.
    pub seed: u64,
    /// Probability of back-pressure on the PCI Express side in a cycle.
    pub stall: f64,
    /// Waveform.
    pub trace: Option<PathBuf>,
    /// Which text of the core.
    pub form: Form,
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
    /// Takes down what crosses the core's ports.
    pub transcript: Option<Transcript>,
}

/// W = 64, the largest tables, the emitted text, a host that takes every TLP, no frame watched.
impl Default for RtlOptions {
    fn default() -> Self {
        Self {
            width: 64,
            sizes: Sizes::LARGEST,
            seed: 1,
            stall: 0.0,
            trace: None,
            form: Form::Emitted,
            used: false,
            loopback: false,
            config: Config::default(),
            pauses: false,
            short_pages: 0,
            watches_all: false,
            transcript: None,
        }
    }
}
