//! The receive pipeline of the Ferrowarp RNIC, in rust-hdl: [`top::verilog`] gives its Verilog.
#![deny(missing_docs)]
// Kernels are translated: a match arm cannot have a guard, so its condition is inside the arm.
#![allow(clippy::collapsible_match)]

mod messages;

mod receive;
mod bus;
pub mod top;

mod common;

#[cfg(test)]
mod tests {
    mod dialect;
}
