//! Which completion queue.

use crate::error::DriverError;

/// The number of a completion queue: 0, the default, is there when the device is opened.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CompletionQueue(pub u8);

impl CompletionQueue {
    /// What its memory is called.
    pub(crate) fn memory_name(self) -> String {
        match self.0 {
            0 => "completion queue".to_owned(),
            number => format!("completion queue {number}"),
        }
    }

    /// There is no such queue.
    pub(crate) fn unknown(self) -> DriverError {
        DriverError::Unknown {
            what: "completion queue",
            id: u64::from(self.0),
        }
    }
}
