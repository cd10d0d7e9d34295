//! A refusal that gives back what it was about.

use crate::device::error::DriverError;
use std::fmt;

/// An operation that took an object and failed: the object, as it was before, and the reason.
/// Dropping it drops the object.
///
/// `T` is an `Option` where the device may have taken the object all the same; it is then kept, as
/// described in [`verbs`](crate::verbs).
pub struct Refused<T> {
    /// What was to be closed, posted or registered.
    pub object: T,
    /// Why it was not.
    pub error: DriverError,
}

impl<T> Refused<T> {
    pub(crate) fn new(object: T, error: DriverError) -> Self {
        Self { object, error }
    }
}

impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        fmt::Debug::fmt(&self.error, formatter)
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.error.fmt(formatter)
    }
}

impl<T> std::error::Error for Refused<T> {}

impl<T> From<Refused<T>> for DriverError {
    fn from(refused: Refused<T>) -> Self {
        refused.error
    }
}
