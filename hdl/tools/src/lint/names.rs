//! Names: resolves every name of a kernel with its loops unrolled, and refuses what is undeclared.
//!
//! The emitter replaces the first `[..]` of a path by its value and copies any other name as it
//! stands; a Rust `const`, a const generic or a field of a field would reach the Verilog that way.
use super::finding::{Report, Rule};
use super::keywords::is_keyword;
use super::scope::Scope;
use rust_hdl::core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogExpression,
    VerilogMatch, VerilogStatement,
};

const NOT_DECLARED: &str = "no declaration in this block: a Rust const or const generic needs a \
     Constant<> field (or `for w in W..(W + 1)`), a field of a field needs a Local";
const BAD_INDEX: &str = "an array index must be + - * / % of loop variables and numbers, not \
     negative, and only the first [ ] of a path is resolved";
const BAD_LABEL: &str = "labels are copied verbatim: a decimal number, an enum variant, or `_`";

/// Refuses keywords among the names that `scope` declares, and its own instance name.
pub(super) fn check_declarations(scope: &Scope, report: &mut Report) {
    let own = scope.path.last().into_iter();
    for name in own.chain(scope.declared.keys()) {
        let is_identifier = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
        if is_keyword(name) || !is_identifier {
            report.add(
                Rule::Keyword,
                name.clone(),
                "rename it: Verilog does not accept this name",
            );
        }
    }
}

/// The kernel `code` of `scope` without loops, every name as the emitter would write it.
pub(super) fn resolve(code: &VerilogBlock, scope: &Scope, report: &mut Report) -> VerilogBlock {
    Resolver {
        scope,
        report,
        loops: vec![],
    }
    .block(code)
}

struct Resolver<'a> {
    scope: &'a Scope,
    report: &'a mut Report,
    /// Loop variables and their values, the innermost last.
    loops: Vec<(String, usize)>,
}

impl Resolver<'_> {
    fn block(&mut self, block: &VerilogBlock) -> VerilogBlock {
        block
            .iter()
            .flat_map(|statement| self.statement(statement))
            .collect()
    }

    fn statement(&mut self, statement: &VerilogStatement) -> VerilogBlock {
        use VerilogStatement as S;
        match statement {
            S::Assignment(left, right) => {
                vec![S::Assignment(self.expression(left), self.expression(right))]
            }
            S::SliceAssignment {
                base,
                width,
                offset,
                replacement,
            } => vec![S::SliceAssignment {
                base: self.expression(base),
                width: *width,
                offset: self.expression(offset),
                replacement: self.expression(replacement),
            }],
            S::If(conditional) => vec![S::If(self.conditional(conditional))],
            S::Match(choice) => {
                let test = self.expression(&choice.test);
                let cases = choice.cases.iter().map(|case| self.case(case)).collect();
                vec![S::Match(VerilogMatch { test, cases })]
            }
            S::Loop(repeat) => {
                let mut unrolled = vec![];
                for value in repeat.from.as_usize()..repeat.to.as_usize() {
                    self.loops.push((repeat.index.clone(), value));
                    unrolled.extend(self.block(&repeat.block));
                    self.loops.pop();
                }
                unrolled
            }
            S::Macro(block) => self.block(block),
            S::Comment(_) => vec![],
            S::Link(links) => vec![S::Link(links.clone())],
        }
    }

    fn conditional(&mut self, conditional: &VerilogConditional) -> VerilogConditional {
        let otherwise = match &conditional.otherwise {
            VerilogBlockOrConditional::Block(block) => {
                VerilogBlockOrConditional::Block(self.block(block))
            }
            VerilogBlockOrConditional::Conditional(statement) => {
                VerilogBlockOrConditional::Block(self.statement(statement))
            }
            VerilogBlockOrConditional::None => VerilogBlockOrConditional::None,
        };
        VerilogConditional {
            test: self.expression(&conditional.test),
            then: self.block(&conditional.then),
            otherwise,
        }
    }

    fn case(&mut self, case: &VerilogCase) -> VerilogCase {
        let condition = case.condition.replace("::", "$");
        let is_decimal = condition.bytes().all(|byte| byte.is_ascii_digit());
        if !is_decimal && condition != "default" && !self.scope.variants.contains(&condition) {
            self.report
                .add(Rule::MatchLabel, condition.clone(), BAD_LABEL);
        }
        VerilogCase {
            condition,
            block: self.block(&case.block),
        }
    }

    fn expression(&mut self, expression: &VerilogExpression) -> VerilogExpression {
        use VerilogExpression as E;
        let mut boxed = |inner: &VerilogExpression| Box::new(self.expression(inner));
        match expression {
            E::Signal(name) => self.name(name),
            E::Literal(value) => E::Literal(value.clone()),
            E::Cast(inner, bits) => E::Cast(boxed(inner), *bits),
            E::Signed(inner) => E::Signed(boxed(inner)),
            E::Unsigned(inner) => E::Unsigned(boxed(inner)),
            E::Paren(inner) => E::Paren(boxed(inner)),
            E::Binary(left, operator, right) => {
                E::Binary(boxed(left), operator.clone(), boxed(right))
            }
            E::Unary(operator, inner) => E::Unary(operator.clone(), boxed(inner)),
            E::Index(base, index) => E::Index(boxed(base), boxed(index)),
            E::Slice(base, bits, offset) => E::Slice(boxed(base), *bits, boxed(offset)),
            E::IndexReplace(base, index, value) => {
                E::IndexReplace(boxed(base), boxed(index), boxed(value))
            }
        }
    }

    fn name(&mut self, raw: &str) -> VerilogExpression {
        if let Some(value) = self.loop_value(raw) {
            return VerilogExpression::Literal((value as u32).into());
        }
        let path = raw.replace('.', "$").replace("::", "$");
        let path = path.trim_start_matches('$').trim_end_matches("$next");
        let resolved = match self.substitute_index(path) {
            Some(resolved) => resolved,
            None => {
                self.report
                    .add(Rule::ArrayIndex, raw.to_string(), BAD_INDEX);
                return VerilogExpression::Signal(path.to_string());
            }
        };
        let is_known =
            self.scope.declared.contains_key(&resolved) || self.scope.variants.contains(&resolved);
        if !is_known {
            self.report
                .add(Rule::UnknownName, resolved.clone(), NOT_DECLARED);
        }
        VerilogExpression::Signal(resolved)
    }

    fn loop_value(&self, name: &str) -> Option<usize> {
        self.loops
            .iter()
            .rev()
            .find(|(variable, _)| variable == name)
            .map(|&(_, value)| value)
    }

    /// `lane[i + 1]$q` as `lane$3$q`; `None` when the emitter could not resolve it.
    fn substitute_index(&self, path: &str) -> Option<String> {
        let Some(open) = path.find('[') else {
            return Some(path.to_string());
        };
        let close = open + path[open..].find(']')?;
        let value = Arithmetic {
            text: &path.as_bytes()[open + 1..close],
            resolver: self,
        }
        .value()?;
        let rest = &path[close + 1..];
        let resolved = usize::try_from(value).ok()?;
        (!rest.contains('[')).then(|| format!("{}${resolved}{rest}", &path[..open]))
    }
}

/// Recursive-descent evaluation of an array index: sums of products of numbers, loop variables
/// and parentheses.
struct Arithmetic<'a> {
    text: &'a [u8],
    resolver: &'a Resolver<'a>,
}

impl Arithmetic<'_> {
    fn value(mut self) -> Option<i64> {
        let value = self.sum()?;
        self.text.is_empty().then_some(value)
    }

    fn take(&mut self, wanted: &[u8]) -> Option<u8> {
        let &first = self.text.first()?;
        wanted.contains(&first).then(|| {
            self.text = &self.text[1..];
            first
        })
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(b"+-") {
            let term = self.product()?;
            value = if sign == b'+' {
                value.checked_add(term)?
            } else {
                value.checked_sub(term)?
            };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.term()?;
        while let Some(sign) = self.take(b"*/%") {
            let factor = self.term()?;
            value = match sign {
                b'*' => value.checked_mul(factor)?,
                b'/' => value.checked_div(factor)?,
                _ => value.checked_rem(factor)?,
            };
        }
        Some(value)
    }

    fn term(&mut self) -> Option<i64> {
        if self.take(b"(").is_some() {
            let value = self.sum()?;
            return self.take(b")").map(|_| value);
        }
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let length = self.text.iter().take_while(is_word).count();
        let word = std::str::from_utf8(&self.text[..length]).ok()?;
        self.text = &self.text[length..];
        match word.parse::<i64>() {
            Ok(number) => Some(number),
            Err(_) => self.resolver.loop_value(word).map(|value| value as i64),
        }
    }
}
