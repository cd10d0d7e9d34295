//! A directory of the server.

use super::{compound, look_up, read_attributes, Seen, MODE, SIZE, TYPE};
use crate::list::line;
use rnic_examples::failure::{say, Failure};
use rnic_examples::nfs::{Caller, Handle};
use rpcrdma::binding::nfs4::{Bitmap, Operation, Outcome};

/// Octets of the longest listing.
const LISTING_OCTETS_MAX: u32 = 32 << 10;

/// Print the names of `remote`, with what is known of them.
pub fn run(caller: &mut Caller<'_>, root: Option<&Handle>, remote: &str) -> Result<(), Failure> {
    let shown = if remote.is_empty() { "/" } else { remote };
    let found = look_up(caller, root, shown)?;
    let (mut cookie, mut verifier) = (0, [0; 8]);
    loop {
        let list = Operation::ReadDir {
            cookie,
            verifier,
            dircount: LISTING_OCTETS_MAX,
            maxcount: LISTING_OCTETS_MAX,
            attributes: Bitmap([TYPE | SIZE, MODE]),
        };
        let operations = [Operation::PutFh(&found.handle), list];
        let (mut lines, mut is_end, before) = (Vec::new(), None, cookie);
        compound(caller, shown, (&operations, &[]), |seen| {
            match seen {
                Seen::Entry(entry) => {
                    let name = String::from_utf8_lossy(entry.name);
                    let (kind, size, mode) = read_attributes(entry.attributes)?;
                    lines.push(line(&name, kind.zip(mode).zip(size)));
                    cookie = entry.cookie;
                }
                Seen::Outcome(Outcome::ReadDir {
                    verifier: next,
                    eof,
                }) => {
                    (verifier, is_end) = (next, Some(eof));
                }
                Seen::Outcome(_) => {}
            }
            Ok(())
        })?;
        lines.into_iter().try_for_each(say)?;
        match is_end {
            Some(true) => return Ok(()),
            Some(false) if cookie != before => {}
            _ => {
                let peer = caller.peer;
                return Err(format!("{shown} at {peer}: a listing without names").into());
            }
        }
    }
}
