//! The XOR networks of CRC32C: leaves whose Verilog is written from [`super::matrix`].
//!
//! | leaf          | latency  | computes                                                      |
//! |---------------|----------|---------------------------------------------------------------|
//! | [`Reduce`]    | 2 cycles | what a beat of `D` bits adds to the register                  |
//! | [`StateStep`] | 0        | the register advanced over a beat of zeros                    |
//! | [`StateBack`] | 0        | the register before a number of zero octets                   |
//! | [`Residue`]   | 0        | the register after a right FPDU and a number of zero words    |
use super::matrix::{residue, Matrix};
use rnic_macros::Init;
use rust_hdl::prelude::*;

/// Words of a beat at most; wider beats would need another stage.
const WORDS_MAX: usize = 16;

fn words_of<const D: usize>() -> usize {
    assert!(
        D % 32 == 0 && (1..=WORDS_MAX).contains(&(D / 32)),
        "Crc32c: D = {D} must be a multiple of 32 in 32..=512"
    );
    D / 32
}

/// What each of `words` words passes through: word `i` through `words - i` advances.
fn advances(words: usize) -> Vec<Matrix> {
    (0..words)
        .map(|word| Matrix::advance(words - word))
        .collect()
}

/// Parities of `vector` under the rows of `matrix`, as 32 Verilog assignments to `target`.
fn parities(matrix: &Matrix, vector: &str, target: &str, operator: &str) -> String {
    let line = |row| {
        format!(
            "   {target}[{row}] {operator} ^({vector} & 32'h{:x});\n",
            matrix.row(row)
        )
    };
    (0..32).map(line).collect()
}

fn to_word(value: u32) -> Bits<32> {
    Bits::from(LiteralType::from(value))
}

/// Feed-forward part: `reduced` is the contribution of the beat two cycles ago, the all-ones start
/// included when it was a first beat.
#[derive(LogicBlock, Init)]
pub struct Reduce<const D: usize> {
    pub clock: Signal<In, Clock>,
    /// The beat; sampled every cycle.
    pub data: Signal<In, Bits<D>>,
    /// The beat starts an FPDU: its first word counts complemented.
    pub first: Signal<In, Bit>,
    /// To be added to the advanced register.
    pub reduced: Signal<Out, Bits<32>>,
    #[init(advances(words_of::<D>()))]
    _advance: Vec<Matrix>,
    _stage_1: u32,
}

impl<const D: usize> Logic for Reduce<D> {
    fn update(&mut self) {
        if !self.clock.pos_edge() {
            return;
        }
        self.reduced.next = to_word(self._stage_1);
        let data = self.data.val();
        let start = if self.first.val() {
            self._advance[0].apply(u32::MAX)
        } else {
            0
        };
        self._stage_1 = self
            ._advance
            .iter()
            .enumerate()
            .fold(start, |sum, (word, advance)| {
                sum ^ advance.apply(data.get_bits::<32>(word * 32).to_u32())
            });
    }

    fn connect(&mut self) {
        self.reduced.connect();
    }

    fn hdl(&self) -> Verilog {
        let mut text = String::new();
        let mut lanes = vec![];
        for word in 0..self._advance.len() {
            let lane = format!("lane_{word}");
            text += &format!("reg [31:0] {lane};\ninitial {lane} = 32'h0;\n");
            lanes.push(lane);
        }
        text += "reg first_q1;\ninitial first_q1 = 1'b0;\ninitial reduced = 32'h0;\n\n";
        text += "always @(posedge clock) begin\n";
        for (word, (lane, advance)) in lanes.iter().zip(&self._advance).enumerate() {
            let data = format!("data[{} +: 32]", word * 32);
            text += &parities(advance, &data, lane, "<=");
        }
        let start = self._advance[0].apply(u32::MAX);
        text += &format!(
            "   first_q1 <= first;\n   reduced <= {} ^ (first_q1 ? 32'h{start:x} : 32'h0);\nend\n",
            lanes.join(" ^ ")
        );
        Verilog::Custom(text)
    }

    fn timing(&self) -> Vec<TimingInfo> {
        crate::common::clocked_timing("crc32c_reduce", &["data", "first"], &["reduced"])
    }
}

/// The register advanced over a beat of `D` zero bits.
#[derive(LogicBlock, Init)]
pub struct StateStep<const D: usize> {
    /// The register.
    pub state: Signal<In, Bits<32>>,
    /// The register one beat later.
    pub stepped: Signal<Out, Bits<32>>,
    #[init(Matrix::advance(words_of::<D>()))]
    _advance: Matrix,
}

impl<const D: usize> Logic for StateStep<D> {
    fn update(&mut self) {
        if rnic_hdl_tools::kernel::is_settled(self) {
            return;
        }
        self.stepped.next = to_word(self._advance.apply(self.state.val().to_u32()));
    }

    fn connect(&mut self) {
        self.stepped.connect();
    }

    fn hdl(&self) -> Verilog {
        let lines = parities(&self._advance, "state", "stepped", "=");
        Verilog::Custom(format!("always @(*) begin\n{lines}end\n"))
    }
}

/// The register before `OCTETS` zero octets.
#[derive(LogicBlock, Init)]
pub struct StateBack<const OCTETS: usize> {
    /// The register.
    pub state: Signal<In, Bits<32>>,
    /// The register so many octets earlier.
    pub earlier: Signal<Out, Bits<32>>,
    #[init(Matrix::retreat(OCTETS))]
    _retreat: Matrix,
}

impl<const OCTETS: usize> Logic for StateBack<OCTETS> {
    fn update(&mut self) {
        if rnic_hdl_tools::kernel::is_settled(self) {
            return;
        }
        self.earlier.next = to_word(self._retreat.apply(self.state.val().to_u32()));
    }

    fn connect(&mut self) {
        self.earlier.connect();
    }

    fn hdl(&self) -> Verilog {
        let lines = parities(&self._retreat, "state", "earlier", "=");
        Verilog::Custom(format!("always @(*) begin\n{lines}end\n"))
    }
}

/// The register after an FPDU with a right CRC field and `words` zero words.
#[derive(LogicBlock, Default)]
pub struct Residue {
    /// Zero words after the FPDU.
    pub words: Signal<In, Bits<4>>,
    /// What the register must be.
    pub residue: Signal<Out, Bits<32>>,
}

impl Logic for Residue {
    fn update(&mut self) {
        self.residue.next = to_word(residue(self.words.val().index()));
    }

    fn connect(&mut self) {
        self.residue.connect();
    }

    fn hdl(&self) -> Verilog {
        let arm = |words| format!("   4'd{words}: residue = 32'h{:x};\n", residue(words));
        let arms: String = (0..WORDS_MAX).map(arm).collect();
        Verilog::Custom(format!("always @(*) case (words)\n{arms}endcase\n"))
    }
}
