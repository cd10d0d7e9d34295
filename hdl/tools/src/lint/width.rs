//! Widths: where Verilog computes more bits than Rust, and the extra bits reach the outcome.
//!
//! In Rust every operation is as wide as its operands. In Verilog the operands of `+ - & | ^ ~ <<`
//! are first extended to the widest operand of the whole expression, bare literals (32 bits) and
//! the assigned signal included (IEEE 1800-2017, 11.6). A sum, difference, complement or left
//! shift then *spills*: bits above its Rust width may be set. An assignment of that width cuts
//! them off again; a compare, a right shift, a widening cast, a reduction or a condition does not.
use super::finding::{Report, Rule};
use super::render::render;
use super::scope::Scope;
use super::shape::{constant, NO_TRANSLATION};
use rust_hdl::core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogExpression, VerilogOp, VerilogOpUnary,
    VerilogStatement,
};

const LOCAL_FIRST: &str = "wider in Verilog than in Rust: assign the inner result to a Local, use \
     typed Constant<> fields for literals, widen before adding, `if` instead of adding !flag";
const INDEX_FIRST: &str = "assign the index to a Local first; only `signal * number + number` may \
     stand in an index";

/// Refuses every spill that counts in the unrolled `kernel`.
pub(super) fn check(kernel: &VerilogBlock, scope: &Scope, report: &mut Report) {
    Widths { scope, report }.block(kernel);
}

/// Width of an expression in either language; `rust` is `None` for bare literals, which take the
/// width of what they meet.
#[derive(Copy, Clone)]
struct Size {
    rust: Option<usize>,
    verilog: usize,
}

impl Size {
    fn both(bits: usize) -> Self {
        Self {
            rust: Some(bits),
            verilog: bits,
        }
    }

    fn joined(self, other: Self) -> Self {
        Self {
            // `None < Some(_)`: a literal takes the other width.
            rust: self.rust.max(other.rust),
            verilog: self.verilog.max(other.verilog),
        }
    }

    fn is_below(self, bits: usize) -> bool {
        self.rust.is_some_and(|rust| rust < bits)
    }
}

struct Widths<'a> {
    scope: &'a Scope,
    report: &'a mut Report,
}

impl Widths<'_> {
    fn block(&mut self, block: &VerilogBlock) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &VerilogStatement) {
        match statement {
            VerilogStatement::Assignment(target, value) => {
                self.assigned(self.size(target).verilog, value);
            }
            VerilogStatement::SliceAssignment {
                width, replacement, ..
            } => {
                self.assigned(*width, replacement);
            }
            VerilogStatement::If(conditional) => {
                self.self_determined(&conditional.test, 0);
                self.block(&conditional.then);
                if let VerilogBlockOrConditional::Block(block) = &conditional.otherwise {
                    self.block(block);
                }
            }
            VerilogStatement::Match(choice) => {
                // The labels are bare numbers or variants, 32 bits each.
                self.self_determined(&choice.test, 32);
                choice.cases.iter().for_each(|case| self.block(&case.block));
            }
            // `names::resolve` left no loops and macros; links carry no expressions.
            _ => {}
        }
    }

    fn assigned(&mut self, target_bits: usize, value: &VerilogExpression) {
        let size = self.size(value);
        if self.spills(value, size.verilog.max(target_bits)) && size.is_below(target_bits) {
            self.refuse(value);
        }
    }

    /// `expression` stands alone, extended only to `minimum` bits; a spill in it counts.
    fn self_determined(&mut self, expression: &VerilogExpression, minimum: usize) {
        if self.spills(expression, self.size(expression).verilog.max(minimum)) {
            self.refuse(expression);
        }
    }

    fn refuse(&mut self, expression: &VerilogExpression) {
        self.report
            .add(Rule::Width, render(expression), LOCAL_FIRST);
    }

    fn size(&self, expression: &VerilogExpression) -> Size {
        use VerilogExpression as E;
        match expression {
            E::Signal(name) => match self.scope.declared.get(name) {
                Some(declared) => Size::both(declared.bits),
                // An enum variant is an unsized localparam.
                None => Size {
                    rust: None,
                    verilog: 32,
                },
            },
            E::Literal(value) => match literal_bits(&value.to_string()) {
                1 => Size::both(1),
                bits => Size {
                    rust: None,
                    verilog: bits,
                },
            },
            E::Cast(inner, bits) => Size {
                rust: Some(*bits),
                verilog: self.size(inner).verilog.max(*bits),
            },
            E::Paren(inner) | E::Signed(inner) | E::Unsigned(inner) => self.size(inner),
            E::Binary(left, operator, right) => match operator {
                VerilogOp::Shl | VerilogOp::Shr => self.size(left),
                operator if is_boolean(operator) => Size::both(1),
                _ => self.size(left).joined(self.size(right)),
            },
            E::Unary(VerilogOpUnary::Not | VerilogOpUnary::Neg, inner) => self.size(inner),
            E::Unary(..) | E::Index(..) => Size::both(1),
            E::Slice(_, bits, _) => Size::both(*bits),
            E::IndexReplace(base, _, value) => {
                let base = self.size(base);
                let mask = 32.max(self.size(value).verilog);
                Size {
                    rust: base.rust,
                    verilog: base.verilog.max(mask),
                }
            }
        }
    }

    /// Whether bits above the Rust width of `expression` may be set when Verilog computes it with
    /// `context` bits. Refuses spills inside it that count.
    fn spills(&mut self, expression: &VerilogExpression, context: usize) -> bool {
        use VerilogExpression as E;
        match expression {
            E::Signal(_) | E::Literal(_) => false,
            E::Paren(inner) | E::Signed(inner) | E::Unsigned(inner) => self.spills(inner, context),
            E::Cast(inner, bits) => {
                let context = context.max(self.size(expression).verilog);
                if self.spills(inner, context) && self.size(inner).is_below(*bits) {
                    self.refuse(expression);
                }
                false
            }
            E::Binary(left, operator, right) => {
                self.binary_spills(expression, left, operator, right, context)
            }
            E::Unary(VerilogOpUnary::Not | VerilogOpUnary::Neg, inner) => {
                self.spills(inner, context);
                self.size(inner).rust.is_none_or(|bits| context > bits)
            }
            E::Unary(_, inner) => {
                self.self_determined(inner, 0);
                false
            }
            E::Index(_, index) | E::Slice(_, _, index) => {
                self.index(index);
                false
            }
            E::IndexReplace(base, index, value) => {
                // Emitted as `(base & ~(1 << index) | (value << index))`.
                self.index(index);
                let context = context.max(self.size(expression).verilog);
                if self.spills(value, context) {
                    self.refuse(expression);
                }
                self.spills(base, context)
            }
        }
    }

    fn binary_spills(
        &mut self,
        whole: &VerilogExpression,
        left: &VerilogExpression,
        operator: &VerilogOp,
        right: &VerilogExpression,
        context: usize,
    ) -> bool {
        match operator {
            VerilogOp::Shl => {
                self.self_determined(right, 0);
                let spills = self.spills(left, context);
                spills || self.size(left).is_below(context)
            }
            VerilogOp::Shr => {
                self.self_determined(right, 0);
                if self.spills(left, context) {
                    self.refuse(whole);
                }
                false
            }
            VerilogOp::Mul if constant(whole).is_none() => {
                self.report
                    .add(Rule::Operator, render(whole), NO_TRANSLATION);
                false
            }
            VerilogOp::LogicalAnd | VerilogOp::LogicalOr => {
                self.self_determined(left, 0);
                self.self_determined(right, 0);
                false
            }
            operator if is_boolean(operator) => {
                let context = self.size(left).joined(self.size(right)).verilog;
                let (left, right) = (self.spills(left, context), self.spills(right, context));
                if left || right {
                    self.refuse(whole);
                }
                false
            }
            _ => {
                let size = self.size(whole);
                let mut spill = [false; 2];
                for (operand, spill) in [left, right].into_iter().zip(&mut spill) {
                    *spill = self.spills(operand, context);
                    let bits = size.rust.unwrap_or(0);
                    if *spill && self.size(operand).is_below(bits) {
                        self.refuse(whole);
                    }
                }
                if matches!(operator, VerilogOp::Mul) && constant(whole).is_none() {
                    self.report
                        .add(Rule::Operator, render(whole), NO_TRANSLATION);
                }
                match operator {
                    VerilogOp::BitAnd => spill[0] && spill[1],
                    VerilogOp::BitOr | VerilogOp::BitXor => spill[0] || spill[1],
                    _ => size.is_below(context),
                }
            }
        }
    }

    /// Rust computes an index in 64 bits and a `Bits` sum in its own; the tree does not show which.
    fn index(&mut self, index: &VerilogExpression) {
        if !is_plain_index(index) {
            self.report.add(Rule::Width, render(index), INDEX_FIRST);
        }
    }
}

fn is_boolean(operator: &VerilogOp) -> bool {
    use VerilogOp as O;
    matches!(
        operator,
        O::Eq | O::Ne | O::Lt | O::Le | O::Gt | O::Ge | O::LogicalAnd | O::LogicalOr
    )
}

/// A number, a signal, `signal * number`, or the latter plus or minus a number.
fn is_plain_index(index: &VerilogExpression) -> bool {
    use VerilogExpression as E;
    let is_signal = |e: &VerilogExpression| matches!(e, E::Signal(_));
    let is_number = |e: &VerilogExpression| constant(e).is_some();
    let is_scaled = |e: &VerilogExpression| match e {
        E::Binary(left, VerilogOp::Mul, right) => {
            (is_signal(left) && is_number(right)) || (is_number(left) && is_signal(right))
        }
        _ => false,
    };
    match index {
        E::Paren(inner) => is_plain_index(inner),
        E::Binary(left, VerilogOp::Add | VerilogOp::Sub, right) if !is_number(index) => {
            is_scaled(left) && is_number(right)
        }
        _ => is_signal(index) || is_number(index) || is_scaled(index),
    }
}

/// The width that a literal is printed with: `32'h1` has 32 bits.
fn literal_bits(printed: &str) -> usize {
    let width = printed.split('\'').next().unwrap_or_default();
    width
        .parse()
        .expect("rust-hdl prints every literal as <width>'<base><digits>")
}
