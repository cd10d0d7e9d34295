//! One stimulus, two simulations: the Rust block and its Verilog must agree in every cycle.
//!
//! Enters a block and a closure that sets its inputs once per cycle; the closure may look at the
//! outputs, so it can keep a handshake. The inputs it chose are recorded from the top-level ports
//! (`Block::accept`), replayed to the verilated text, and every output is compared in every cycle:
//! sampled after the inputs settled and before the rising edge.
use super::ports::{ports_of, Port, Ports, Values};
use super::{edge, settle, settle_changes, verilator, Random};
use crate::emit::verilog_named;
use rust_hdl::prelude::*;

/// [`lockstep`] of a block whose clock is its port `clock`: name, block, cycles, drive.
#[macro_export]
macro_rules! lockstep {
    ($name:expr, $block:expr, $cycles:expr, $drive:expr $(,)?) => {
        $crate::testkit::lockstep($name, $block, $cycles, |block| &mut block.clock, $drive)
    };
}

/// Drives `block` and its Verilog, top module `name`, for `cycles` cycles and compares them.
///
/// `drive` sets the inputs of one cycle from the given generator; `reset`, too, is its business.
///
/// # Panics
/// At the first difference, naming cycle, port, both values, the inputs of that cycle, the seed
/// that replays it and the files to look at; also when the block cannot be emitted or built.
pub fn lockstep<B: Block>(
    name: &str,
    mut block: B,
    cycles: usize,
    clock: impl Fn(&mut B) -> &mut Signal<In, Clock>,
    drive: impl FnMut(&mut B, &mut Random),
) {
    run(name, &mut block, cycles, "", drive, |block| {
        edge(block, &clock);
    });
}

/// [`lockstep`] with the text that synthesis reads, where a leaf has another one for simulation
/// (`ifdef VERILATOR`).
///
/// # Panics
/// As [`lockstep`] does.
pub fn lockstep_as_synthesised<B: Block>(
    name: &str,
    mut block: B,
    cycles: usize,
    clock: impl Fn(&mut B) -> &mut Signal<In, Clock>,
    drive: impl FnMut(&mut B, &mut Random),
) {
    run(
        name,
        &mut block,
        cycles,
        "`undef VERILATOR\n",
        drive,
        |block| {
            edge(block, &clock);
        },
    );
}

/// [`lockstep`] for a block without a clock: `cycles` input vectors.
///
/// # Panics
/// As [`lockstep`] does.
pub fn lockstep_combinational<B: Block>(
    name: &str,
    mut block: B,
    cycles: usize,
    drive: impl FnMut(&mut B, &mut Random),
) {
    run(name, &mut block, cycles, "", drive, |_| {});
}

fn run<B: Block>(
    name: &str,
    block: &mut B,
    cycles: usize,
    preamble: &str,
    mut drive: impl FnMut(&mut B, &mut Random),
    edge: impl Fn(&mut B),
) {
    let mut random = Random::from_environment();
    block.connect_all();
    let verilog = verilog_named(name, block).unwrap_or_else(|error| panic!("{error}"));
    let verilog = format!("{preamble}{verilog}");
    let ports = ports_of(block);
    let model = verilator::build(name, &verilog, &ports);

    settle(block);
    let mut values = Values::of(&ports);
    let mut now = Now { name, cycle: 0 };
    for cycle in 0..cycles {
        now.cycle = cycle;
        drive(block, &mut random);
        settle_changes(block);
        values.sample(block);
        edge(block);
    }
    drop(now);
    let actual = model.run(&values.inputs);
    compare(
        name,
        &ports,
        &values,
        &actual,
        &format!("{random}; {model}"),
    );
}

/// Prints the cycle when `drive` panics; [`Random`] prints the seed.
struct Now<'a> {
    name: &'a str,
    cycle: usize,
}

impl Drop for Now<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: in cycle {}", self.name, self.cycle);
        }
    }
}

fn compare(name: &str, ports: &Ports, values: &Values, actual: &str, context: &str) {
    let mut lines = actual.lines();
    let cycles = values.outputs.lines().zip(values.inputs.lines());
    for (cycle, (rust, inputs)) in cycles.enumerate() {
        let line = lines
            .next()
            .unwrap_or_else(|| panic!("{name}: Verilator stopped before cycle {cycle}; {context}"));
        if line == rust {
            continue;
        }
        let (rust, verilog): (Vec<&str>, Vec<&str>) =
            (rust.split(' ').collect(), line.split(' ').collect());
        assert_eq!(
            verilog.len(),
            rust.len(),
            "{name}: malformed output `{line}`; {context}"
        );
        for ((port, rust), verilog) in ports.outputs.iter().zip(rust).zip(verilog) {
            assert!(
                rust == verilog,
                "{name}: cycle {cycle}: {} is {rust} in Rust and {verilog} in Verilog; \
                 inputs {}; {context}",
                port.name,
                named(&ports.inputs, inputs),
            );
        }
    }
    assert_eq!(lines.next(), None, "{name}: Verilator ran on; {context}");
}

fn named(ports: &[Port], values: &str) -> String {
    let values = values.split(' ');
    let pairs = ports
        .iter()
        .zip(values)
        .map(|(port, value)| format!("{}={value}", port.name));
    pairs.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A leaf whose Verilog contradicts its Rust from the value 200 on.
    #[derive(LogicBlock, Default)]
    struct Contradiction {
        pub clock: Signal<In, Clock>,
        pub value: Signal<In, Bits<8>>,
        pub copy: Signal<Out, Bits<8>>,
    }

    impl Logic for Contradiction {
        fn update(&mut self) {
            if self.clock.pos_edge() {
                self.copy.next = self.value.val();
            }
        }

        fn connect(&mut self) {
            self.copy.connect();
        }

        fn hdl(&self) -> Verilog {
            Verilog::Custom("always @(posedge clock) copy <= value < 8'd200 ? value : 8'd0;".into())
        }
    }

    fn drive_below(limit: u64) {
        lockstep!(
            "contradiction",
            Contradiction::default(),
            2000,
            |block, random| {
                block.value.next = random.below(limit).into();
            }
        );
    }

    #[test]
    fn blocks_that_agree_on_the_stimulus_pass() {
        drive_below(200);
    }

    #[test]
    #[should_panic(expected = "copy is c8 in Rust and 00 in Verilog")]
    fn canary_a_contradiction_is_found_and_named() {
        drive_below(201);
    }
}
