//! The ports of the core's top module, and their places in the words that the shim exchanges.
//!
//! Each cycle the shim reads inputs from one array of 32-bit words and writes outputs to another; a
//! port of `n` bits has `ceil(n / 32)` words, least significant first. Wide outputs are copied only
//! in cycles in which the port that qualifies them is high.

/// A port of the top module.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name, as in `rnic_hdl::top`.
    pub name: &'static str,
    /// Bits.
    pub bits: usize,
    /// Output that must be high for this one to be valid; empty for none.
    pub valid: &'static str,
}

impl Port {
    /// Number of 32-bit words.
    pub const fn words(&self) -> usize {
        self.bits.div_ceil(32)
    }
}

/// A port that is always valid.
pub(crate) const fn port(name: &'static str, bits: usize) -> Port {
    Port {
        name,
        bits,
        valid: "",
    }
}

const fn when(valid: &'static str, name: &'static str, bits: usize) -> Port {
    Port { name, bits, valid }
}

/// The additional input of a core with mutants: the number of the active one.
pub const MUTANT: Port = port("mutant", 16);

/// Inputs of the core with a frame path of `width` bits, without the clock.
pub fn inputs(width: usize) -> Vec<Port> {
    let inner = inner_width(width);
    vec![
        port("reset", 1),
        port("device_id", 16),
        port("frame_valid", 1),
        port("frame_last", 1),
        port("frame_error", 1),
        port("frame_octets", 7),
        port("frame_data", width),
        port("tlp_ready", 1),
        port("request_valid", 1),
        port("request_last", 1),
        port("request_header", 128),
        port("request_data", inner),
        port("read_request_ready", 1),
        port("completion_valid", 1),
        port("completion_last", 1),
        port("completion_keep", inner / 32),
        port("completion_header", 128),
        port("completion_data", inner),
        port("msix_enable", 1),
        port("msix_mask", 1),
        port("tick", 1),
        port("tx_ready", 1),
        port("tx_pause", 1),
    ]
}

/// Outputs of the core with a frame path of `width` bits.
pub fn outputs(width: usize) -> Vec<Port> {
    let inner = inner_width(width);
    vec![
        port("tlp_valid", 1),
        port("request_ready", 1),
        port("segment_event_valid", 1),
        port("fpdu_event_valid", 1),
        port("free_pages", 10),
        port("stored_frames", 5),
        when("tlp_valid", "tlp_last", 1),
        when("tlp_valid", "tlp_keep", inner / 32),
        when("tlp_valid", "tlp_header", 128),
        when("tlp_valid", "tlp_data", inner),
        port("read_request_valid", 1),
        when("read_request_valid", "read_request_header", 128),
        port("tx_valid", 1),
        when("tx_valid", "tx_last", 1),
        when("tx_valid", "tx_error", 1),
        when("tx_valid", "tx_octets", 7),
        when("tx_valid", "tx_data", width),
        when("segment_event_valid", "segment_event_connection", 10),
        when("segment_event_valid", "segment_event_verdict", 3),
        when("segment_event_valid", "segment_event_seg_seq", 32),
        when("segment_event_valid", "segment_event_seg_len", 14),
        when("fpdu_event_valid", "fpdu_event_connection", 10),
        when("fpdu_event_valid", "fpdu_event_sequence", 32),
        when("fpdu_event_valid", "fpdu_event_ulpdu_length", 16),
        when("fpdu_event_valid", "fpdu_event_error", 5),
        when("fpdu_event_valid", "fpdu_event_opcode", 4),
        when("fpdu_event_valid", "fpdu_event_opcode_valid", 1),
        when("fpdu_event_valid", "fpdu_event_placed_octets", 16),
        when("fpdu_event_valid", "fpdu_event_placed_ooo", 1),
    ]
}

/// Width D of the path after packet memory, for a frame path of `width` bits.
pub const fn inner_width(width: usize) -> usize {
    if width == 512 {
        512
    } else {
        128
    }
}

/// First word of port `name` in `ports`.
///
/// # Panics
/// If there is no such port.
pub fn offset(ports: &[Port], name: &str) -> usize {
    let position = ports.iter().position(|port| port.name == name);
    let position = position.unwrap_or_else(|| panic!("the core has no port {name}"));
    ports[..position].iter().map(Port::words).sum()
}

/// Words of all `ports`.
pub fn words(ports: &[Port]) -> usize {
    ports.iter().map(Port::words).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_abi::sizes::Sizes;

    /// The wrapper would silently truncate a port that is listed too narrow.
    #[test]
    fn port_widths_match_the_emitted_core() {
        for width in [64, 128, 512] {
            let verilog =
                rnic_hdl::top::verilog(width, Sizes::LARGEST).expect("the core passes its lint");
            let (top, _) = verilog
                .split_once("// Stub signals")
                .expect("a core of rooms");
            let mut declared = 0;
            for line in top.lines().map(str::trim) {
                let Some(rest) = ["input wire", "output reg", "output wire"]
                    .iter()
                    .find_map(|direction| line.strip_prefix(direction))
                else {
                    continue;
                };
                let rest = rest.trim().trim_end_matches(';');
                let (bits, name) = match rest.strip_prefix('[') {
                    Some(ranged) => {
                        let (range, name) = ranged.split_once(']').expect("a range ends");
                        let high = range.strip_suffix(":0").expect("down to bit 0");
                        (1 + high.parse::<usize>().expect("a number"), name.trim())
                    }
                    None => (1, rest),
                };
                if name == "clock" {
                    continue;
                }
                let known = inputs(width).into_iter().chain(outputs(width));
                let port = known.into_iter().find(|port| port.name == name);
                assert_eq!(port.map(|port| port.bits), Some(bits), "{width}: {name}");
                declared += 1;
            }
            assert_eq!(declared, inputs(width).len() + outputs(width).len());
        }
    }
}
