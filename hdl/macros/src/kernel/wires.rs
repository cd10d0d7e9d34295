//! `registers!`, `wire!`, `stream!` and `tlps!` in the body of a kernel become what rust-hdl knows.
//!
//! Enters a block of statements; leaves the same block with `dff_setup!` and assignments instead.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::visit_mut::{visit_block_mut, VisitMut};
use syn::{braced, parse_quote, token, Block, Error, Ident, Stmt, StmtMacro, Token};

/// Writes the lists in `block` out; `own` is the `self` of the function.
pub(super) fn write_out(block: &mut Block, own: Token![self]) -> syn::Result<()> {
    let mut wires = Wires { own, failed: None };
    wires.visit_block_mut(block);
    wires.failed.map_or(Ok(()), Err)
}

struct Wires {
    /// The `self` of the function.
    own: Token![self],
    failed: Option<Error>,
}

impl VisitMut for Wires {
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_block_mut(self, block);
        let statements = std::mem::take(&mut block.stmts);
        for statement in statements {
            match self.written_out(&statement) {
                Ok(Some(assignments)) => block.stmts.extend(assignments),
                Ok(None) => block.stmts.push(statement),
                Err(error) => self.failed = Some(error),
            }
        }
    }
}

impl Wires {
    /// What `statement` stands for, if it is one of the lists.
    fn written_out(&self, statement: &Stmt) -> syn::Result<Option<Vec<Stmt>>> {
        let Stmt::Macro(StmtMacro { mac, .. }) = statement else {
            return Ok(None);
        };
        Ok(if mac.path.is_ident("wire") {
            Some(mac.parse_body::<List>()?.wires())
        } else if mac.path.is_ident("stream") {
            Some(mac.parse_body::<List>()?.streams())
        } else if mac.path.is_ident("tlps") {
            Some(mac.parse_body::<List>()?.tlps())
        } else if mac.path.is_ident("registers") {
            let Registers { clock, names } = mac.parse_body()?;
            let own = &self.own;
            Some(vec![parse_quote!(dff_setup!(#own, #clock, #names);)])
        } else {
            None
        })
    }
}

/// `clock; names`.
struct Registers {
    clock: Ident,
    names: Punctuated<Ident, Token![,]>,
}

impl Parse for Registers {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let clock = input.parse()?;
        input.parse::<Token![;]>()?;
        let names = Punctuated::parse_separated_nonempty(input)?;
        Ok(Self { clock, names })
    }
}

/// `from => to; names`.
struct List {
    from: TokenStream,
    to: Vec<TokenStream>,
    names: Punctuated<Name, Token![,]>,
}

/// `output`, or `output as input`.
struct Name {
    output: Ident,
    input: Ident,
}

impl Parse for Name {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let output: Ident = input.parse()?;
        let renamed = input.parse::<Option<Token![as]>>()?.is_some();
        let input = if renamed {
            input.parse()?
        } else {
            output.clone()
        };
        Ok(Self { output, input })
    }
}

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut from = ends(input)?;
        input.parse::<Token![=>]>()?;
        let to = ends(input)?;
        input.parse::<Token![;]>()?;
        let names = Punctuated::parse_terminated(input)?;
        match from.len() {
            1 => Ok(Self {
                from: from.remove(0),
                to,
                names,
            }),
            _ => Err(input.error("one block drives a wire")),
        }
    }
}

/// `self`, `self.block` or `self.{block, block}`.
fn ends(input: ParseStream<'_>) -> syn::Result<Vec<TokenStream>> {
    let own: Token![self] = input.parse()?;
    let mut path = quote!(#own);
    while input.parse::<Option<Token![.]>>()?.is_some() {
        if input.peek(token::Brace) {
            let blocks;
            braced!(blocks in input);
            let blocks = Punctuated::<Ident, Token![,]>::parse_terminated(&blocks)?;
            return Ok(blocks.iter().map(|block| quote!(#path.#block)).collect());
        }
        let block: Ident = input.parse()?;
        path = quote!(#path.#block);
    }
    Ok(vec![path])
}

impl List {
    /// What `statements` gives for every name and every block it goes to, name by name.
    fn each<const N: usize>(
        &self,
        statements: impl Fn(&TokenStream, &TokenStream, &Name) -> [Stmt; N],
    ) -> Vec<Stmt> {
        let mut all = Vec::new();
        for name in &self.names {
            for to in &self.to {
                all.extend(statements(&self.from, to, name));
            }
        }
        all
    }

    fn wires(&self) -> Vec<Stmt> {
        self.each(|from, to, Name { output, input }| {
            [parse_quote!(#to.#input.next = #from.#output.val();)]
        })
    }

    fn streams(&self) -> Vec<Stmt> {
        self.each(|from, to, Name { output, input }| {
            let [valid, ready] = ["valid", "ready"].map(|end| format_ident!("{output}_{end}"));
            let [valid_in, ready_in] = ["valid", "ready"].map(|end| format_ident!("{input}_{end}"));
            [
                parse_quote!(#to.#input.next = #from.#output.val();),
                parse_quote!(#to.#valid_in.next = #from.#valid.val();),
                parse_quote!(#from.#ready.next = #to.#ready_in.val();),
            ]
        })
    }

    /// Streams of TLPs: beats with their lanes, ends and headers.
    fn tlps(&self) -> Vec<Stmt> {
        self.each(|from, to, Name { output, input }| {
            let forward = |end: &str| -> Stmt {
                let (out, into) = (
                    format_ident!("{output}_{end}"),
                    format_ident!("{input}_{end}"),
                );
                parse_quote!(#to.#into.next = #from.#out.val();)
            };
            let ready = format_ident!("{output}_ready");
            let ready_in = format_ident!("{input}_ready");
            [
                forward("data"),
                forward("keep"),
                forward("last"),
                forward("valid"),
                forward("header"),
                parse_quote!(#from.#ready.next = #to.#ready_in.val();),
            ]
        })
    }
}
