//! Models of the part's cells against the leaves that they stand for: one design with a memory of
//! each kind, as emitted and as yosys makes it of cells, gets the same random traffic.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_hdl::memories::{self, Shape};
use rnic_sim::netlist;
use rnic_sim::ports::{self, Port};
use rnic_sim::verilator::{build, Model, Options};
use rnic_sim::Form;
use std::fmt::Write;

/// A memory with contents; yosys makes block RAM of it.
const TABLE: &str = "
module table_18x10(input clock, input [9:0] read_address, output reg [17:0] read_data);
    reg [17:0] memory[0:1023];
    integer word;
    initial for (word = 0; word < 1024; word = word + 1) memory[word] = word * 211 + 5;
    reg [17:0] fetched;
    always @(posedge clock) begin
        fetched <= memory[read_address];
        read_data <= fetched;
    end
endmodule
";
const TABLE_SHAPE: Shape = Shape {
    name: "table_18x10",
    bits: 18,
    words_log2: 10,
    latency: LATENCY,
};
/// A memory that is read where it is written; yosys makes one port of both.
const SHARED_SHAPE: Shape = Shape {
    name: "shared_9x11",
    bits: 9,
    words_log2: 11,
    latency: LATENCY,
};
/// What a short run leaves out: yosys is compiled when it first runs, for more than a minute.
const YOSYS: &str = "what yosys reads";
const CYCLES: usize = 30_000;
/// The longest read latency.
const LATENCY: usize = 2;
/// Bits of the addresses and words that the design takes.
const ADDRESS_BITS: usize = 14;
const WORD_BITS: usize = 40;

fn shapes() -> impl Iterator<Item = Shape> {
    let others = [TABLE_SHAPE, SHARED_SHAPE];
    memories::SHAPES.into_iter().chain(others)
}

fn port(name: &'static str, bits: usize) -> Port {
    Port {
        name,
        bits,
        valid: "",
    }
}

fn inputs() -> [Port; 5] {
    [
        port("reset", 1),
        port("write_enable", 1),
        port("write_address", ADDRESS_BITS),
        port("write_data", WORD_BITS),
        port("read_address", ADDRESS_BITS),
    ]
}

fn outputs() -> Vec<Port> {
    shapes().map(|shape| port(shape.name, shape.bits)).collect()
}

/// All memories side by side, on the same ports.
fn design() -> String {
    let mut text = memories::verilog().expect("the memories pass the lint");
    text.push_str(TABLE);
    text.push_str(
        "module rnic(input clock, input reset, input write_enable, input [13:0] write_address,\n\
         input [39:0] write_data, input [13:0] read_address",
    );
    for Shape { name, bits, .. } in shapes() {
        write!(text, ", output [{}:0] {name}", bits - 1).expect("writing to a string");
    }
    text.push_str(");\n");
    for shape in shapes() {
        let (name, address) = (shape.name, shape.words_log2 - 1);
        let writes = format!(
            ".write_enable(write_enable), .write_address(write_address[{address}:0]), \
             .write_data(write_data[{}:0]), ",
            shape.bits - 1
        );
        let (module, writes, read_address) = match name {
            _ if name == TABLE_SHAPE.name => (name, "", "read_address"),
            _ if name == SHARED_SHAPE.name => ("ram_9x11", &*writes, "write_address"),
            _ => (name, &*writes, "read_address"),
        };
        writeln!(
            text,
            "{module} the_{name}(.clock(clock), {writes}.read_data({name}), \
             .read_address({read_address}[{address}:0]));"
        )
        .expect("writing to a string");
    }
    text.push_str("endmodule\n");
    text
}

fn model(verilog: &str, form: Form) -> Model {
    let (inputs, outputs) = (inputs(), outputs());
    let library = build(&Options {
        verilog,
        inputs: &inputs,
        outputs: &outputs,
        trace: false,
        form,
        gated: &[],
        training: None,
    });
    let library = library.expect("Verilator and a compiler are there");
    let words = (ports::words(&inputs), ports::words(&outputs));
    let loaded = Model::load(&library, words.0, words.1, None, 1);
    loaded.expect("the library was built for this")
}

/// One cycle of traffic.
#[derive(Clone, Copy, Default)]
struct Access {
    write: bool,
    write_address: u32,
    read_address: u32,
    data: u64,
}

impl Access {
    /// Few addresses, so that what was written is read, and reads collide.
    fn draw(random: &mut ChaCha8Rng) -> Self {
        let mut address = || {
            let low = random.random_range(0..8);
            low | random.random_range(0..4) << 5 | random.random_range(0..2) << 13
        };
        let (write_address, mut read_address) = (address(), address());
        // The table has contents at all of them.
        if random.random_bool(0.2) {
            read_address = random.random_range(0..1 << ADDRESS_BITS);
        }
        Self {
            write: random.random_bool(0.5),
            write_address,
            read_address,
            data: random.random_range(0..1 << WORD_BITS),
        }
    }

    fn words(self) -> [u32; 6] {
        let (low, high) = (self.data as u32, (self.data >> 32) as u32);
        [
            0,
            u32::from(self.write),
            self.write_address,
            low,
            high,
            self.read_address,
        ]
    }

    /// Whether the part leaves open what this read of a memory gives.
    fn collides(self, shape: Shape) -> bool {
        let mask = (1 << shape.words_log2) - 1;
        match shape.name {
            _ if shape.latency == 0 || shape.name == TABLE_SHAPE.name => false,
            _ if shape.name == SHARED_SHAPE.name => self.write,
            _ => self.write && self.write_address & mask == self.read_address & mask,
        }
    }
}

/// What two designs show of one memory: reads that differ, and colliding ones that do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Difference {
    reads: usize,
    colliding: usize,
}

/// Plays the same traffic on both.
fn differences(mut leaves: Model, mut cells: Model) -> Vec<(&'static str, Difference)> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut found: Vec<_> = shapes()
        .map(|shape| (shape.name, Difference::default()))
        .collect();
    let mut past = [Access::default(); LATENCY + 1];
    let words = ports::words(&outputs());
    let (mut expected, mut shown) = (vec![0; words], vec![0; words]);
    for cycle in 0..CYCLES {
        past.rotate_right(1);
        past[0] = Access::draw(&mut random);
        leaves.cycle(&past[0].words(), &mut expected, false);
        cells.cycle(&past[0].words(), &mut shown, false);
        if cycle <= LATENCY {
            continue;
        }
        for (shape, (_, difference)) in shapes().zip(&mut found) {
            let at = ports::offset(&outputs(), shape.name);
            let word = at..at + shape.bits.div_ceil(32);
            if expected[word.clone()] == shown[word] {
                continue;
            }
            match past[shape.latency].collides(shape) {
                true => difference.colliding += 1,
                false => difference.reads += 1,
            }
        }
    }
    found
}

#[test]
fn cells_read_what_the_leaves_read_and_noise_where_the_part_defines_nothing() {
    if rnic_effort::is_left_out(YOSYS) {
        return;
    }
    let design = design();
    let cells = netlist::text(&design, "rnic").expect("yosys is there");
    let leaves = || model(&design, Form::Emitted);
    for (name, difference) in differences(leaves(), model(&cells, Form::Netlist)) {
        assert_eq!(difference.reads, 0, "{name}");
        let has_noise = !name.starts_with("lut") && !name.starts_with("table");
        assert_eq!(
            difference.colliding > 0,
            has_noise,
            "{name}: {difference:?}"
        );
    }
    // Another bit of the address, a word of the contents in another's place.
    let broken = [
        (
            "wire [13:0] read = {\n        ADB13, ADB12",
            "wire [13:0] read = {\n        ADB12, ADB13",
        ),
        (
            "octets[2 * number] = CONTENTS[20 * number +: 9]",
            "octets[2 * number] = 0",
        ),
    ];
    for (right, wrong) in broken {
        assert!(cells.contains(right), "{right}");
        let broken = cells.replace(right, wrong);
        let found = differences(leaves(), model(&broken, Form::Netlist));
        assert!(
            found.iter().any(|(_, difference)| difference.reads > 0),
            "{wrong}"
        );
    }
}

/// A design that cannot be synthesised is an error with what yosys says of it.
#[test]
fn yosys_names_what_it_refuses() {
    if rnic_effort::is_left_out(YOSYS) {
        return;
    }
    let error = netlist::text("module rnic(input clock); missing one(); endmodule", "rnic");
    let error = error.expect_err("there is no such module").to_string();
    assert!(
        error.contains("yosys failed") && error.contains("missing"),
        "{error}"
    );
}
