//! The software model of the receiver, capture playback and the rnic command.
#![deny(missing_docs)]

pub mod model;
pub mod capture;
pub mod play;
<<<<<<< HEAD
pub mod traffic;
=======
pub mod docs;
>>>>>>> eeabca50f67cfb07f0b0e95ff5e52de75379b01c
