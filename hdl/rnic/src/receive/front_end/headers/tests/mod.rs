//! Headers: Ethernet and IP.
mod ethernet;
mod ip;
