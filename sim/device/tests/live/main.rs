//! Two devices of this process on one wire, and connections between them through the driver.

mod basics;
mod scene;
