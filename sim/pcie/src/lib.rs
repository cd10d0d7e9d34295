//! A PCI Express transaction-layer model: root complex, endpoint, memory and a monitor.
#![deny(missing_docs)]
