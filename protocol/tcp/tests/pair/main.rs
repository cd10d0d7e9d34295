//! Two connections over a simulated link: the invariants of `end.rs` hold in every test.
mod device;
mod end;
mod link;
mod pair;

mod handshake;
mod transfer;
mod closing;
mod windows;
mod timers;
mod switch;

use link::{Action, Path};
use pair::{Pair, CLIENT, SERVER};
