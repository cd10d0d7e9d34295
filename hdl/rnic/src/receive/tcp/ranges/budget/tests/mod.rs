//! Limits on out-of-order octets: pages and credits.
mod credits;
mod pages;
