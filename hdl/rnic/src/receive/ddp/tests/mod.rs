//! The room against a plain-integer model, record by record, with stalls and table operations.
mod bench;
mod draw;
mod fence;
mod ooo;
mod model;
mod pace;
mod random;
mod refusals;
mod world;
