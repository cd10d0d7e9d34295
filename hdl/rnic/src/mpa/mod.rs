//! MPA.
pub mod room;
pub mod splitter;
pub mod split_control;
pub mod window;
pub mod length;
pub mod cursor;
pub mod admission;
pub mod strip;
pub mod compact;
pub mod marker_check;
pub mod record;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
