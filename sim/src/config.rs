//! How a simulation runs: the core that it loads, and how its host behaves.

use crate::form::Form;
use crate::transcript::Transcript;
use pcie_sim::CompletionSplit;
use rnic_abi::sizes::Sizes;
use std::path::PathBuf;

/// How the host answers the device's reads.
#[derive(Copy, Clone, Debug, Default)]
pub struct ReadPath {
    /// Probability that the host takes no read request in a cycle; 1 for never.
    pub stall: f64,
    /// Cycles from a read request to the first moment its completions may leave the host.
    pub latency_cycles: u64,
    /// Cycles at most that each completion may take beyond that; how many is drawn.
    pub spread_cycles: u64,
    /// Whether completions of different requests pass each other at random.
    pub reorders: bool,
    /// How the host cuts completions.
    pub split: CompletionSplit,
}

/// How a simulation runs.
#[derive(Clone, Debug)]
pub struct SimulationConfig {
    /// Frame path in bits: 64, 128 or 512.
    pub width: usize,
    /// Sizes of its tables.
    pub sizes: Sizes,
    /// Seed of every random choice.
    pub seed: u64,
    /// Probability that the host accepts no TLP beat in a cycle.
    pub stall: f64,
    /// How the host answers the device's reads.
    pub reads: ReadPath,
    /// Waveform to write.
    pub trace: Option<PathBuf>,
    /// Maximum payload size in octets that the monitor enforces.
    pub max_payload_octets: usize,
    /// Which text of the core.
    pub form: Form,
    /// Takes down what crosses the core's ports, from the end of the first reset on.
    pub transcript: Option<Transcript>,
}

impl Default for SimulationConfig {
    fn default() -> Self {
        Self {
            width: 64,
            sizes: Sizes::LARGEST,
            seed: 1,
            stall: 0.0,
            reads: ReadPath::default(),
            trace: None,
            max_payload_octets: 256,
            form: Form::Emitted,
            transcript: None,
        }
    }
}
