//! MPA.
pub mod cursor;
pub mod length;
pub mod split_control;
pub mod splitter;
pub mod window;
