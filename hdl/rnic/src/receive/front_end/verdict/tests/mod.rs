//! The verdict and the TCP header that it reads.
mod tcp_header;
mod verdict;
