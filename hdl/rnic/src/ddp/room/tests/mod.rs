//! The room against a plain-integer model, record by record, with stalls and table operations.
mod bench;
mod early;
mod model;
mod random;
mod refusals;
mod world;
