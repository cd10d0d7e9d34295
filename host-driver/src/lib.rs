//! Userspace driver of the Ferrowarp RNIC.
#![deny(missing_docs)]
