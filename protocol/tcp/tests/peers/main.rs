//! Other TCPs as peers: smoltcp's in simulated time, and Linux' over a tap in a network namespace.
mod endpoint;
mod linux;
mod packet;
mod smoltcp_peer;
