//! How to play a capture.

use crate::play::conditions::Conditions;
use crate::play::dut::DutKind;
use crate::play::regions::RegionOverride;
use rnic_abi::sizes::Sizes;
use rnic_sim::{Form, Transcript};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// How to play.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which receiver.
    pub dut: DutKind,
    /// Frame path of the RTL in bits.
    pub width: usize,
    /// Sizes of the RTL's tables.
    pub sizes: Sizes,
    /// Seed of every random choice.
    pub seed: u64,
    /// Probability of back-pressure on the PCI Express side in a cycle.
    pub stall: f64,
    /// Only this flow is offloaded.
    pub flow: Option<usize>,
    /// Waveform of the RTL.
    pub trace: Option<PathBuf>,
    /// Frames, from 1, that are in the waveform; all if absent.
    pub trace_frames: Option<Range<usize>>,
    /// Regions instead of the learned ones.
    pub regions: Option<Vec<RegionOverride>>,
    /// Hostile actions a frame ([`crate::play::hostile`]).
    pub hostile: f64,
    /// How the receiving side is set up.
    pub conditions: Conditions,
    /// One device receives for all hosts of the capture, whose STags must then differ.
    pub one_device: bool,
    /// The RTL is what is synthesised ([`Form::Silicon`]).
    pub silicon: bool,
    /// The RTL was used before ([`used`](crate::play::rtl::RtlOptions::used)).
    pub used: bool,
    /// Frames reach the RTL through its own transmit rings and loopback
    /// ([`loopback`](crate::play::rtl::RtlOptions::loopback)).
    pub loopback: bool,
    /// Keep the RTL's timeline ([`crate::play::timeline`]).
    pub timeline: bool,
    /// Takes down what crosses the ports of the RTL; of a capture with one receiving host.
    pub transcript: Option<Transcript>,
    /// Once it is set, by whoever handles signals, no further frame is played; the report is that
    /// of a capture that ends there.
    pub stop: Option<&'static AtomicBool>,
}

impl Options {
    /// Which text of the core is simulated.
    pub fn form(&self) -> Form {
        match self.dut {
            DutKind::Netlist => Form::Netlist,
            _ => Form::of_verilog(self.silicon),
        }
    }

    /// Is no further frame to be played?
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dut: DutKind::Both,
            width: 64,
            sizes: Sizes::LARGEST,
            seed: 1,
            stall: 0.0,
            flow: None,
            trace: None,
            trace_frames: None,
            regions: None,
            hostile: 0.0,
            conditions: Conditions::default(),
            one_device: false,
            silicon: false,
            used: false,
            loopback: false,
            timeline: false,
            transcript: None,
            stop: None,
        }
    }
}
