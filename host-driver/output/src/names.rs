//! Names and texts of others as they are printed: no control characters.
//!
//! Paths, names in files and what a peer sent may hold anything. Printed as they are, an escape
//! sequence would move the cursor or retitle the terminal, and a line feed would begin a line that
//! looks like one of ours. Characters that turn the direction of writing are kept out as well.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// A path on one line, without control characters: `a\nb` and `\u{1b}[2J` are spelled out.
pub fn shown(path: impl AsRef<Path>) -> String {
    let path = path.as_ref().to_string_lossy();
    escaped(&path, is_control).into_owned()
}

/// A text on one line, without control characters.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_control)
}

/// A text of several lines, without other control characters than line feeds and tabs.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| {
        is_control(letter) && letter != '\n' && letter != '\t'
    })
}

/// C0, DEL and C1, and the marks, embeddings, overrides and isolates of bidirectional text.
fn is_control(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}')
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_escaped(letter) {
            let written = write!(plain, "{}", letter.escape_default());
            written.expect("writing to a string");
        } else {
            plain.push(letter);
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_without_control_characters() {
        assert_eq!(shown("a b/\u{e9}.pcap"), "a b/\u{e9}.pcap");
        for (name, text) in [
            ("\u{1b}[31mred", r"\u{1b}[31mred"),
            ("a\nrnic: all good", r"a\nrnic: all good"),
            ("\r\t\u{7f}\u{9b}2J", r"\r\t\u{7f}\u{9b}2J"),
            ("a\u{202e}pacp", r"a\u{202e}pacp"),
        ] {
            assert_eq!(shown(name), text);
            assert_eq!(one_line(name), text);
        }
    }

    #[test]
    fn lines_keep_line_feeds_and_tabs_alone() {
        assert_eq!(lines("a\n\tb\n"), "a\n\tb\n");
        assert_eq!(lines("a\n\u{1b}[2Jb\r\n"), "a\n\\u{1b}[2Jb\\r\n");
    }

    /// Linux takes any octets but `/` and NUL.
    #[test]
    fn a_name_that_is_no_utf_8_is_shown() {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"a\xff\x1b");
        assert_eq!(shown(name), "a\u{fffd}\\u{1b}");
    }
}
