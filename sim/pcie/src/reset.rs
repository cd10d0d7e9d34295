//! The two resets that end everything in flight.

/// What is reset. After both, no earlier packet may reach the other side.
///
/// Source: PCI Express Base Specification 5.0, sections 6.6.1 (conventional reset) and 6.6.2
/// (function-level reset).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reset {
    /// The link goes down and comes up again: a hot reset, or a cable that was pulled. Flow
    /// control starts anew.
    Link,
    /// One function (FLR). The link stays up: flow control goes on, and so do the settings of the
    /// link in the function's configuration space.
    Function,
}
