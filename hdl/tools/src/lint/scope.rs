//! Collects each block of a hierarchy with the names its kernel may use.
use rust_hdl::core::ast::VerilogBlock;
use rust_hdl::core::atom::is_atom_signed;
use rust_hdl::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A declared signal or constant.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) bits: usize,
    pub(super) signed: bool,
}

/// One block: what it declares and what its kernel says.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) path: Vec<String>,
    /// Own ports, wires and constants by name, and the ports of sub-blocks as `block$port`.
    pub(super) declared: BTreeMap<String, Declared>,
    /// Enum variants as `Type$Variant`.
    pub(super) variants: BTreeSet<String>,
    /// The kernel; `None` for leaves written in Verilog.
    pub(super) code: Option<VerilogBlock>,
}

/// Every block below and including `block`, the outermost first.
pub(super) fn collect<B: Block>(name: &str, block: &B) -> Vec<Scope> {
    let mut collector = Collector::default();
    block.accept(name, &mut collector);
    collector.scopes
}

#[derive(Default)]
struct Collector {
    scopes: Vec<Scope>,
    /// Indices into `scopes` from the top to the block at hand.
    stack: Vec<usize>,
    namespace: Vec<String>,
}

impl Collector {
    fn declare(&mut self, depth_above: usize, name: String, signal: &dyn Atom) {
        let Some(position) = self.stack.len().checked_sub(1 + depth_above) else {
            return;
        };
        let scope = &mut self.scopes[self.stack[position]];
        add_variants(&signal.descriptor(), &mut scope.variants);
        let declared = Declared {
            bits: signal.bits(),
            signed: is_atom_signed(signal),
        };
        scope.declared.insert(name, declared);
    }
}

fn add_variants(descriptor: &TypeDescriptor, variants: &mut BTreeSet<String>) {
    match &descriptor.kind {
        TypeKind::Enum(names) => variants.extend(names.iter().map(|name| name.replace("::", "$"))),
        TypeKind::Composite(fields) => {
            fields
                .iter()
                .for_each(|field| add_variants(&field.kind, variants));
        }
        TypeKind::Bits(_) | TypeKind::Signed(_) => {}
    }
}

impl Probe for Collector {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        let mut path = self
            .stack
            .last()
            .map_or(vec![], |&top| self.scopes[top].path.clone());
        path.push(name.to_string());
        let code = match node.hdl() {
            Verilog::Combinatorial(code) => Some(code),
            _ => None,
        };
        self.stack.push(self.scopes.len());
        self.scopes.push(Scope {
            path,
            code,
            ..Default::default()
        });
        self.namespace.clear();
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.namespace.push(name.to_string());
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        let mut parts = self.namespace.clone();
        parts.push(name.to_string());
        let name = parts.join("$");
        if signal.kind().is_parameter() {
            let instance = self
                .stack
                .last()
                .and_then(|&top| self.scopes[top].path.last());
            if let Some(instance) = instance {
                self.declare(1, format!("{instance}${name}"), signal);
            }
        }
        self.declare(0, name, signal);
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespace.pop();
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.stack.pop();
    }
}
