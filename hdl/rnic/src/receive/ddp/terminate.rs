//! Terminate codes: from the device's error number to layer, error type and error code.
//!
//! ```text
//! error --> [ table of rnic_abi::errors ] --> code: 3:0 layer, 7:4 error type, 15:8 error code
//! ```
//!
//! | latency    | none (combinational): five inputs a bit                 |
//! | throughput | one error per cycle                                     |
//! | source     | RFC 5040 section 4.8 by way of `StreamError::terminate` |
use rnic_abi::errors::ALL;
use rust_hdl::prelude::*;

/// Table of the Terminate codes; 0 for numbers that name no error.
#[derive(LogicBlock)]
pub struct TerminateCode {
    /// `rnic_abi::errors::StreamError`.
    pub error: Signal<In, Bits<5>>,
    /// Low half of word 1 of an Error completion entry.
    pub code: Signal<Out, Bits<16>>,
    _codes: [u32; 32],
}

impl Default for TerminateCode {
    fn default() -> Self {
        let mut codes = [0; 32];
        for error in ALL {
            let (layer, error_type, code) = error.terminate();
            codes[error as usize] = layer | (error_type << 4) | (code << 8);
        }
        Self {
            error: Default::default(),
            code: Default::default(),
            _codes: codes,
        }
    }
}

impl Logic for TerminateCode {
    fn update(&mut self) {
        self.code.next = u64::from(self._codes[self.error.val().index()]).into();
    }

    fn connect(&mut self) {
        self.code.connect();
    }

    fn hdl(&self) -> Verilog {
        let arms = self._codes.iter().enumerate();
        let arms = arms.map(|(error, code)| format!("      {error}: code = 16'h{code:04x};\n"));
        Verilog::Custom(format!(
            "\nalways @(*) begin\n   case (error)\n{}   endcase\nend\n",
            arms.collect::<String>()
        ))
    }
}

#[cfg(test)]
mod tests;
