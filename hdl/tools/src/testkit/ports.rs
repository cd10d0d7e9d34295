//! The ports of a block as lockstep and its C++ program list them, and their values cycle by cycle.
//!
//! | enters | a block, once; then after each cycle's inputs have settled        |
//! |--------|-------------------------------------------------------------------|
//! | leaves | [`Ports`]: names and widths in bits; [`Values`]: a line per cycle |
//!
//! Names and types are asked for once, as a block is visited in each cycle: a list of them for each
//! took a tenth of a lockstep test.
use rust_hdl::prelude::*;
use std::fmt::Write;

/// A port of the top module.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) bits: usize,
}

/// The ports of a block in declaration order, the clock apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    pub(super) clock: Option<Port>,
    /// The clock's place among all ports.
    clock_place: Option<usize>,
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
}

/// The top-level ports of `block`.
///
/// # Panics
/// If it has two clocks, or a port that is neither input nor output.
pub(super) fn ports_of<B: Block>(block: &B) -> Ports {
    let mut lister = Lister::default();
    block.accept("top", &mut lister);
    lister.ports
}

#[derive(Default)]
struct Lister {
    depth: usize,
    namespace: Vec<String>,
    ports: Ports,
}

impl Probe for Lister {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth += 1;
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth -= 1;
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.namespace.push(name.to_string());
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespace.pop();
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        if self.depth != 1 || !signal.kind().is_parameter() {
            return;
        }
        let mut path = self.namespace.clone();
        path.push(name.to_string());
        let port = Port {
            name: path.join("$"),
            bits: signal.bits(),
        };
        let ports = &mut self.ports;
        match signal.kind() {
            AtomKind::InputParameter if signal.descriptor().name == "clock" => {
                assert!(ports.clock.is_none(), "lockstep drives one clock, not two");
                ports.clock_place = Some(ports.inputs.len() + ports.outputs.len());
                ports.clock = Some(port);
            }
            AtomKind::InputParameter => ports.inputs.push(port),
            AtomKind::OutputParameter => ports.outputs.push(port),
            kind => panic!(
                "lockstep does not know ports of kind {kind:?}: {}",
                port.name
            ),
        }
    }
}

/// The values of a block's ports, a line for each cycle: in hexadecimal, as many digits as a port's
/// width needs, a space between two ports.
pub(super) struct Values {
    /// The clock's place among all ports.
    clock_place: Option<usize>,
    depth: usize,
    /// Ports of this cycle so far.
    seen: usize,
    /// As rust-hdl prints a value.
    printed: String,
    pub(super) inputs: String,
    pub(super) outputs: String,
}

impl Values {
    /// No cycle yet, of a block with these ports.
    pub(super) fn of(ports: &Ports) -> Self {
        Self {
            clock_place: ports.clock_place,
            depth: 0,
            seen: 0,
            printed: String::new(),
            inputs: String::new(),
            outputs: String::new(),
        }
    }

    /// Adds the values that the ports of `block` have now.
    pub(super) fn sample<B: Block>(&mut self, block: &B) {
        self.seen = 0;
        block.accept("top", self);
        for line in [&mut self.inputs, &mut self.outputs] {
            if line.ends_with(' ') {
                line.pop();
            }
            line.push('\n');
        }
    }
}

impl Probe for Values {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth += 1;
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth -= 1;
    }

    fn visit_atom(&mut self, _name: &str, signal: &dyn Atom) {
        if self.depth != 1 || !signal.kind().is_parameter() {
            return;
        }
        let place = self.seen;
        self.seen += 1;
        if Some(place) == self.clock_place {
            return;
        }
        self.printed.clear();
        write!(self.printed, "{:x}", signal.verilog()).expect("a string takes everything");
        let (_, digits) = self
            .printed
            .split_once("'h")
            .expect("rust-hdl prints <width>'h<digits>");
        let line = match signal.kind() {
            AtomKind::InputParameter => &mut self.inputs,
            _ => &mut self.outputs,
        };
        let width = signal.bits().div_ceil(4);
        line.extend(std::iter::repeat_n('0', width.saturating_sub(digits.len())));
        line.push_str(digits);
        line.push(' ');
    }
}
