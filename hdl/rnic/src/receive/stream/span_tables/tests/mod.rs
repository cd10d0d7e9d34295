mod ooo_ranges;
mod span_store;
mod slots;
