//! Expressions of a kernel.

use super::names;
use super::statements::Translator;
use syn::{
    BinOp, Error, Expr, ExprBinary, ExprCall, ExprField, ExprLit, ExprMethodCall, ExprPath,
    ExprUnary, GenericArgument, Lit, LitInt, Member, PathArguments, Type, UnOp,
};

impl Translator {
    pub(super) fn expression(&mut self, expression: &Expr) -> syn::Result<()> {
        match expression {
            Expr::Group(group) => self.expression(&group.expr),
            Expr::Paren(paren) => {
                self.code.word("(");
                self.expression(&paren.expr)
            }
            Expr::Lit(literal) => self.literal(literal),
            Expr::Path(path) => self.path(path),
            Expr::Field(field) => self.field(field),
            Expr::Index(_) => self.signal(expression),
            Expr::Unary(unary) => self.unary(unary),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method(call),
            other => Err(Error::new_spanned(
                other,
                "kernel: not an expression that translates",
            )),
        }
    }

    /// Value and width; without a suffix a number has the 32 bits of an `i32`.
    pub(super) fn literal(&mut self, literal: &ExprLit) -> syn::Result<()> {
        let word = match &literal.lit {
            Lit::Bool(value) => format!("{}:1", u8::from(value.value)),
            Lit::Int(number) => format!("{}:{}", number.base10_digits(), bits(number)?),
            other => {
                return Err(Error::new_spanned(
                    other,
                    "kernel: a literal is a whole number, `true` or `false`",
                ));
            }
        };
        self.code.word(&word);
        Ok(())
    }

    fn path(&mut self, path: &ExprPath) -> syn::Result<()> {
        let name = match names::loop_variable(path, &self.loops) {
            Some(variable) => variable.clone(),
            None => names::variant(path)?,
        };
        self.code.word(&format!(".{name}"));
        Ok(())
    }

    fn signal(&mut self, expression: &Expr) -> syn::Result<()> {
        let name = names::signal(expression, &self.loops)?;
        if name.ends_with("$next") {
            return Err(Error::new_spanned(
                expression,
                "kernel: `.next` is written, `.val()` is read",
            ));
        }
        self.code.word(&format!(".{name}"));
        Ok(())
    }

    /// A signal on the way to its `.val()`, or the field of a struct behind it.
    fn field(&mut self, field: &ExprField) -> syn::Result<()> {
        match (&*field.base, &field.member) {
            (Expr::MethodCall(whole), Member::Named(member)) if whole.method == "val" => {
                self.code.word("bits");
                self.signal(&whole.receiver)?;
                let name = names::signal(&whole.receiver, &self.loops)?;
                self.part(&name, &field.base, member)
            }
            _ => self.signal(&Expr::Field(field.clone())),
        }
    }

    fn unary(&mut self, unary: &ExprUnary) -> syn::Result<()> {
        self.code.word(match unary.op {
            UnOp::Not(_) => "not",
            UnOp::Neg(_) => "neg",
            _ => return Err(no_operator(&unary.op)),
        });
        self.expression(&unary.expr)
    }

    fn binary(&mut self, binary: &ExprBinary) -> syn::Result<()> {
        self.code.word(match binary.op {
            BinOp::Add(_) => "+",
            BinOp::Sub(_) => "-",
            BinOp::Mul(_) => "*",
            BinOp::And(_) => "&&",
            BinOp::Or(_) => "||",
            BinOp::BitXor(_) => "^",
            BinOp::BitAnd(_) => "&",
            BinOp::BitOr(_) => "|",
            BinOp::Shl(_) => "<<",
            BinOp::Shr(_) => ">>",
            BinOp::Eq(_) => "==",
            BinOp::Ne(_) => "!=",
            BinOp::Lt(_) => "<",
            BinOp::Le(_) => "<=",
            BinOp::Gt(_) => ">",
            BinOp::Ge(_) => ">=",
            _ => return Err(no_operator(&binary.op)),
        });
        self.expression(&binary.left)?;
        self.expression(&binary.right)
    }

    fn call(&mut self, call: &ExprCall) -> syn::Result<()> {
        let refused = || {
            Error::new_spanned(
                &call.func,
                "kernel: not a function that translates: those are `bit_cast::<TO, FROM>`, \
                 `bits::<N>`, `unsigned_cast`, `signed_cast` and `signed_bit_cast`",
            )
        };
        let Expr::Path(path) = &*call.func else {
            return Err(refused());
        };
        let (Some(function), 1, 1) = (
            path.path.segments.first(),
            path.path.segments.len(),
            call.args.len(),
        ) else {
            return Err(refused());
        };
        if function.ident == "bit_cast" || function.ident == "bits" {
            let PathArguments::AngleBracketed(widths) = &function.arguments else {
                return Err(refused());
            };
            self.code.word("cast");
            self.width(widths.args.first().ok_or_else(refused)?)?;
        } else if function.ident == "unsigned_cast" {
            self.code.word("unsigned");
        } else if function.ident == "signed_cast" || function.ident == "signed_bit_cast" {
            self.code.word("signed");
        } else {
            return Err(refused());
        }
        self.expression(&call.args[0])
    }

    fn method(&mut self, call: &ExprMethodCall) -> syn::Result<()> {
        let method = call.method.to_string();
        let (word, count) = match method.as_str() {
            "val" | "into" | "index" | "to_bits" => (None, 0),
            "all" | "any" | "xor" => (Some(method.as_str()), 0),
            "to_signed_bits" => (Some("signed"), 0),
            "get_bit" => (Some("bit"), 1),
            "get_bits" => (Some("bits"), 1),
            "replace_bit" => (Some("replace"), 2),
            _ => {
                return Err(Error::new_spanned(
                    &call.method,
                    "kernel: not a method that translates",
                ));
            }
        };
        if call.args.len() != count {
            return Err(Error::new_spanned(
                call,
                format!("kernel: `{method}` has {count} arguments"),
            ));
        }
        word.into_iter().for_each(|word| self.code.word(word));
        self.expression(&call.receiver)?;
        if method == "get_bits" {
            let widths = call.turbofish.as_ref().map(|turbofish| &turbofish.args);
            let width = widths.filter(|widths| widths.len() == 1);
            self.width(width.and_then(|width| width.first()).ok_or_else(|| {
                Error::new_spanned(call, "kernel: write the width: `get_bits::<8>(offset)`")
            })?)?;
        }
        call.args
            .iter()
            .try_for_each(|argument| self.expression(argument))
    }

    fn width(&mut self, width: &GenericArgument) -> syn::Result<()> {
        match width {
            GenericArgument::Const(value) => self.code.width(value),
            GenericArgument::Type(Type::Path(name)) => self.code.width(name),
            GenericArgument::Type(Type::Group(group)) => self.code.width(&group.elem),
            other => return Err(Error::new_spanned(other, "kernel: not a width in bits")),
        }
        Ok(())
    }
}

fn no_operator(operator: &impl quote::ToTokens) -> Error {
    Error::new_spanned(operator, "kernel: not an operator that translates")
}

/// Bits of a literal in the emitted text.
fn bits(number: &LitInt) -> syn::Result<u32> {
    let bits = match number.suffix() {
        "" | "i32" | "u32" => 32,
        "u8" => 8,
        "u16" => 16,
        "u64" | "usize" => 64,
        "u128" => 128,
        _ => {
            return Err(Error::new_spanned(
                number,
                "kernel: a literal has no suffix or that of an unsigned type",
            ));
        }
    };
    let is_signed = matches!(number.suffix(), "" | "i32");
    if is_signed && number.base10_parse::<u128>()? > i32::MAX as u128 {
        return Err(Error::new_spanned(
            number,
            "kernel: without a suffix a literal is an `i32`: write `_u64`",
        ));
    }
    Ok(bits)
}
