//! Test support of the MPA room: a sender, what must come of a job, and a bench around the room.
pub mod bench;
pub mod expect;
pub mod sender;
