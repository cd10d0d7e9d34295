//! The core as synthesised, with noise where hardware is undefined.
//!
//! | input  | the emitted Verilog                                                               |
//! | output | the same without its simulation-only lines (`ifdef VERILATOR`); a read of block   |
//! |        | RAM that collides with a write gives noise, and no register has an initial value  |
//!
//! Verilator initialises such registers randomly (`--x-initial unique`, with the seed that the shim
//! is opened with). RAM keeps its emitted contents: the bitstream holds those, and slices of deep
//! RAM have none. An FPGA does initialise registers at power-up; but after a function-level reset a
//! register that it does not reset may hold any value. Behaviour that depends on either differs
//! from the model, or from one seed to the next.

use std::fmt::Write;

/// The attribute of each block RAM of the core, and of each slice of a deep one.
const MEMORY_MARK: &str = "(* no_rw_check *)";

/// `verilog` as synthesised.
///
/// # Panics
/// If a block RAM is emitted in an unknown form: its collisions would then give no noise.
pub fn text(verilog: &str) -> String {
    let mut out = String::with_capacity(verilog.len() + verilog.len() / 8);
    out.push_str("`undef VERILATOR\n");
    let (mut initial, mut memories) = (false, 0);
    let mut fetched_bits = 0;
    for line in verilog.lines() {
        let words = line.trim();
        if initial {
            initial = words != "end";
            if words.starts_with("for (word ") {
                writeln!(out, "initial {words}").expect("writing to a string");
            }
            continue;
        }
        initial = words == "initial begin";
        if initial || is_single_initial(words) {
            continue;
        }
        if let Some((name, bits)) = declaration_of_fetched(words) {
            fetched_bits = bits;
            writeln!(out, "reg [{}:0] {name};", bits - 1).expect("writing to a string");
            writeln!(out, "reg [31:0] {name}_noise;").expect("writing to a string");
            continue;
        }
        out.push_str(line);
        out.push('\n');
        if let Some(name) = fetch(words) {
            memories += 1;
            collide(&mut out, name, fetched_bits);
        }
    }
    assert_eq!(
        memories,
        verilog.matches(MEMORY_MARK).count(),
        "each block RAM gives noise at a collision"
    );
    out
}

/// `initial x = 0;` on a line of its own.
fn is_single_initial(words: &str) -> bool {
    words.starts_with("initial ") && words.ends_with(';')
}

/// Name and bits of a RAM's first output register, at its declaration.
fn declaration_of_fetched(words: &str) -> Option<(&str, usize)> {
    let (high, rest) = words.strip_prefix("reg [")?.split_once(":0] ")?;
    let name = rest.split([';', ' ']).next()?;
    let is_declaration = name.starts_with("fetched") && rest.ends_with(';');
    is_declaration.then_some((name, high.parse::<usize>().ok()? + 1))
}

/// The same where the RAM is read.
fn fetch(words: &str) -> Option<&str> {
    let (name, memory) = words
        .strip_suffix("[read_address];")?
        .split_once(" <= memory")?;
    let slice = name.strip_prefix("fetched")?;
    (slice == memory).then_some(name)
}

/// A read of the word being written: another random value each time.
fn collide(out: &mut String, name: &str, bits: usize) {
    let copies = bits.div_ceil(32);
    write!(
        out,
        "   if (write_enable && write_address == read_address) begin\n      \
         {name} <= {{{copies}{{{name}_noise}}}};\n      \
         {name}_noise <= {name}_noise * 32'd1664525 + 32'd1013904223;\n   end\n"
    )
    .expect("writing to a string");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `hdl/rnic/src/common/ram.rs` and rust-hdl's DFF are emitted.
    const EMITTED: &str = "\
(* no_rw_check *)
reg [39:0] memory[0:31];
reg [39:0] fetched;

integer word;
initial begin
   for (word = 0; word <= 31; word = word + 1) memory[word] = 40'h0;
   fetched = 40'h0;
   read_data = 40'h0;
end

always @(posedge clock) begin
   fetched <= memory[read_address];
   read_data <= fetched;
end
(* no_rw_check *)
reg [0:0] memory_3[0:16383];
reg [0:0] fetched_3 = 1'h0;
initial read_data[3 +: 1] = 1'h0;
always @(posedge clock) begin
   fetched_3 <= memory_3[read_address];
end
initial begin
   q = 1'h0;
end
";

    #[test]
    fn memories_keep_their_contents_and_registers_lose_their_values() {
        let text = text(EMITTED);
        assert!(text.starts_with("`undef VERILATOR\n"));
        assert!(text.contains("initial for (word = 0; word <= 31; word = word + 1) memory[word]"));
        assert_eq!(text.matches("initial").count(), 1, "{text}");
        assert!(text.contains("fetched <= {2{fetched_noise}};"), "{text}");
        assert!(text.contains("fetched_3 <= {1{fetched_3_noise}};"));
        assert!(text.contains("reg [0:0] fetched_3;"));
    }

    #[test]
    #[should_panic(expected = "each block RAM gives noise")]
    fn a_memory_read_of_unknown_form_is_refused() {
        text(&EMITTED.replace("memory_3[read_address]", "memory_3[address]"));
    }
}
