//! Advance and drop of spans, each alone.
mod span_advance;
mod span_drop;
