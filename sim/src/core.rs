//! The verilated core with its ports by name.

use crate::downstream::DownstreamBeat;
use crate::error::SimError;
use crate::form::Form;
use crate::library::{library, Variant};
use crate::mutant::Mutant;
use crate::ports::{self, Port};
use crate::verilator::Model;
use rnic_abi::sizes::Sizes;
use std::path::Path;

/// Word offsets of the ports that are accessed every cycle.
#[derive(Clone, Copy, Debug)]
struct Offsets {
    reset: usize,
    device_id: usize,
    frame_valid: usize,
    frame_last: usize,
    frame_error: usize,
    frame_octets: usize,
    frame_data: usize,
    tlp_ready: usize,
    request_valid: usize,
    request_last: usize,
    request_header: usize,
    request_data: usize,
    read_request_ready: usize,
    completion_valid: usize,
    completion_last: usize,
    completion_keep: usize,
    completion_header: usize,
    completion_data: usize,
    msix_enable: usize,
    msix_mask: usize,
    tick: usize,
    tx_ready: usize,
    tx_pause: usize,
    tlp_valid: usize,
    request_ready: usize,
    segment_event_valid: usize,
    fpdu_event_valid: usize,
    free_pages: usize,
    stored_frames: usize,
    tlp_last: usize,
    tlp_keep: usize,
    tlp_header: usize,
    tlp_data: usize,
    read_request_valid: usize,
    read_request_header: usize,
    tx_valid: usize,
    tx_last: usize,
    tx_error: usize,
    tx_octets: usize,
    tx_data: usize,
    segment_event: usize,
    fpdu_event: usize,
}

/// One beat of a frame.
#[derive(Copy, Clone, Debug)]
pub struct FrameBeat<'a> {
    /// Octets of the beat, at most the width's.
    pub octets: &'a [u8],
    /// Last beat of the frame.
    pub last: bool,
    /// With `last`: the MAC found the FCS wrong.
    pub error: bool,
}

/// One beat of a frame from the core.
#[derive(Copy, Clone, Debug)]
pub struct TxBeat<'a> {
    /// Doublewords of the beat, least significant octet first.
    pub data: &'a [u32],
    /// Octets that count.
    pub octets: usize,
    /// Last beat of the frame.
    pub last: bool,
    /// With `last`: the frame is not whole, and its FCS must be wrong.
    pub error: bool,
}

/// One beat of a TLP from the core.
#[derive(Copy, Clone, Debug)]
pub struct TlpBeat<'a> {
    /// Header doublewords; meaningful with the packet's first beat.
    pub header: &'a [u32],
    /// Payload doublewords, including those that `keep` masks out.
    pub data: &'a [u32],
    /// One bit for each valid doubleword.
    pub keep: u32,
    /// Last beat of the packet.
    pub last: bool,
}

/// The core, one clock cycle at a time.
#[derive(Debug)]
pub struct Core {
    model: Model,
    width: usize,
    at: Offsets,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    recording: Option<Vec<u32>>,
}

impl Core {
    /// Emit, build (unless cached) and load the core of `width`; `trace` names an FST file to
    /// write. Where the form leaves values undefined, `seed` determines them. If the environment
    /// selects a mutant ([`mutant`](crate::mutant)), that one is loaded instead.
    pub fn load(
        width: usize,
        sizes: Sizes,
        form: Form,
        trace: Option<&Path>,
        seed: u64,
    ) -> Result<Self, SimError> {
        if ![64, 128, 512].contains(&width) {
            return Err(SimError::Width(width));
        }
        let (mut inputs, outputs) = (ports::inputs(width), ports::outputs(width));
        let mutant = Mutant::of_environment()?;
        let variant = Variant {
            width,
            sizes,
            trace: trace.is_some(),
            form,
        };
        let library = match &mutant {
            Some(mutant) => mutant.library_for(width, trace)?,
            None => library(variant)?,
        };
        if mutant.is_some() {
            inputs.push(ports::MUTANT);
        }
        let seed = match form {
            Form::Emitted => 0,
            // Verilator's seed has 31 bits and is not 0.
            Form::Silicon | Form::Netlist => (seed % 0x7fff_fffe) as u32 + 1,
        };
        let (input_words, output_words) = (ports::words(&inputs), ports::words(&outputs));
        let mut input_values = vec![0; input_words];
        if let Some(mutant) = mutant {
            input_values[ports::offset(&inputs, ports::MUTANT.name)] = u32::from(mutant.number);
        }
        Ok(Self {
            model: Model::load(&library, input_words, output_words, trace, seed)?,
            width,
            at: offsets(&inputs, &outputs),
            inputs: input_values,
            outputs: vec![0; output_words],
            recording: None,
        })
    }

    /// Width of the frame path in bits.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Simulate one clock cycle with the present inputs; the outputs are then those of this cycle.
    pub fn cycle(&mut self, traced: bool) {
        if let Some(recording) = &mut self.recording {
            recording.extend_from_slice(&self.inputs);
        }
        self.model.cycle(&self.inputs, &mut self.outputs, traced);
    }

    /// Record the inputs of every cycle from now on, for [`replay`](Self::replay).
    pub fn record(&mut self) {
        self.recording = Some(Vec::new());
    }

    /// The inputs recorded since [`record`](Self::record), cycle by cycle.
    pub fn take_recording(&mut self) -> Vec<u32> {
        self.recording.take().unwrap_or_default()
    }

    /// Evaluate every cycle of `recording` without reading outputs; returns the number of cycles.
    pub fn replay(&mut self, recording: &[u32]) -> u64 {
        self.model.replay(recording)
    }

    /// As [`replay`](Self::replay), but with one call per cycle and with the outputs copied.
    pub fn replay_with_outputs(&mut self, recording: &[u32]) {
        for inputs in recording.chunks_exact(self.inputs.len()) {
            self.model.cycle(inputs, &mut self.outputs, false);
        }
    }

    /// Set the reset input.
    pub fn set_reset(&mut self, reset: bool) {
        self.inputs[self.at.reset] = u32::from(reset);
    }

    /// Set the bus, device and function number.
    pub fn set_device_id(&mut self, id: u16) {
        self.inputs[self.at.device_id] = u32::from(id);
    }

    /// Set this cycle's frame beat; `None` for an idle cycle.
    pub fn set_frame(&mut self, beat: Option<FrameBeat>) {
        let at = self.at;
        self.inputs[at.frame_valid] = u32::from(beat.is_some());
        let Some(beat) = beat else { return };
        self.inputs[at.frame_last] = u32::from(beat.last);
        self.inputs[at.frame_error] = u32::from(beat.error);
        self.inputs[at.frame_octets] = beat.octets.len() as u32;
        let words = &mut self.inputs[at.frame_data..at.frame_data + self.width / 32];
        let whole = beat.octets.chunks_exact(4);
        let rest = whole.remainder();
        let used = whole.len();
        for (word, octets) in words.iter_mut().zip(whole) {
            *word = u32::from_le_bytes(octets.try_into().expect("chunks of four"));
        }
        words[used..].fill(0);
        for (i, &octet) in rest.iter().enumerate() {
            words[used] |= u32::from(octet) << (8 * i);
        }
    }

    /// Set whether the host accepts a TLP beat in this cycle.
    pub fn set_tlp_ready(&mut self, ready: bool) {
        self.inputs[self.at.tlp_ready] = u32::from(ready);
    }

    /// Set whether the host takes a read request in this cycle.
    pub fn set_read_request_ready(&mut self, ready: bool) {
        self.inputs[self.at.read_request_ready] = u32::from(ready);
    }

    /// Set this cycle's beat of a completion; `None` for an idle cycle.
    pub fn set_completion(&mut self, beat: Option<DownstreamBeat>) {
        let at = self.at;
        self.inputs[at.completion_valid] = u32::from(beat.is_some());
        let Some(beat) = beat else { return };
        self.inputs[at.completion_last] = u32::from(beat.last);
        self.inputs[at.completion_keep] = ((1u64 << beat.data.len()) - 1) as u32;
        self.inputs[at.completion_header..at.completion_header + 4].copy_from_slice(beat.header);
        self.inputs[at.completion_data..at.completion_data + beat.data.len()]
            .copy_from_slice(beat.data);
    }

    /// Set MSI-X Enable and Function Mask.
    pub fn set_msix(&mut self, enable: bool, mask: bool) {
        self.inputs[self.at.msix_enable] = u32::from(enable);
        self.inputs[self.at.msix_mask] = u32::from(mask);
    }

    /// Set whether a microsecond begins in this cycle.
    pub fn set_tick(&mut self, tick: bool) {
        self.inputs[self.at.tick] = u32::from(tick);
    }

    /// Set whether the MAC takes a beat in this cycle, and whether no frame may begin.
    pub fn set_tx(&mut self, ready: bool, pause: bool) {
        self.inputs[self.at.tx_ready] = u32::from(ready);
        self.inputs[self.at.tx_pause] = u32::from(pause);
    }

    /// Set this cycle's beat of a BAR request; `None` for an idle cycle.
    pub fn set_request(&mut self, beat: Option<DownstreamBeat>) {
        let at = self.at;
        self.inputs[at.request_valid] = u32::from(beat.is_some());
        let Some(beat) = beat else { return };
        self.inputs[at.request_last] = u32::from(beat.last);
        self.inputs[at.request_header..at.request_header + 4].copy_from_slice(beat.header);
        self.inputs[at.request_data..at.request_data + beat.data.len()].copy_from_slice(beat.data);
    }

    /// Whether the core accepts the request offered in this cycle.
    pub fn request_ready(&self) -> bool {
        self.outputs[self.at.request_ready] != 0
    }

    /// Free pages of packet memory.
    pub fn free_pages(&self) -> u32 {
        self.outputs[self.at.free_pages]
    }

    /// Stored frames waiting for TCP.
    pub fn stored_frames(&self) -> u32 {
        self.outputs[self.at.stored_frames]
    }

    /// The TLP beat offered in this cycle.
    pub fn tlp(&self) -> Option<TlpBeat<'_>> {
        let at = &self.at;
        let lanes = ports::inner_width(self.width) / 32;
        (self.outputs[at.tlp_valid] != 0).then(|| TlpBeat {
            header: &self.outputs[at.tlp_header..at.tlp_header + 4],
            data: &self.outputs[at.tlp_data..at.tlp_data + lanes],
            keep: self.outputs[at.tlp_keep],
            last: self.outputs[at.tlp_last] != 0,
        })
    }

    /// The header of the read request offered in this cycle.
    pub fn read_request(&self) -> Option<&[u32]> {
        let at = self.at.read_request_header;
        (self.outputs[self.at.read_request_valid] != 0).then(|| &self.outputs[at..at + 4])
    }

    /// The beat of a frame offered in this cycle.
    pub fn tx(&self) -> Option<TxBeat<'_>> {
        let at = &self.at;
        (self.outputs[at.tx_valid] != 0).then(|| TxBeat {
            data: &self.outputs[at.tx_data..at.tx_data + self.width / 32],
            octets: self.outputs[at.tx_octets] as usize,
            last: self.outputs[at.tx_last] != 0,
            error: self.outputs[at.tx_error] != 0,
        })
    }

    /// The words of this cycle's segment event, in the order of `ports::outputs`.
    pub fn segment_event(&self) -> Option<[u32; 4]> {
        let at = self.at.segment_event;
        (self.outputs[self.at.segment_event_valid] != 0)
            .then(|| self.outputs[at..at + 4].try_into().expect("four words"))
    }

    /// The words of this cycle's FPDU event, in the order of `ports::outputs`.
    pub fn fpdu_event(&self) -> Option<[u32; 8]> {
        let at = self.at.fpdu_event;
        (self.outputs[self.at.fpdu_event_valid] != 0)
            .then(|| self.outputs[at..at + 8].try_into().expect("eight words"))
    }
}

fn offsets(inputs: &[Port], outputs: &[Port]) -> Offsets {
    let input = |name| ports::offset(inputs, name);
    let output = |name| ports::offset(outputs, name);
    Offsets {
        reset: input("reset"),
        device_id: input("device_id"),
        frame_valid: input("frame_valid"),
        frame_last: input("frame_last"),
        frame_error: input("frame_error"),
        frame_octets: input("frame_octets"),
        frame_data: input("frame_data"),
        tlp_ready: input("tlp_ready"),
        request_valid: input("request_valid"),
        request_last: input("request_last"),
        request_header: input("request_header"),
        request_data: input("request_data"),
        read_request_ready: input("read_request_ready"),
        completion_valid: input("completion_valid"),
        completion_last: input("completion_last"),
        completion_keep: input("completion_keep"),
        completion_header: input("completion_header"),
        completion_data: input("completion_data"),
        msix_enable: input("msix_enable"),
        msix_mask: input("msix_mask"),
        tick: input("tick"),
        tx_ready: input("tx_ready"),
        tx_pause: input("tx_pause"),
        tlp_valid: output("tlp_valid"),
        request_ready: output("request_ready"),
        segment_event_valid: output("segment_event_valid"),
        fpdu_event_valid: output("fpdu_event_valid"),
        free_pages: output("free_pages"),
        stored_frames: output("stored_frames"),
        tlp_last: output("tlp_last"),
        tlp_keep: output("tlp_keep"),
        tlp_header: output("tlp_header"),
        tlp_data: output("tlp_data"),
        read_request_valid: output("read_request_valid"),
        read_request_header: output("read_request_header"),
        tx_valid: output("tx_valid"),
        tx_last: output("tx_last"),
        tx_error: output("tx_error"),
        tx_octets: output("tx_octets"),
        tx_data: output("tx_data"),
        segment_event: output("segment_event_connection"),
        fpdu_event: output("fpdu_event_connection"),
    }
}
