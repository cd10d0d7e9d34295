//! Headers of messages in words, if they are asked for.
use crate::wire::{Caps, Header};
use std::collections::VecDeque;

/// What a header may have that is only put into words.
const CAPS: Caps = Caps {
    segments_max: u32::MAX,
    write_chunks_max: u32::MAX,
    read_octets_max: u64::MAX,
};

/// Lines that nobody has taken yet.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    is_wanted: bool,
    lines: VecDeque<String>,
}

impl Log {
    pub(super) fn new(is_wanted: bool) -> Self {
        Self {
            is_wanted,
            lines: VecDeque::new(),
        }
    }

    /// A message, of which the header and the first octets after it are here.
    pub(super) fn note(&mut self, what: &str, message: &[u8]) {
        if !self.is_wanted {
            return;
        }
        self.lines.push_back(match Header::parse(message, &CAPS) {
            Ok(header) => format!("{what} {header}"),
            Err(refused) => format!("{what} {} octets: {refused}", message.len()),
        });
    }

    pub(super) fn take(&mut self) -> Option<String> {
        self.lines.pop_front()
    }
}
