//! Reads what a source file says of itself: the text at its head and each documented item.
//!
//! Enters the text of a Rust file as rustfmt writes it; leaves doc comments with the name and value
//! of what they stand on. Only the forms the crate `rnic-abi` uses are known: `pub const`, `pub
//! const fn`, enum variants with a number, and the lines of the `counters!` list.

/// A documented item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its doc comment, lines joined by newlines.
    pub doc: String,
    /// Its name.
    pub name: String,
    /// What stands after `=`, if anything does; for a function nothing.
    pub value: Option<String>,
}

/// A source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// The text at its head.
    pub doc: String,
    /// Its documented items in order.
    pub items: Vec<Item>,
}

impl Module {
    /// Reads `text`.
    pub fn parse(text: &str) -> Self {
        let mut module = Self::default();
        let mut doc = Vec::new();
        let mut head = Vec::new();
        for line in text.lines().map(str::trim) {
            if let Some(words) = line.strip_prefix("//!") {
                head.push(plain(words));
            } else if let Some(words) = line.strip_prefix("///") {
                doc.push(plain(words));
            } else if !line.starts_with("#[") {
                if let Some((name, value)) = named(line).filter(|_| !doc.is_empty()) {
                    let doc = doc.join("\n");
                    module.items.push(Item { doc, name, value });
                }
                doc.clear();
            }
        }
        module.doc = head.join("\n");
        module
    }

    /// The item called `name`.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.name == name)
    }
}

impl Item {
    /// The doc comment as one line, for a table's cell.
    pub fn line(&self) -> String {
        self.doc.replace('\n', " ")
    }
}

/// A doc line without its leading space; links to items become plain code.
fn plain(words: &str) -> String {
    let words = words.strip_prefix(' ').unwrap_or(words);
    words.replace("[`", "`").replace("`]", "`")
}

/// Name and value of an item's first line.
fn named(line: &str) -> Option<(String, Option<String>)> {
    if let Some(rest) = line.strip_prefix("pub const fn ") {
        return Some((rest.split('(').next()?.to_owned(), None));
    }
    if let Some(rest) = line.strip_prefix("pub const ") {
        let (name, rest) = rest.split_once(':')?;
        let value = rest.split_once(" = ").map(|(_, value)| tidy(value));
        return Some((name.to_owned(), value));
    }
    // `Variant = 3,` or, in the list of counters, `Variant = 3, "name";`
    let (name, value) = line.split_once(" = ")?;
    let is_name = name.chars().all(char::is_alphanumeric);
    is_name.then(|| (name.to_owned(), Some(tidy(value))))
}

fn tidy(value: &str) -> String {
    value.trim_end_matches([';', ',']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_constants_functions_and_variants_are_read() {
        let text = "//! Head, see [`A`].\n\n/// One\n/// two.\npub const A: u32 = 1 << 3;\n\
                    /// Three.\npub const fn f(x: u32) -> u32 {\n    x\n}\n\
                    /// Four.\n    Variant = 7,\n/// Five.\nCounter = 8, \"counter\";\n";
        let module = Module::parse(text);
        assert_eq!(module.doc, "Head, see `A`.");
        let found = module.items.iter().map(|item| {
            let value = item.value.as_deref();
            (item.name.as_str(), value, item.line())
        });
        let expected = [
            ("A", Some("1 << 3"), "One two.".to_owned()),
            ("f", None, "Three.".to_owned()),
            ("Variant", Some("7"), "Four.".to_owned()),
            ("Counter", Some("8, \"counter\""), "Five.".to_owned()),
        ];
        assert!(found.eq(expected));
    }

    #[test]
    fn a_comment_stays_with_its_item_only() {
        let module = Module::parse("/// Of a type.\npub struct S;\npub const B: u32 = 1;\n");
        assert!(module.items.is_empty());
    }
}
