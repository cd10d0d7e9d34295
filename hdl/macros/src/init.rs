//! `Default` of a block, from what stands at its fields.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Type};

/// The block's `impl Default`.
pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(input, "Init: only a struct has fields"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(input, "Init: the fields need names"));
    };
    let mut first = TokenStream::new();
    for attribute in attributes(&input.attrs, "init") {
        first.extend(attribute.meta.require_list()?.tokens.clone());
    }
    let names = fields.named.iter().map(|field| &field.ident);
    let values = fields
        .named
        .iter()
        .map(value)
        .collect::<Result<Vec<_>, _>>()?;
    let (name, (generics, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    Ok(quote! {
        impl #generics ::core::default::Default for #name #arguments #bounds {
            fn default() -> Self {
                #first
                Self { #(#names: #values),* }
            }
        }
    })
}

/// What `field` begins as.
fn value(field: &Field) -> syn::Result<TokenStream> {
    let mut given = field.attrs.iter().filter_map(|attribute| {
        let known = ["init", "constant", "constants"];
        let kind = known
            .into_iter()
            .find(|name| attribute.path().is_ident(name))?;
        Some((kind, attribute))
    });
    let Some((kind, attribute)) = given.next() else {
        let default = quote!(::core::default::Default::default());
        return Ok(match &field.ty {
            Type::Array(_) => quote!(::core::array::from_fn(|_| #default)),
            _ => default,
        });
    };
    if let Some((_, second)) = given.next() {
        return Err(Error::new_spanned(second, "Init: a field has one value"));
    }
    let tokens = &attribute.meta.require_list()?.tokens;
    Ok(match kind {
        "constant" => quote!(Constant::new((#tokens).into())),
        "constants" => quote!(::core::array::from_fn(|index| {
            let value: fn(usize) -> LiteralType = #tokens;
            Constant::new(value(index).into())
        })),
        _ => tokens.clone(),
    })
}

fn attributes<'a>(all: &'a [Attribute], name: &'static str) -> impl Iterator<Item = &'a Attribute> {
    all.iter().filter(move |one| one.path().is_ident(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn values_stand_at_their_fields() {
        let block: DeriveInput = parse_quote! {
            #[init(assert!(W > 1);)]
            struct Shift<const W: usize> {
                clock: Signal<In, Clock>,
                lanes: [Signal<In, Bits<W>>; 4],
                #[constant(W - 1)]
                last: Constant<Bits<6>>,
                #[init(Fifo::new(7))]
                queue: Fifo<W>,
            }
        };
        let text = expand(&block)
            .expect("a struct with named fields")
            .to_string();
        let wanted = quote! {
            impl<const W: usize> ::core::default::Default for Shift<W> {
                fn default() -> Self {
                    assert!(W > 1);
                    Self {
                        clock: ::core::default::Default::default(),
                        lanes: ::core::array::from_fn(|_| ::core::default::Default::default()),
                        last: Constant::new((W - 1).into()),
                        queue: Fifo::new(7)
                    }
                }
            }
        };
        assert_eq!(text, wanted.to_string());
    }

    #[test]
    fn other_shapes_and_second_values_are_refused() {
        let shapes: [DeriveInput; 3] = [
            parse_quote!(
                enum State {
                    Idle,
                }
            ),
            parse_quote!(
                struct Pair(u8, u8);
            ),
            parse_quote!(
                struct Twice {
                    #[constant(1)]
                    #[init(2)]
                    one: Constant<Bits<1>>,
                }
            ),
        ];
        for shape in shapes {
            assert!(expand(&shape).is_err());
        }
    }
}
