mod early_runs;
mod span_store;
mod slots;
