//! SVG documents as `rust-hdl` 0.46 builds them in `vcd_to_svg`: paths and text.
//!
//! rust-hdl requires `svg` 0.10, whose code the compiler announces to refuse one day, and no later
//! release satisfies the requirement. This crate has the names and signatures that rust-hdl calls
//! and nothing else; nothing in this project draws waveforms that way.
//!
//! | enters | elements with attributes and children          |
//! | leaves | their text, special characters escaped         |
//! | source | SVG 1.1, sections 5.1 (structure), 8.3 (paths) |
#![deny(missing_docs)]

use std::io;
use std::path::Path;

pub mod node;

/// A whole document: its outermost element.
pub type Document = node::element::SVG;

/// Write `document` to a file.
///
/// # Errors
/// The file cannot be created or written.
pub fn save(path: impl AsRef<Path>, document: &Document) -> io::Result<()> {
    std::fs::write(path, format!("{document}\n"))
}
