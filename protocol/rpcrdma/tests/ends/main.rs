//! Both ends over the fabric: which message goes which way, credits, DONE, recovery.
#[path = "../harness/mod.rs"]
mod harness;
mod ways;
