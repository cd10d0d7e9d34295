//! The receive pipeline of the Ferrowarp RNIC, in rust-hdl: [`top::verilog`] gives its Verilog.
#![deny(missing_docs)]
// Kernels are translated: a match arm cannot have a guard, so its condition is inside the arm.
#![allow(clippy::collapsible_match)]

mod messages;

mod receive;
mod bus;
mod transmit;
pub mod top;

/// The read engine by itself, for its proofs.
pub mod reads {
    pub use crate::bus::reads::types::cause;
    pub use crate::bus::reads::verilog;
}

/// The transmit room by itself, for its proofs.
pub mod sending {
    pub use crate::transmit::types::count;
    pub use crate::transmit::verilog;
}

/// The memories of the core, each alone, for tests of what synthesis makes of them.
pub mod memories {
    pub use crate::common::memories::{verilog, Shape, SHAPES};
}

/// Leaves that stand beside the core too.
pub mod parts {
    pub use crate::common::crc32c::network::StateStep;
    pub use crate::common::ram::SdpRam;
}

/// The adapter to the PCI Express block of AMD's UltraScale+ parts, which stands beside the core.
pub mod amd {
    pub use crate::bus::amd::verilog;
}

mod common;

#[cfg(test)]
mod tests {
    mod dialect;
}
