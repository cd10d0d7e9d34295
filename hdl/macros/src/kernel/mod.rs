//! `#[kernel]`: what rust-hdl asks of a block, from the body of its `update`.
//!
//! Enters `fn update`; leave, inside the same `impl Logic`:
//!
//! ```text
//! update     as it is, its lists of wires and registers written out; it returns at once while its
//!            block is settled
//! connect    one call for each signal that a statement assigns
//! hdl        the statements as one string, and the numbers that the compiler knows by then
//! ```
//!
//! The `hdl` of rust-hdl's `#[hdl_gen]` builds the tree of statements node by node, which is more
//! code than all the rest of a block. Here `rnic_hdl_tools::kernel` builds the same tree from the
//! string; the words are documented there.

mod code;
mod connect;
mod expressions;
mod names;
mod statements;
mod wires;

#[cfg(test)]
mod tests;

use code::Code;
use proc_macro2::TokenStream;
use quote::quote;
use statements::Translator;
use syn::{parse_quote, Error, ItemFn};

/// The three functions.
pub(crate) fn expand(mut function: ItemFn) -> syn::Result<TokenStream> {
    let signature = &function.sig;
    let own = match signature.receiver() {
        Some(receiver) if signature.inputs.len() == 1 => receiver.self_token,
        _ => {
            return Err(Error::new_spanned(
                signature,
                "kernel: a block's `update` has a `self` and nothing else",
            ));
        }
    };
    wires::write_out(&mut function.block, own)?;
    let Code { text, numbers } = Translator::translate(&function.block)?;
    let connections = connect::connections(&function.block);
    function.block.stmts.insert(
        0,
        parse_quote! {
            if ::rnic_hdl_tools::kernel::is_settled(#own) {
                return;
            }
        },
    );
    Ok(quote! {
        #[allow(unreachable_patterns)]
        #function

        #[allow(unused_variables, clippy::needless_range_loop)]
        fn connect(&mut #own) {
            #connections
        }

        fn hdl(&#own) -> ::rnic_hdl_tools::kernel::Verilog {
            ::rnic_hdl_tools::kernel::verilog(#text, &[#(#numbers),*])
        }
    })
}
