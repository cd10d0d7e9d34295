//! Ranges, spans and fragments, each alone.
mod ooo_ranges;
mod span_store;
mod slots;
