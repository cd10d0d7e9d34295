//! Intake: the elastic buffer and the pad.
mod intake;
mod pad;
