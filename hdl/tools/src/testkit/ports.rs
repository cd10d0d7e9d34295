//! The ports of a block as lockstep and its C++ program list them.

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
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
}
