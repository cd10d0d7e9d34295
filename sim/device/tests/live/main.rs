//! Two devices of this process on one wire, and connections between them through the driver.

mod basics;
mod ends;
mod loss;
mod many;
mod scene;
mod wire;
