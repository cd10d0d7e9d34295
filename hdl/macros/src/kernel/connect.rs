//! The body of `connect`: every signal that a kernel assigns is marked as driven.
//!
//! Conditions do not count. A signal is marked once; what a loop indexes, in that loop.

use super::statements::{Registers, Target};
use proc_macro2::TokenStream;
use quote::{quote, ToTokens};
use std::collections::HashSet;
use syn::{Block, Expr, ExprForLoop, Stmt};

/// Of a block that translates.
pub(super) fn connections(block: &Block) -> TokenStream {
    let mut connections = Connections {
        scopes: vec![HashSet::new()],
    };
    connections.block(block)
}

struct Connections {
    /// What is marked already, outside all loops first.
    scopes: Vec<HashSet<String>>,
}

impl Connections {
    fn block(&mut self, block: &Block) -> TokenStream {
        block
            .stmts
            .iter()
            .map(|statement| self.statement(statement))
            .collect()
    }

    fn statement(&mut self, statement: &Stmt) -> TokenStream {
        match statement {
            Stmt::Expr(expression, _) => self.expression(expression),
            Stmt::Macro(list) => match Registers::of(&list.mac) {
                Ok(Registers { own, names, .. }) => names
                    .iter()
                    .flat_map(|name| [quote!(#own.#name.clock), quote!(#own.#name.d)])
                    .map(|signal| self.mark(signal))
                    .collect(),
                Err(_) => TokenStream::new(),
            },
            _ => TokenStream::new(),
        }
    }

    fn expression(&mut self, expression: &Expr) -> TokenStream {
        match expression {
            Expr::Assign(assignment) => match Target::of(&assignment.left) {
                Ok(target) => self.mark(target.signal.to_token_stream()),
                Err(_) => TokenStream::new(),
            },
            Expr::If(conditional) => {
                let mut all = self.block(&conditional.then_branch);
                if let Some((_, otherwise)) = &conditional.else_branch {
                    all.extend(self.expression(otherwise));
                }
                all
            }
            Expr::Match(choice) => choice
                .arms
                .iter()
                .map(|arm| self.expression(&arm.body))
                .collect(),
            Expr::Block(block) => self.block(&block.block),
            Expr::ForLoop(repeated) => self.repeated(repeated),
            _ => TokenStream::new(),
        }
    }

    fn repeated(&mut self, repeated: &ExprForLoop) -> TokenStream {
        self.scopes.push(HashSet::new());
        let body = self.block(&repeated.body);
        self.scopes.pop();
        if body.is_empty() {
            return body;
        }
        let (variable, range) = (&repeated.pat, &repeated.expr);
        quote!(for #variable in #range { #body })
    }

    fn mark(&mut self, signal: TokenStream) -> TokenStream {
        let text = signal.to_string();
        let is_marked = self.scopes.iter().any(|scope| scope.contains(&text));
        match self.scopes.last_mut() {
            Some(scope) if !is_marked => {
                scope.insert(text);
                quote!(::rnic_hdl_tools::kernel::Logic::connect(&mut #signal);)
            }
            _ => TokenStream::new(),
        }
    }
}
