//! The statements of a kernel, from the string that `#[kernel]` (`rnic-macros`) makes of them.
//!
//! Enter words with a blank between two, and numbers; leaves the tree that rust-hdl emits, the one
//! its own `#[hdl_gen]` would build. One interpreter for all kernels, as the code that builds one
//! tree after the other would be more than half of a crate of hardware.
//!
//! A word is followed by what it is made of; BLOCK is statements up to a `}`:
//!
//! ```text
//! = TARGET VALUE                          assignment
//! part SIGNAL WIDTH OFFSET VALUE          assignment to a field of a struct
//! if CONDITION BLOCK  fi | else BLOCK | elif CONDITION BLOCK ...
//! case VALUE  when LABEL BLOCK ...  }
//! for VARIABLE FROM TO BLOCK
//! registers CLOCK NAME ... }              clock and default of each register
//!
//! .name$q    a signal, a variant or the variable of a loop
//! 5:32       a literal: value, bits; true is 1:1
//! @2         the third number, 64 bits
//! ( X                                     parentheses
//! + X Y  and the other binary operators, as in Rust
//! not X  neg X  all X  any X  xor X       unary operators
//! cast WIDTH X  signed X  unsigned X
//! bit X INDEX  bits X WIDTH OFFSET  replace X INDEX VALUE
//! ```
//!
//! A WIDTH is a decimal number or `@2`.

mod expressions;
mod settled;
mod statements;

#[cfg(test)]
mod tests;

pub use rust_hdl::prelude::{Logic, Verilog};
pub use settled::is_settled;
#[cfg(any(test, feature = "testkit"))]
pub(crate) use settled::Skipping;
use std::str::Split;

/// The Verilog of the kernel that `code` and `numbers` describe.
///
/// # Panics
/// If `code` is not in the notation: if it is not from `#[kernel]`.
pub fn verilog(code: &str, numbers: &[usize]) -> Verilog {
    let mut reader = Reader {
        words: code.split(' '),
        numbers,
    };
    let block = reader.block();
    let rest = reader.words.next();
    assert!(rest.is_none(), "kernel: {rest:?} after its end");
    Verilog::Combinatorial(block)
}

/// What is left of a kernel's words.
struct Reader<'a> {
    words: Split<'a, char>,
    numbers: &'a [usize],
}

impl<'a> Reader<'a> {
    fn word(&mut self) -> &'a str {
        self.words.next().expect("kernel: it ends too early")
    }

    /// A width in bits.
    fn width(&mut self) -> usize {
        let word = self.word();
        match word.strip_prefix('@') {
            Some(place) => self.numbers[number(place)],
            None => number(word),
        }
    }
}

fn number(digits: &str) -> usize {
    let number = digits.parse();
    number.unwrap_or_else(|_| panic!("kernel: {digits:?} is not a number"))
}
