//! The one door from a block to its Verilog.
//!
//! Enters a connected block; leaves Verilog text whose top module bears the given name. Nothing
//! is emitted unless the library's own checks ([`check_all`]: every input driven, no loop inside
//! a kernel, no write to an input) and the emission lint ([`crate::lint`]) both pass.
//!
//! Not covered here: latches and combinational loops that run through several modules; Verilator
//! reports them (LATCH and UNOPTFLAT stay fatal in every build).
use crate::lint::{self, Finding};
use rust_hdl::prelude::*;
use std::fmt;

/// Why a block was not emitted.
#[derive(Debug)]
pub enum EmitError {
    /// `check_all` refused the block: an open signal, a loop, or a written input.
    Check(String),
    /// The lint found kernels whose Verilog would not do what the Rust does.
    Lint(Vec<Finding>),
}

impl fmt::Display for EmitError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::Check(reason) => write!(
                formatter,
                "the block is not emitted, check_all refuses it (was connect_all() called?): \
                 {reason}"
            ),
            EmitError::Lint(findings) => {
                writeln!(formatter, "the block is not emitted, the lint refuses it:")?;
                for finding in findings {
                    writeln!(formatter, "  {finding}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for EmitError {}

/// The Verilog of `block`, its top module called `name`.
///
/// The text depends on the block and the name only, so that emitted files can be compared octet
/// by octet.
///
/// # Errors
/// When `check_all` or the lint refuses the block; each finding names block path and expression.
pub fn verilog_named<B: Block>(name: &str, block: &B) -> Result<String, EmitError> {
    check_all(block).map_err(|error| EmitError::Check(format!("{error:?}")))?;
    let findings = lint::findings(name, block);
    if !findings.is_empty() {
        return Err(EmitError::Lint(findings));
    }
    let mut defines = ModuleDefines::default();
    block.accept(name, &mut defines);
    Ok(defines.defines())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A register of eight bits.
    #[derive(LogicBlock, Default)]
    struct Hold {
        clock: Signal<In, Clock>,
        data: Signal<In, Bits<8>>,
        held: Signal<Out, Bits<8>>,
        spare: DFF<Bits<8>>,
    }

    impl Logic for Hold {
        #[hdl_gen]
        fn update(&mut self) {
            dff_setup!(self, clock, spare);
            self.spare.d.next = self.data.val();
            self.held.next = self.spare.q.val();
        }
    }

    #[test]
    fn the_top_module_bears_the_given_name() {
        let mut block = Hold::default();
        block.connect_all();
        let text = verilog_named("hold", &block).expect("a clean block");
        assert!(text.contains("module hold(clock,data,"));
        assert!(text.contains("module hold$spare(d,q,clock);"));
    }

    #[test]
    fn the_same_block_gives_the_same_text() {
        let text = || {
            let mut block = Hold::default();
            block.connect_all();
            verilog_named("hold", &block).expect("a clean block")
        };
        assert_eq!(text(), text());
    }

    #[test]
    fn a_block_that_was_never_connected_is_refused_with_the_reason() {
        let error =
            verilog_named("hold", &Hold::default()).expect_err("nothing drives the registers");
        assert!(
            error.to_string().contains("was connect_all() called?"),
            "{error}"
        );
    }
}
