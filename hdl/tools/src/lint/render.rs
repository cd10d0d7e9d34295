//! Expressions as they are emitted, for messages.
use rust_hdl::core::ast::{VerilogExpression, VerilogOp, VerilogOpUnary};

/// The emitted text of `expression`.
pub(super) fn render(expression: &VerilogExpression) -> String {
    use VerilogExpression as E;
    match expression {
        E::Signal(name) => name.clone(),
        E::Literal(value) => value.to_string(),
        E::Cast(inner, bits) => format!("bit_cast::<{bits}>({})", render(inner)),
        E::Signed(inner) => format!("$signed({})", render(inner)),
        E::Unsigned(inner) => format!("$unsigned({})", render(inner)),
        E::Paren(inner) => format!("({})", render(inner)),
        E::Binary(left, operator, right) => {
            format!(
                "{} {} {}",
                render(left),
                operator_text(operator),
                render(right)
            )
        }
        E::Unary(operator, inner) => {
            let sign = match operator {
                VerilogOpUnary::Not => "~",
                VerilogOpUnary::Neg => "-",
                VerilogOpUnary::All => "&",
                VerilogOpUnary::Any => "|",
                VerilogOpUnary::Xor => "^",
            };
            format!("{sign}{}", render(inner))
        }
        E::Index(base, index) => format!("{}[{}]", render(base), render(index)),
        E::Slice(base, bits, offset) => format!("{}[{} +: {bits}]", render(base), render(offset)),
        E::IndexReplace(base, index, value) => {
            format!(
                "{}.replace_bit({}, {})",
                render(base),
                render(index),
                render(value)
            )
        }
    }
}

fn operator_text(operator: &VerilogOp) -> &'static str {
    match operator {
        VerilogOp::Add => "+",
        VerilogOp::Sub => "-",
        VerilogOp::Mul => "*",
        VerilogOp::LogicalAnd => "&&",
        VerilogOp::LogicalOr => "||",
        VerilogOp::BitXor => "^",
        VerilogOp::BitAnd => "&",
        VerilogOp::BitOr => "|",
        VerilogOp::Shl => "<<",
        VerilogOp::Shr => ">>",
        VerilogOp::Eq => "==",
        VerilogOp::Lt => "<",
        VerilogOp::Le => "<=",
        VerilogOp::Ne => "!=",
        VerilogOp::Ge => ">=",
        VerilogOp::Gt => ">",
    }
}
