//! Gated rooms: a design with a gated room gives in every cycle what it gives without, and an edge
//! that the comparison overlooks shows.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::sizes::Sizes;
use rnic_sim::ports::Port;
use rnic_sim::verilator::{build, build_with, gate, is_guided, Compiler, Gated};
use rnic_sim::verilator::{Model, Options, Training, ROOMS};
use rnic_sim::Form;
use std::path::{Path, PathBuf};

/// Written in the form of the emitted core. The room counts down from a given value, for many
/// cycles after its inputs have become idle, and stores each value in a RAM, and what it is at in a
/// distributed one, which is written in each cycle.
const DESIGN: &str = "\
module rnic(clock, reset, value, valid, count, kept, copied);
    input wire  clock;
    input wire  reset;
    input wire  [7:0] value;
    input wire  valid;
    output wire [7:0] count;
    output wire [7:0] kept;
    output wire [7:0] copied;
    rnic$room room(
        .clock(clock),
        .reset(reset),
        .value(value),
        .valid(valid),
        .count(count),
        .kept(kept),
        .copied(copied)
    );
endmodule // rnic

module rnic$room(clock,reset,value,valid,count,kept,copied);
    input wire  clock;
    input wire  reset;
    input wire  [7:0] value;
    input wire  valid;
    output wire [7:0] count;
    output wire [7:0] kept;
    output wire [7:0] copied;
    wire [7:0] copy$d;
    wire [7:0] copy$q;
    reg  [7:0] left$d;
    wire [7:0] left$q;
    rnic$room$left left(
        .d(left$d),
        .q(left$q),
        .clock(clock)
    );
    rnic$room$memory memory(
        .clock(clock),
        .write_enable(valid),
        .write_address(value[2:0]),
        .write_data(value),
        .read_address(left$q[2:0]),
        .read_data(kept)
    );
    rnic$room$latest latest(
        .clock(clock),
        .write_enable(1'b1),
        .write_address(left$q[2:0]),
        .write_data(value),
        .read_address(left$q[2:0]),
        .read_data(copy$d)
    );
    rnic$room$left copy(
        .d(copy$d),
        .q(copy$q),
        .clock(clock)
    );
    always @(*) begin
        left$d = left$q;
        if (left$q != 0) left$d = left$q - 1;
        if (valid) left$d = value;
        if (reset) left$d = 0;
    end
    assign count = left$q;
    assign copied = copy$q;
endmodule // rnic$room

module rnic$room$left(d,q,clock);
    input wire  [7:0] d;
    output reg  [7:0] q;
    input wire  clock;
    initial begin
       q = 8'h0;
    end
    always @(posedge clock) begin
       q <= d;
    end
endmodule // rnic$room$left

module rnic$room$memory(clock,write_enable,write_address,write_data,read_address,read_data);
    input wire  clock;
    input wire  write_enable;
    input wire  [2:0] write_address;
    input wire  [7:0] write_data;
    input wire  [2:0] read_address;
    output reg  [7:0] read_data;
    (* no_rw_check *)
    reg [7:0] memory[0:7];
    reg [7:0] fetched;
    integer word;
    initial begin
       for (word = 0; word <= 7; word = word + 1) memory[word] = 8'h0;
       fetched = 8'h0;
       read_data = 8'h0;
    end
    always @(posedge clock) begin
       if (write_enable) memory[write_address] <= write_data;
       fetched <= memory[read_address];
    `ifdef VERILATOR
       if (write_enable && write_address == read_address) fetched <= 8'h0;
    `endif
       read_data <= fetched;
    end
endmodule // rnic$room$memory

module rnic$room$latest(clock,write_enable,write_address,write_data,read_address,read_data);
    input wire  clock;
    input wire  write_enable;
    input wire  [2:0] write_address;
    input wire  [7:0] write_data;
    input wire  [2:0] read_address;
    output reg  [7:0] read_data;
    reg [7:0] memory[0:7];
    integer word;
    initial begin
       for (word = 0; word <= 7; word = word + 1) memory[word] = 8'h0;
    end
    always @(posedge clock) begin
       if (write_enable) memory[write_address] <= write_data;
    end
    always @(*) read_data = memory[read_address];
endmodule // rnic$room$latest
";
const CYCLES: usize = 20_000;
const SEED: u64 = 17;

const fn port(name: &'static str, bits: usize) -> Port {
    Port {
        name,
        bits,
        valid: "",
    }
}

const INPUTS: [Port; 3] = [port("reset", 1), port("value", 8), port("valid", 1)];
const OUTPUTS: [Port; 3] = [port("count", 8), port("kept", 8), port("copied", 8)];

fn library(gated: &[&str], gate: impl Fn(&str, &[&str]) -> Gated) -> PathBuf {
    let options = Options {
        verilog: DESIGN,
        inputs: &INPUTS,
        outputs: &OUTPUTS,
        trace: false,
        form: Form::Emitted,
        gated,
        training: None,
    };
    build_with(&options, gate).expect("Verilator and a compiler are there")
}

/// Outputs of every cycle; inputs do not change in most of them, also while `valid` is high.
fn run(path: &Path) -> Vec<[u32; OUTPUTS.len()]> {
    let model = Model::load(path, INPUTS.len(), OUTPUTS.len(), None, 0);
    let mut model = model.expect("the library was built for this");
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut inputs = [1, 0, 0];
    let cycle = |at: usize| {
        inputs[0] = u32::from(at < 4 || random.random_bool(0.001));
        let was_valid = inputs[2] == 1;
        inputs[2] = u32::from(random.random_bool(if was_valid { 0.5 } else { 0.02 }));
        if inputs[2] == 1 && !was_valid {
            inputs[1] = random.random_range(0..32);
        }
        let mut outputs = [0; OUTPUTS.len()];
        model.cycle(&inputs, &mut outputs, false);
        outputs
    };
    (0..CYCLES).map(cycle).collect()
}

#[test]
fn a_gated_room_gives_the_same_in_every_cycle() {
    assert_eq!(gate(DESIGN, &["room"]).rooms.len(), 1);
    let [free, gated] = [&[][..], &["room"]].map(|rooms| run(&library(rooms, gate)));
    assert!(free.iter().any(|outputs| outputs[1] != 0));
    let first = free.iter().zip(&gated).position(|(a, b)| a != b);
    assert_eq!(first, None, "seed {SEED}: the first cycle that differs");
}

/// A profile changes the speed of a model and no value; there is one wherever its tools are.
#[test]
fn a_guided_model_gives_the_same() {
    let training = |path: &Path| drop(run(path));
    let guided = build(&Options {
        verilog: DESIGN,
        inputs: &INPUTS,
        outputs: &OUTPUTS,
        trace: false,
        form: Form::Emitted,
        gated: &["room"],
        training: Some(Training(&training)),
    });
    let guided = guided.expect("Verilator and a compiler are there");
    let compiler = Compiler::find().expect("a compiler is there");
    assert_eq!(is_guided(&guided), compiler.profiler().is_some());
    assert_eq!(run(&guided), run(&library(&["room"], gate)));
}

/// The canary: a register in a form that the comparison would not see must keep its clock, ...
#[test]
fn a_room_with_an_unknown_register_keeps_its_clock() {
    for hidden in [
        "if (d != 8'h3) q <= d;",
        "q <= d + (q == 8'h5);",
        "{q[7:4], q[3:0]} <= d;",
    ] {
        let design = DESIGN.replace("q <= d;", hidden);
        assert!(gate(&design, &["room"]).rooms.is_empty(), "{hidden}");
    }
    let design = DESIGN.replace("posedge clock", "negedge clock");
    assert!(gate(&design, &["room"]).rooms.is_empty());
}

/// ... and without one of its comparisons the room would sleep too early.
#[test]
fn each_comparison_counts() {
    let gated = gate(DESIGN, &["room"]);
    let [ram, latest] = ["rnic.room.memory", "rnic.room.latest"];
    let wrote = |ram: &str| {
        format!(
            "({ram}.write_enable) && (({ram}.memory[{ram}.write_address]) != ({ram}.write_data))"
        )
    };
    let collision = format!("{ram}.write_enable && {ram}.write_address == {ram}.read_address");
    let shows = [
        "(rnic.room.left.q) != (rnic.room.left.d)".to_owned(),
        format!("!({collision}) && (({ram}.fetched) != ({ram}.memory[{ram}.read_address]))"),
        wrote(latest),
    ];
    // What another change has already called for: a write and a collision take another input, and
    // these registers follow by an edge what is compared above.
    let follows = [
        wrote(ram),
        format!("({collision}) && (({ram}.fetched) != (8'h0))"),
        format!("({ram}.read_data) != ({ram}.fetched)"),
        "(rnic.room.copy.q) != (rnic.room.copy.d)".to_owned(),
    ];
    let mut changes = gated.rooms[0].changes.clone();
    changes.sort();
    let mut expected = [&shows[..], &follows].concat();
    expected.sort();
    assert_eq!(changes, expected);
    assert!(gated.verilog.contains(".clock(bench.clock_room)"));
    assert_eq!(gated.verilog.matches("bench.clock_room").count(), 1);
    let free = run(&library(&[], gate));
    for comparison in &shows {
        let blind = |verilog: &str, paths: &[&str]| {
            let mut gated = gate(verilog, paths);
            gated.rooms[0].changes.retain(|one| one != comparison);
            gated
        };
        assert_ne!(
            run(&library(&["room"], blind)),
            free,
            "without {comparison}"
        );
    }
}

/// A room that is renamed or gets a register of another kind would be slow in silence.
#[test]
fn every_listed_room_of_the_core_is_gated() {
    let widths = [64, 128, 512].map(|width| (width, Sizes::LARGEST));
    for (width, sizes) in widths.into_iter().chain([(64, Sizes::SMALLEST)]) {
        let verilog = rnic_hdl::top::verilog(width, sizes).expect("the core is emitted");
        let gated = gate(&verilog, ROOMS).rooms;
        let paths: Vec<&str> = gated
            .iter()
            .map(|room| room.path.trim_start_matches("rnic."))
            .collect();
        assert_eq!(paths, ROOMS, "width {width}");
        assert!(gated.iter().all(|room| !room.inputs.is_empty()));
    }
}
