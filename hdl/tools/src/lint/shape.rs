//! Shape: operators and slices whose emitted text Verilog would read differently, or not at all.
use super::finding::{Report, Rule};
use super::render::render;
use super::scope::Scope;
use rust_hdl::core::ast::{VerilogBlock, VerilogExpression, VerilogOp, VerilogStatement};
use rust_hdl::core::verilog_visitor::{walk_expression, walk_statement};
use rust_hdl::prelude::VerilogVisitor;

const PARENTHESISE: &str = "put parentheses around the inner operation: Verilog binds &, ^, | \
     looser than comparisons";
const LOCAL_FIRST: &str = "assign the value to a Local of at least two bits first, then take the \
     slice of that";
const TOO_FAR: &str = "the slice ends beyond the signal: Rust reads zeros there, Verilog x";
pub(super) const NO_TRANSLATION: &str = "multiplication, negation and signed numbers do not \
     translate: use shifts and adds, or a leaf";

/// Refuses precedence, slice and operator traps in the unrolled `kernel`.
pub(super) fn check(kernel: &VerilogBlock, scope: &Scope, report: &mut Report) {
    Checker { scope, report }.visit_block(kernel);
}

/// The value of an expression of literals; `None` when a signal takes part.
pub(super) fn constant(expression: &VerilogExpression) -> Option<usize> {
    use VerilogExpression as E;
    match expression {
        E::Literal(value) => {
            // Printed as <width>'h<digits>; `as_usize` would panic above 32 bits.
            usize::from_str_radix(format!("{value:x}").split_once("'h")?.1, 16).ok()
        }
        E::Paren(inner) | E::Cast(inner, _) => constant(inner),
        E::Binary(left, operator, right) => {
            let (left, right) = (constant(left)?, constant(right)?);
            match operator {
                VerilogOp::Add => left.checked_add(right),
                VerilogOp::Sub => left.checked_sub(right),
                VerilogOp::Mul => left.checked_mul(right),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Binding strength in Verilog (IEEE 1800-2017, table 11-2), the tightest highest.
fn strength(operator: &VerilogOp) -> u8 {
    match operator {
        VerilogOp::Mul => 10,
        VerilogOp::Add | VerilogOp::Sub => 9,
        VerilogOp::Shl | VerilogOp::Shr => 8,
        VerilogOp::Lt | VerilogOp::Le | VerilogOp::Gt | VerilogOp::Ge => 7,
        VerilogOp::Eq | VerilogOp::Ne => 6,
        VerilogOp::BitAnd => 5,
        VerilogOp::BitXor => 4,
        VerilogOp::BitOr => 3,
        VerilogOp::LogicalAnd => 2,
        VerilogOp::LogicalOr => 1,
    }
}

struct Checker<'a> {
    scope: &'a Scope,
    report: &'a mut Report,
}

impl Checker<'_> {
    fn refuse(&mut self, rule: Rule, expression: &VerilogExpression, remedy: &'static str) {
        self.report.add(rule, render(expression), remedy);
    }

    fn precedence(&mut self, whole: &VerilogExpression) {
        let VerilogExpression::Binary(left, operator, right) = whole else {
            return;
        };
        let outer = strength(operator);
        // Binary operators associate to the left in both languages.
        let left_is_kept = match left.as_ref() {
            VerilogExpression::Binary(_, inner, _) => strength(inner) >= outer,
            _ => true,
        };
        let right_is_kept = match right.as_ref() {
            VerilogExpression::Binary(_, inner, _) => strength(inner) > outer,
            _ => true,
        };
        if !left_is_kept || !right_is_kept {
            self.refuse(Rule::Precedence, whole, PARENTHESISE);
        }
    }

    /// `whole` takes `bits` bits from `offset` of `base`.
    fn slice(
        &mut self,
        whole: &VerilogExpression,
        base: &VerilogExpression,
        bits: usize,
        offset: &VerilogExpression,
    ) {
        let declared = match base {
            VerilogExpression::Signal(name) => self.scope.declared.get(name),
            _ => None,
        };
        let Some(declared) = declared.filter(|declared| declared.bits > 1) else {
            return self.refuse(Rule::SliceOfExpression, whole, LOCAL_FIRST);
        };
        if constant(offset).is_some_and(|offset| offset + bits > declared.bits) {
            self.refuse(Rule::PastTheEnd, whole, TOO_FAR);
        }
    }
}

impl VerilogVisitor for Checker<'_> {
    fn visit_statement(&mut self, statement: &VerilogStatement) {
        if let VerilogStatement::SliceAssignment {
            base,
            width,
            offset,
            ..
        } = statement
        {
            let whole =
                VerilogExpression::Slice(Box::new(base.clone()), *width, Box::new(offset.clone()));
            self.slice(&whole, base, *width, offset);
        }
        walk_statement(self, statement);
    }

    fn visit_expression(&mut self, expression: &VerilogExpression) {
        use rust_hdl::core::ast::VerilogOpUnary;
        use VerilogExpression as E;
        match expression {
            E::Binary(..) => self.precedence(expression),
            E::Slice(base, bits, offset) => self.slice(expression, base, *bits, offset),
            E::Index(base, index) => self.slice(expression, base, 1, index),
            E::IndexReplace(base, index, _) => {
                if let (E::Signal(name), Some(index)) = (base.as_ref(), constant(index)) {
                    let bits = self.scope.declared.get(name).map(|declared| declared.bits);
                    if bits.is_some_and(|bits| index >= bits) {
                        self.refuse(Rule::PastTheEnd, expression, TOO_FAR);
                    }
                }
            }
            E::Signed(_) | E::Unsigned(_) | E::Unary(VerilogOpUnary::Neg, _) => {
                self.refuse(Rule::Operator, expression, NO_TRANSLATION);
            }
            E::Signal(name)
                if self
                    .scope
                    .declared
                    .get(name)
                    .is_some_and(|declared| declared.signed) =>
            {
                self.refuse(Rule::Operator, expression, NO_TRANSLATION);
            }
            _ => {}
        }
        walk_expression(self, expression);
    }
}
