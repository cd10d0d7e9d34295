//! Which text of the core is simulated.

/// From the Verilog as emitted towards what a part is configured with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// The emitted Verilog.
    #[default]
    Emitted,
    /// What is synthesised of it: values that hardware leaves undefined - registers without reset,
    /// reads of block RAM that collide with a write - are drawn from the seed.
    Silicon,
    /// What synthesis makes of it, in cells of the ECP5 ([`crate::netlist`]). Registers begin as
    /// the bitstream has them; colliding reads are drawn from the seed.
    Netlist,
}

impl Form {
    /// The emitted Verilog, or as silicon.
    pub fn of_verilog(silicon: bool) -> Self {
        match silicon {
            true => Self::Silicon,
            false => Self::Emitted,
        }
    }
}
