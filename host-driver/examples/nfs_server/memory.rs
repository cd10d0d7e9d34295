//! Registered memory as that of files.

use rnic_examples::files::Memory;
use rnic_rpcrdma::Memories;
use rpcrdma::place::Place;
use std::sync::Arc;

/// Registered memory. Places that files have, and that calls were read into, are within it.
#[derive(Debug)]
pub struct Registered(pub Arc<Memories>);

impl Memory for Registered {
    fn store(&self, at: Place, octets: &[u8]) {
        let stored = self.0.store(at, octets);
        stored.expect("places of files are within registered memory");
    }

    fn load(&self, at: Place, into: &mut [u8]) {
        let loaded = self.0.load(at, into);
        loaded.expect("places of files are within registered memory");
    }
}
