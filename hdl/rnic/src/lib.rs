//! The receive pipeline of the Ferrowarp RNIC, in rust-hdl: [`top::verilog`] gives its Verilog.
#![deny(missing_docs)]
// Kernels are translated: a match arm cannot have a guard, so its condition stands inside.
#![allow(clippy::collapsible_match)]

mod messages;

mod ethernet;
mod ip;
mod tcp;
mod front_end;
mod packet;
mod mpa;
mod ddp;
mod stag;
mod placement;
mod completion;
mod pcie;
mod csr;
pub mod top;

mod common;

#[cfg(test)]
mod tests {
    mod dialect;
}
