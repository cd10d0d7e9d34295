mod span_advance;
mod span_drop;
