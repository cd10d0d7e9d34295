//! Elements: a name, attributes in the order in which they were set, children.

use super::{escaped, Value};
use std::fmt::{self, Display, Formatter};

pub mod path;

macro_rules! element {
    ($(#[$documentation:meta])* $kind:ident, $name:literal, $always:expr) => {
        $(#[$documentation])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $kind {
            attributes: Vec<(String, String)>,
            children: Vec<String>,
        }

        impl Default for $kind {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $kind {
            /// An element without children.
            pub fn new() -> Self {
                let always: &[(&str, &str)] = &$always;
                let attribute =
                    |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
                Self {
                    attributes: always.iter().map(attribute).collect(),
                    children: Vec::new(),
                }
            }

            /// The same with an attribute, in the place of one of that name.
            pub fn set(mut self, name: &str, value: impl Value) -> Self {
                let value = value.text();
                match self.attributes.iter_mut().find(|(known, _)| known == name) {
                    Some((_, before)) => *before = value,
                    None => self.attributes.push((name.to_owned(), value)),
                }
                self
            }

            /// The same with one more child at the end.
            #[allow(clippy::should_implement_trait)] // The name that rust-hdl calls.
            pub fn add(mut self, child: impl Display) -> Self {
                self.children.push(child.to_string());
                self
            }
        }

        impl Display for $kind {
            fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
                write_element(formatter, $name, &self.attributes, &self.children)
            }
        }
    };
}

element!(
    /// The outermost element.
    SVG,
    "svg",
    [("xmlns", "http://www.w3.org/2000/svg")]
);
element!(
    /// A line or an outline, described by its attribute `d`: [`path::Data`].
    Path,
    "path",
    []
);
element!(
    /// Words, which are its child.
    Text,
    "text",
    []
);

fn write_element(
    formatter: &mut Formatter<'_>,
    name: &str,
    attributes: &[(String, String)],
    children: &[String],
) -> fmt::Result {
    write!(formatter, "<{name}")?;
    for (name, value) in attributes {
        write!(formatter, " {name}=\"{}\"", escaped(value))?;
    }
    if children.is_empty() {
        return formatter.write_str("/>");
    }
    write!(formatter, ">{}</{name}>", children.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{node, Document};

    /// As rust-hdl draws: a line, a label, a view box; a later value of an attribute counts.
    #[test]
    fn a_document_is_written_with_attributes_children_and_escapes() {
        let data = path::Data::new().move_to((0, 1)).line_to((2, 3.5));
        let line = Path::new().set("stroke", "red").set("d", data.close());
        let label = Text::new()
            .set("x", 1)
            .set("x", 7)
            .add(node::Text::new("a<b & \"c\""));
        let document = Document::new().set("viewBox", (0, 0, 9, 8));
        assert_eq!(
            document.add(line).add(label).to_string(),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 8\">\
             <path stroke=\"red\" d=\"M0,1 L2,3.5 z\"/>\
             <text x=\"7\">a&lt;b &amp; &quot;c&quot;</text></svg>"
        );
    }

    #[test]
    fn an_attribute_cannot_end_its_quotes() {
        let path = Path::new().set("fill", "\"/><script>");
        assert_eq!(
            path.to_string(),
            "<path fill=\"&quot;/&gt;&lt;script&gt;\"/>"
        );
    }
}
