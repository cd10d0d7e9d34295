//! Words of Rust documentation as readers of any language know them.
//!
//! Enters the text of doc comments; leaves Markdown without paths, ranges and types of Rust.
//! [`rust_in`] finds what is left of them.

use rnic_abi::errors;

/// Sections of the document that stand for a whole module.
const SECTIONS: [(&str, &str); 3] = [
    ("`crate::interrupts`", "[Interrupts](#interrupts)"),
    ("`crate::sizes`", "[Builds](#builds)"),
    ("`crate::tables`", "[Tables](#tables)"),
];

/// `text` with names in place of paths and "to" in place of ranges.
pub(super) fn plain(text: &str) -> String {
    let mut text = without_targets(text);
    for (module, section) in SECTIONS {
        text = text.replace(module, section);
    }
    for error in errors::ALL {
        let variant = format!("`StreamError::{error:?}`");
        text = text.replace(&variant, &format!("`{}`", error.name()));
    }
    without_paths(&text).replace("..=", " to ")
}

/// Link targets that are items go; the words stay.
fn without_targets(text: &str) -> String {
    let mut parts = text.split("(crate::");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    out
}

/// `a::b::C` is `C`.
fn without_paths(text: &str) -> String {
    let mut out = String::new();
    for part in text.split_inclusive("::") {
        match part.strip_suffix("::") {
            None => out.push_str(part),
            Some(part) => {
                let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                out.push_str(part.trim_end_matches(is_name));
            }
        }
    }
    out
}

/// The first piece of Rust in `text`, if there is one: a sign, a keyword, a type or its value, or a
/// number as Rust alone writes it.
#[must_use]
pub fn rust_in(text: &str) -> Option<&str> {
    const SIGNS: [&str; 4] = ["::", "..=", "*b\"", "&["];
    const WORDS: [&str; 11] = [
        "u8", "u16", "u32", "u64", "usize", "const", "fn", "pub", "impl", "None", "Some",
    ];
    let sign = SIGNS.into_iter().find(|sign| text.contains(sign));
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let mut words = text.split(|letter| !is_letter(letter));
    sign.or_else(|| {
        words.find(|word| {
            WORDS.contains(word)
                || is_number(word) && (word.contains('_') || word.ends_with("size"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{plain, rust_in};

    #[test]
    fn words_lose_their_paths_and_ranges() {
        for (rust, words) in [
            ("1..=16 of `A`", "1 to 16 of `A`"),
            ("(`crate::interrupts`)", "([Interrupts](#interrupts))"),
            ("`StreamError::MpaCrc` and", "`mpa_crc` and"),
            ("see `B`(crate::registers::B).", "see `B`."),
            ("`crate::limits::PAGES`, `cqe::PHASE`", "`PAGES`, `PHASE`"),
            ("bits `q + 3`..=`q`", "bits `q + 3` to `q`"),
        ] {
            assert_eq!(plain(rust), words);
            assert_eq!(rust_in(words), None);
        }
    }

    /// The canary: what the document once had in its values.
    #[test]
    fn rust_is_found() {
        for (text, piece) in [
            ("u32::from_le_bytes(*b\"FWRP\")", "::"),
            ("(PAGES - IN_ORDER_PAGES) as u32", "u32"),
            ("1..=16", "..="),
            ("50_000", "50_000"),
            ("[0; 4usize]", "4usize"),
            ("const fn", "const"),
            ("a table's name; `None` if there is none", "None"),
            ("`Some(name)`", "Some"),
        ] {
            assert_eq!(rust_in(text), Some(piece), "{text}");
        }
        for text in ["0x8000 << 16", "menu16", "a function", "`TX_0` is none"] {
            assert_eq!(rust_in(text), None, "{text}");
        }
    }
}
