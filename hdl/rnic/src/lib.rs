//! The receive pipeline of the Ferrowarp RNIC, in rust-hdl: [`top::verilog`] gives its Verilog.
#![deny(missing_docs)]
// Kernels are translated: a match arm cannot have a guard, so its condition is inside the arm.
#![allow(clippy::collapsible_match)]

mod messages;

mod receive;
mod bus;
mod transmit;
pub mod top;

/// The read engine by itself: the core does not use it yet.
pub mod reads {
    pub use crate::bus::reads::types::cause;
    pub use crate::bus::reads::verilog;
}

/// The transmit room by itself: the core does not use it yet.
pub mod sending {
    pub use crate::transmit::types::count;
    pub use crate::transmit::verilog;
}

mod common;

#[cfg(test)]
mod tests {
    mod dialect;
}
