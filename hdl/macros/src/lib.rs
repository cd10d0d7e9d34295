//! Macros for hardware descriptions: what a block starts as, and how blocks are wired.
//!
//! | macro             | replaces                                                              |
//! |-------------------|-----------------------------------------------------------------------|
//! | `#[derive(Init)]` | `impl Default`: one line for each signal, constant and inner block    |
//! | `#[kernel]`       | `#[hdl_gen]`; expands `registers!`, `wire!`, `stream!`, `tlps!` first |
//!
//! Both expand to what one would write by hand, so the emitted Verilog is the same.
#![deny(missing_docs)]

mod init;
mod kernel;

use proc_macro::TokenStream;
use syn::{parse_macro_input, DeriveInput, ItemFn};

/// Derives `Default` for a block; values stand at the fields they belong to.
///
/// ```text
/// #[derive(LogicBlock, Init)]
/// #[init(assert!(W.is_power_of_two(), "Shift: W = {W} is no power of two");)]
/// struct Shift<const W: usize> {
///     clock: Signal<In, Clock>,              Default::default()
///     lanes: [Signal<In, Bits<W>>; 4],       each Default::default()
///     #[constant(W - 1)]                     Constant::new((W - 1).into())
///     last: Constant<Bits<6>>,
///     #[constants(|lane| 8 * lane)]          Constant::new(0.into()), 8, 16, 24
///     place: [Constant<Bits<6>>; 4],
///     #[init(Fifo::new(7))]                  Fifo::new(7)
///     queue: Fifo<W>,
/// }
/// ```
///
/// `#[init(...)]` above the struct holds statements that run first: checks of its parameters, and
/// values that several fields need.
///
/// # Errors
/// Refuses, at compile time, what is not a struct with named fields, and a field with two values.
#[proc_macro_derive(Init, attributes(init, constant, constants))]
pub fn init(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    init::expand(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Turns the body of `update` into hardware, as `#[hdl_gen]` does, after expanding these:
///
/// ```text
/// registers!(clock; state, held);
///     dff_setup!(self, clock, state, held);
///
/// wire!(self.store => self; stored, stored_valid as valid);
///     self.stored.next = self.store.stored.val();
///     self.valid.next = self.store.stored_valid.val();
///
/// wire!(self => self.{store, reader}; clock, reset);
///     self.store.clock.next = self.clock.val();
///     self.reader.clock.next = self.clock.val();
///     self.store.reset.next = self.reset.val();
///     self.reader.reset.next = self.reset.val();
///
/// stream!(self.tcp => self.manager; accepted);
///     self.manager.accepted.next = self.tcp.accepted.val();
///     self.manager.accepted_valid.next = self.tcp.accepted_valid.val();
///     self.tcp.accepted_ready.next = self.manager.accepted_ready.val();
///
/// tlps!(self.events => self.pcie; tlp as event_tlp);
///     self.pcie.event_tlp_data.next = self.events.tlp_data.val();
///     and so `keep`, `last`, `valid`, `header`
///     self.events.tlp_ready.next = self.pcie.event_tlp_ready.val();
/// ```
///
/// # Errors
/// Refuses, at compile time, lists that do not read as above.
#[proc_macro_attribute]
pub fn kernel(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    kernel::expand(function)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
