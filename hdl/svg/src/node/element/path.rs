//! The course of a path (SVG 1.1, section 8.3): points in the units of the document's view box.

use crate::node::Value;
use std::fmt::Display;

/// Points that lines connect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data(Vec<String>);

impl Data {
    /// No point yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begin a line at a point.
    pub fn move_to<X: Display, Y: Display>(self, point: (X, Y)) -> Self {
        self.with(format!("M{},{}", point.0, point.1))
    }

    /// A line to a point.
    pub fn line_to<X: Display, Y: Display>(self, point: (X, Y)) -> Self {
        self.with(format!("L{},{}", point.0, point.1))
    }

    /// A line back to where it began.
    pub fn close(self) -> Self {
        self.with("z".to_owned())
    }

    fn with(mut self, command: String) -> Self {
        self.0.push(command);
        self
    }
}

impl Value for Data {
    fn text(&self) -> String {
        self.0.join(" ")
    }
}
