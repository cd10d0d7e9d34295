//! Words that begin an expression.

use super::{number, Reader};
use rust_hdl::core::ast::{VerilogExpression, VerilogLiteral, VerilogOp, VerilogOpUnary};

impl Reader<'_> {
    pub(super) fn expression(&mut self) -> VerilogExpression {
        use VerilogExpression as E;
        let word = self.word();
        if let Some(name) = word.strip_prefix('.') {
            return E::Signal(name.to_string());
        }
        if let Some(operator) = binary(word) {
            return E::Binary(self.boxed(), operator, self.boxed());
        }
        if let Some(operator) = unary(word) {
            return E::Unary(operator, self.boxed());
        }
        match word {
            "(" => E::Paren(self.boxed()),
            "cast" => {
                let width = self.width();
                E::Cast(self.boxed(), width)
            }
            "signed" => E::Signed(self.boxed()),
            "unsigned" => E::Unsigned(self.boxed()),
            "bit" => E::Index(self.boxed(), self.boxed()),
            "bits" => E::Slice(self.boxed(), self.width(), self.boxed()),
            "replace" => E::IndexReplace(self.boxed(), self.boxed(), self.boxed()),
            _ => E::Literal(self.literal_of(word)),
        }
    }

    fn boxed(&mut self) -> Box<VerilogExpression> {
        Box::new(self.expression())
    }

    pub(super) fn literal(&mut self) -> VerilogLiteral {
        let word = self.word();
        self.literal_of(word)
    }

    fn literal_of(&self, word: &str) -> VerilogLiteral {
        if let Some(place) = word.strip_prefix('@') {
            return self.numbers[number(place)].into();
        }
        let wrong = || -> ! { panic!("kernel: {word:?} begins no expression") };
        let Some((digits, bits)) = word.split_once(':') else {
            wrong()
        };
        let Ok(value) = digits.parse::<u128>() else {
            wrong()
        };
        // The macro has seen that the value is one of the literal's type.
        match bits {
            "1" => (value == 1).into(),
            "8" => (value as u8).into(),
            "16" => (value as u16).into(),
            "32" => (value as u32).into(),
            "64" => (value as u64).into(),
            "128" => value.into(),
            _ => wrong(),
        }
    }
}

fn binary(word: &str) -> Option<VerilogOp> {
    Some(match word {
        "+" => VerilogOp::Add,
        "-" => VerilogOp::Sub,
        "*" => VerilogOp::Mul,
        "&&" => VerilogOp::LogicalAnd,
        "||" => VerilogOp::LogicalOr,
        "^" => VerilogOp::BitXor,
        "&" => VerilogOp::BitAnd,
        "|" => VerilogOp::BitOr,
        "<<" => VerilogOp::Shl,
        ">>" => VerilogOp::Shr,
        "==" => VerilogOp::Eq,
        "!=" => VerilogOp::Ne,
        "<" => VerilogOp::Lt,
        "<=" => VerilogOp::Le,
        ">" => VerilogOp::Gt,
        ">=" => VerilogOp::Ge,
        _ => return None,
    })
}

fn unary(word: &str) -> Option<VerilogOpUnary> {
    Some(match word {
        "not" => VerilogOpUnary::Not,
        "neg" => VerilogOpUnary::Neg,
        "all" => VerilogOpUnary::All,
        "any" => VerilogOpUnary::Any,
        "xor" => VerilogOpUnary::Xor,
        _ => return None,
    })
}
