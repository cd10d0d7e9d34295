//! A canary for the simulation of what is synthesised: a design that relies on the initial value of
//! a register, and on what a block RAM gives for a word that is read while it is written. As it is
//! simulated ordinarily it seems to work; as silicon it does not.

use rnic_sim::ports::Port;
use rnic_sim::verilator::{build, Model, Options};
use rnic_sim::Form;

/// Written as the core is emitted. `sum` counts on from whatever it began with, `read_data` is what
/// stands in a word that is written in every cycle.
const CANARY: &str = "\
module rnic(clock, reset, sum, safe, read_data);
input wire clock;
input wire reset;
output wire [31:0] sum;
output wire [31:0] safe;
output reg [39:0] read_data;
reg [31:0] q;
initial begin
   q = 32'h0;
end
always @(posedge clock) begin
   q <= q + 1;
end
reg [31:0] cleared;
initial begin
   cleared = 32'h0;
end
always @(posedge clock) begin
   cleared <= reset ? 32'h0 : cleared + 1;
end
assign sum = q;
assign safe = cleared;
wire write_enable = !reset;
wire [3:0] write_address = 4'd3;
wire [3:0] read_address = reset ? 4'd5 : 4'd3;
wire [39:0] write_data = 40'h77;
(* no_rw_check *)
reg [39:0] memory[0:15];
reg [39:0] fetched;

integer word;
initial begin
   for (word = 0; word <= 15; word = word + 1) memory[word] = 40'h0;
   fetched = 40'h0;
   read_data = 40'h0;
end

always @(posedge clock) begin
   if (write_enable) memory[write_address] <= write_data;
   fetched <= memory[read_address];
`ifdef VERILATOR
   if (write_enable && write_address == read_address) fetched <= 0;
`endif
   read_data <= fetched;
end
endmodule
";
/// Cycles in reset, and after it.
const RESET_CYCLES: u32 = 4;
const CYCLES: u32 = 8;

fn port(name: &'static str, bits: usize) -> Port {
    Port {
        name,
        bits,
        valid: "",
    }
}

/// The outputs at the end of reset and at the end: `sum`, `safe`, `read_data` in two words.
fn run(silicon: bool, seed: u32) -> [[u32; 4]; 2] {
    let (inputs, outputs) = (
        [port("reset", 1)],
        [port("sum", 32), port("safe", 32), port("read_data", 40)],
    );
    let library = build(&Options {
        verilog: CANARY,
        inputs: &inputs,
        outputs: &outputs,
        trace: false,
        form: Form::of_verilog(silicon),
        gated: &[],
        training: None,
    });
    let library = library.expect("Verilator is there");
    let model = Model::load(&library, 1, 4, None, seed);
    let mut model = model.expect("the library was built for this");
    let mut seen = [[0; 4]; 2];
    for _ in 0..RESET_CYCLES {
        model.cycle(&[1], &mut seen[0], false);
    }
    for _ in 0..CYCLES {
        model.cycle(&[0], &mut seen[1], false);
    }
    seen
}

#[test]
fn what_relies_on_an_initial_value_or_on_a_collision_differs_as_silicon() {
    let [_, ordinary] = run(false, 0);
    assert_eq!(ordinary, run(false, 5)[1], "nothing is left open");
    assert_eq!(&ordinary[2..], [0, 0], "a collision reads as zero");

    let [in_reset, first] = run(true, 1);
    let [_, second] = run(true, 2);
    assert_ne!(first[0], ordinary[0], "a register that reset does not set");
    assert_ne!(first[0], second[0], "and another seed");
    assert_ne!(
        &first[2..],
        [0, 0],
        "a word that is read while it is written"
    );
    assert_ne!(&first[2..], [0x77, 0], "neither new nor old");
    assert_ne!(first[2..], second[2..], "and another seed");

    assert_eq!(first[1], ordinary[1], "a register that reset sets");
    assert_eq!(&in_reset[2..], [0, 0], "what the RAM was loaded with");
    assert_eq!(run(true, 1), [in_reset, first], "the seed is all there is");
}
