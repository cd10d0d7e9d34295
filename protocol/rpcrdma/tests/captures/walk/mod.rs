//! The crate's ends, each in the place of one of Linux' in the capture.
mod peer;
mod client;
mod server;

use crate::header;
use crate::nfs::End;
use std::collections::BTreeMap;

/// The Sends of an end by their XIDs, each with the handle that it invalidates.
fn by_xid(end: &End) -> BTreeMap<u32, (Vec<u8>, Option<u32>)> {
    let sends = end.sends().into_iter();
    sends
        .map(|(octets, invalidated)| (header(octets).xid(), (octets.to_vec(), invalidated)))
        .collect()
}
