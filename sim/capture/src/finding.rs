//! Findings about a capture besides its flows: what was repaired, left out, or keeps a
//! connection from being played.

use serde::Serialize;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Frame numbers named in a text; the rest are counted.
const NAMED_MAX: usize = 5;

/// One thing worth saying, with the frames concerned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its kind, as a stable word for programs: `checksums_filled`, `mid_connection`.
    pub kind: &'static str,
    /// How many there are, of what the text names.
    pub count: usize,
    /// The first frames concerned, counted from 1 as the file has them.
    pub frames: Vec<usize>,
    /// A line for people, with what to do about it.
    pub text: String,
}

impl Finding {
    /// A finding of `count` things in `frames`.
    pub(crate) fn new(kind: &'static str, count: usize, frames: &[usize], text: String) -> Self {
        Self {
            kind,
            count,
            frames: frames.iter().copied().take(NAMED_MAX).collect(),
            text,
        }
    }

    /// The same of a capture that is played in part.
    pub(crate) fn beside(&self) -> Self {
        Self {
            text: format!("not played: {}", self.text),
            ..self.clone()
        }
    }
}

/// Frames that are counted, of which the first ones are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frames {
    pub(crate) count: usize,
    pub(crate) first: Vec<usize>,
    last: Option<usize>,
}

impl Frames {
    /// Count a frame; once, if it comes several times in a row, as the pieces of a long one do.
    pub(crate) fn add(&mut self, frame: usize) {
        if self.last.replace(frame) == Some(frame) {
            return;
        }
        self.count += 1;
        if self.first.len() < NAMED_MAX {
            self.first.push(frame);
        }
    }

    /// Those of several, of which none has a frame of another.
    pub(crate) fn of_all<'a>(several: impl Iterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        for frames in several {
            all.count += frames.count;
            all.first.extend(&frames.first);
        }
        all.first.sort_unstable();
        all.first.truncate(NAMED_MAX);
        all
    }

    /// `3 frames (1, 5, 9)`, with `noun` in place of `frame`.
    pub(crate) fn count_of(&self, noun: &str) -> String {
        let numbers: Vec<String> = self.first.iter().map(ToString::to_string).collect();
        let mut text = format!("{} ({}", counted(self.count, noun), numbers.join(", "));
        if self.count > self.first.len() {
            write!(text, " and {} more", self.count - self.first.len())
                .expect("a string takes all");
        }
        text + ")"
    }
}

/// A short name of a value; of a billion connections two have the same by chance.
pub(crate) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// `1 frame`, `12,345 frames`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count as u64))
}

/// A number with a comma before each three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas_and_the_first_frames_are_named() {
        let texts = [0, 999, 1_000, 1_444, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,444", "1,234,567"]);
        let mut frames = Frames::default();
        frames.add(7);
        assert_eq!(frames.count_of("frame"), "1 frame (7)");
        (8..=12).for_each(|frame| frames.add(frame));
        assert_eq!(
            frames.count_of("frame"),
            "6 frames (7, 8, 9, 10, 11 and 1 more)"
        );
    }
}
