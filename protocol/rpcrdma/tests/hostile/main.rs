//! What a hostile peer can do to either end: each action has its answer and its counter, and
//! leaves nothing exposed, lent or waiting.
// Each program takes what it needs of it.
#[allow(unused)]
#[path = "../harness/mod.rs"]
mod harness;

mod client_actions;
mod clients;
mod configured_reads;
mod configuring_clients;
mod configuring_servers;
mod peer;
mod segments;
mod server_actions;
mod servers;
mod silent;
mod timing;
