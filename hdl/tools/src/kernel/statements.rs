//! Words that begin a statement.

use super::Reader;
use rust_hdl::core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogExpression,
    VerilogLoop, VerilogMatch, VerilogStatement,
};

impl Reader<'_> {
    /// Statements up to the `}`.
    pub(super) fn block(&mut self) -> VerilogBlock {
        let mut statements = Vec::new();
        loop {
            statements.push(match self.word() {
                "}" => return statements,
                "=" => VerilogStatement::Assignment(self.expression(), self.expression()),
                "part" => VerilogStatement::SliceAssignment {
                    base: self.expression(),
                    width: self.width(),
                    offset: self.expression(),
                    replacement: self.expression(),
                },
                "if" => self.conditional(),
                "case" => self.choice(),
                "for" => VerilogStatement::Loop(VerilogLoop {
                    index: self.word().to_string(),
                    from: self.literal(),
                    to: self.literal(),
                    block: self.block(),
                }),
                "registers" => self.registers(),
                other => panic!("kernel: {other:?} begins no statement"),
            });
        }
    }

    fn conditional(&mut self) -> VerilogStatement {
        let test = self.expression();
        let then = self.block();
        let otherwise = match self.word() {
            "fi" => VerilogBlockOrConditional::None,
            "else" => VerilogBlockOrConditional::Block(self.block()),
            "elif" => VerilogBlockOrConditional::Conditional(Box::new(self.conditional())),
            other => panic!("kernel: {other:?} follows no branch"),
        };
        VerilogStatement::If(VerilogConditional {
            test,
            then,
            otherwise,
        })
    }

    fn choice(&mut self) -> VerilogStatement {
        let test = self.expression();
        let mut cases = Vec::new();
        loop {
            match self.word() {
                "}" => return VerilogStatement::Match(VerilogMatch { test, cases }),
                "when" => cases.push(VerilogCase {
                    condition: self.word().to_string(),
                    block: self.block(),
                }),
                other => panic!("kernel: {other:?} begins no arm"),
            }
        }
    }

    /// Every register's clock, then every register's default, which is what it holds.
    fn registers(&mut self) -> VerilogStatement {
        let clock = self.word();
        let names: Vec<&str> = self
            .words
            .by_ref()
            .take_while(|word| *word != "}")
            .collect();
        let signal = VerilogExpression::Signal;
        let clocks = names.iter().map(|name| {
            let target = signal(format!("{name}$clock$next"));
            VerilogStatement::Assignment(target, signal(clock.to_string()))
        });
        let defaults = names.iter().map(|name| {
            let target = signal(format!("{name}$d$next"));
            VerilogStatement::Assignment(target, signal(format!("{name}$q")))
        });
        VerilogStatement::Macro(clocks.chain(defaults).collect())
    }
}
