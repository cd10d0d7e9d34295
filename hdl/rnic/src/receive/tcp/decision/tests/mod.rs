//! Decisions on one segment: class, window, result.
mod class;
mod result;
mod window;
