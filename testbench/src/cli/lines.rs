//! Lines for people while a command runs.

use rnic_output::{stdout, StdoutError};

/// Where they go.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// To standard output.
    Stdout,
    /// To standard error: standard output is the report's, or the capture's.
    Stderr,
    /// Nowhere: the report says it all.
    Nowhere,
}

impl Lines {
    /// Standard output, unless it is `taken`.
    pub(crate) fn unless(taken: bool) -> Self {
        match taken {
            true => Self::Stderr,
            false => Self::Stdout,
        }
    }

    /// Print `text`, with a line feed.
    pub(crate) fn say(self, text: impl AsRef<str>) -> Result<(), StdoutError> {
        let text = text.as_ref();
        match self {
            Self::Stdout => stdout::print(&format!("{text}\n")),
            Self::Stderr => {
                stdout::complain(text);
                Ok(())
            }
            Self::Nowhere => Ok(()),
        }
    }
}

/// The first error of lines that are printed where none can be returned.
#[derive(Debug, Default)]
pub(crate) struct FirstError(Option<StdoutError>);

impl FirstError {
    /// Keep it, if it is one.
    pub(crate) fn note(&mut self, said: Result<(), StdoutError>) {
        if let Err(error) = said {
            self.0.get_or_insert(error);
        }
    }

    /// Has there been one?
    pub(crate) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// As a result.
    pub(crate) fn check(self) -> Result<(), StdoutError> {
        self.0.map_or(Ok(()), Err)
    }
}
