//! What a document consists of: elements and text.

use std::fmt::{self, Display, Formatter};

pub mod element;

/// A text inside of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// A text, as it is to be read.
    pub fn new(content: impl Into<String>) -> Self {
        Self(content.into())
    }
}

impl Display for Text {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&escaped(&self.0))
    }
}

/// `text` without characters that XML takes for markup.
fn escaped(text: &str) -> String {
    let replaced = text.replace('&', "&amp;").replace('<', "&lt;");
    replaced.replace('>', "&gt;").replace('"', "&quot;")
}

/// What an attribute may be set to.
pub trait Value {
    /// Its text, not yet escaped.
    fn text(&self) -> String;
}

macro_rules! value {
    ($($kind:ty),*) => { $(
        impl Value for $kind {
            fn text(&self) -> String {
                self.to_string()
            }
        }
    )* };
}
value!(&str, String, i32, u32, usize, f32, f64);

/// A list of numbers, such as a view box.
impl<N: Display> Value for (N, N, N, N) {
    fn text(&self) -> String {
        format!("{} {} {} {}", self.0, self.1, self.2, self.3)
    }
}
