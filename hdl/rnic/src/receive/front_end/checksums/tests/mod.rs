//! Checksums: IPv4 header and TCP.
mod header;
mod tcp;
