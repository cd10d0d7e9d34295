//! Hostile peers: case by case, and at random. The memory of a connection is bounded in each.
mod cases;
mod handshakes;
mod memory;
mod peer;
mod random;
mod windows;
