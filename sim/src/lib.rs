//! Co-simulation: the verilated core, host memory and the Ethernet side in one process.
#![deny(missing_docs)]
