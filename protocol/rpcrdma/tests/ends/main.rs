//! Both ends over the fabric: which message goes which way, credits, DONE, configuration, reverse
//! calls, recovery.
// Each program takes what it needs of it.
#[allow(unused)]
#[path = "../harness/mod.rs"]
mod harness;

mod configuration;
mod limits;
mod log;
mod open;
mod order;
mod recovery;
mod reverse;
mod rules;
mod ways;
