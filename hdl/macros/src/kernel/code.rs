//! The words of a kernel as they are written, and the numbers beside them.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, ExprLit, Lit};

/// A kernel in the notation of `rnic_hdl_tools::kernel`.
#[derive(Default)]
pub(super) struct Code {
    /// Words with a blank between two.
    pub(super) text: String,
    /// Expressions of type `usize` for the words `@0`, `@1` and so on.
    pub(super) numbers: Vec<TokenStream>,
}

impl Code {
    pub(super) fn word(&mut self, word: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(word);
    }

    /// The word of a number that the compiler knows only after this macro; equal ones share it.
    pub(super) fn number(&mut self, value: TokenStream) {
        let text = value.to_string();
        let known = self.numbers.iter().position(|one| one.to_string() == text);
        let place = known.unwrap_or_else(|| {
            self.numbers.push(value);
            self.numbers.len() - 1
        });
        self.word(&format!("@{place}"));
    }

    /// The word of a width: a plain number as it is.
    pub(super) fn width(&mut self, value: &impl ToTokens) {
        let tokens = value.to_token_stream();
        match syn::parse2::<Expr>(tokens.clone()) {
            Ok(Expr::Lit(ExprLit {
                lit: Lit::Int(number),
                ..
            })) => self.word(number.base10_digits()),
            _ => self.number(tokens),
        }
    }
}
