//! Names of signals as rust-hdl gives them to Verilog: `self.lane[i].q` is `lane[i]$q`.

use syn::{BinOp, Error, Expr, ExprLit, ExprPath, Lit, Member, PathArguments};

/// The name of the signal that `expression` denotes; `loops` are the variables of the loops
/// around it.
pub(super) fn signal(expression: &Expr, loops: &[String]) -> syn::Result<String> {
    match expression {
        Expr::Group(group) => signal(&group.expr, loops),
        Expr::Field(field) => {
            let Member::Named(member) = &field.member else {
                return Err(Error::new_spanned(
                    field,
                    "kernel: the fields of a block have names",
                ));
            };
            if is_self(&field.base) {
                return Ok(member.to_string());
            }
            Ok(format!("{}${member}", signal(&field.base, loops)?))
        }
        Expr::Index(index) => {
            let array = signal(&index.expr, loops)?;
            Ok(format!("{array}[{}]", self::index(&index.index, loops)?))
        }
        other => Err(Error::new_spanned(
            other,
            "kernel: not a signal: one is `self`, then fields and indices; a field of a field of a \
             struct does not translate, assign the inner struct to a Local",
        )),
    }
}

/// Whether the place in `name` depends on a loop.
pub(super) fn is_in_a_loop(name: &str) -> bool {
    let mut indices = name.split('[').skip(1);
    indices.any(|rest| {
        let index = rest.split(']').next();
        index.is_some_and(|index| index.contains(|c: char| c.is_alphabetic() || c == '_'))
    })
}

/// A variant, `State::Idle`, as Verilog has it: `State$Idle`.
pub(super) fn variant(path: &ExprPath) -> syn::Result<String> {
    let segments = &path.path.segments;
    let is_plain = segments
        .iter()
        .all(|segment| matches!(segment.arguments, PathArguments::None));
    if segments.len() < 2 || !is_plain || path.qself.is_some() {
        return Err(Error::new_spanned(
            path,
            "kernel: not a variant `Type::Variant` nor a loop's variable; a Rust const or const \
             generic has no name in Verilog: use a `Constant` field, or a loop of one turn",
        ));
    }
    let names: Vec<String> = segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    Ok(names.join("$"))
}

/// Whether `expression` is `self`.
pub(super) fn is_self(expression: &Expr) -> bool {
    match expression {
        Expr::Path(path) => path.path.is_ident("self"),
        Expr::Group(group) => is_self(&group.expr),
        _ => false,
    }
}

/// The variable of a loop that `path` is.
pub(super) fn loop_variable<'a>(path: &ExprPath, loops: &'a [String]) -> Option<&'a String> {
    let name = path.path.get_ident()?;
    loops.iter().find(|variable| name == variable)
}

/// What is between `[` and `]`; rust-hdl evaluates it in every turn of a loop.
fn index(expression: &Expr, loops: &[String]) -> syn::Result<String> {
    match expression {
        Expr::Group(group) => index(&group.expr, loops),
        Expr::Paren(paren) => Ok(format!("({})", index(&paren.expr, loops)?)),
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => Ok(number.base10_digits().to_string()),
        Expr::Path(path) => {
            let variable = loop_variable(path, loops).cloned();
            variable.ok_or_else(|| no_index(expression))
        }
        Expr::Binary(binary) => {
            let operator = match binary.op {
                BinOp::Add(_) => "+",
                BinOp::Sub(_) => "-",
                BinOp::Mul(_) => "*",
                BinOp::Div(_) => "/",
                BinOp::Rem(_) => "%",
                _ => return Err(no_index(expression)),
            };
            let left = index(&binary.left, loops)?;
            Ok(format!("{left}{operator}{}", index(&binary.right, loops)?))
        }
        _ => Err(no_index(expression)),
    }
}

fn no_index(expression: &Expr) -> Error {
    Error::new_spanned(
        expression,
        "kernel: an index is arithmetic of the variables of loops and of numbers",
    )
}
