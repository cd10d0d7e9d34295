//! Transfers: the octets of several requests put together, and the one result that comes of them.
//!
//! ```text
//!   begin(octets) --> open(token) for each request
//!                     deliver, note --> close(token) for each request --> take(token)
//! ```

use std::collections::BTreeMap;

use super::error::TransferError;

/// Names a transfer until its result is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Token(u64);

#[derive(Clone, Debug)]
struct Transfer {
    data: Vec<u8>,
    // Requests of this transfer that are not complete.
    open_requests: usize,
    failed: Option<TransferError>,
}

/// The transfers whose results have not been taken. A token that is not among them changes
/// nothing: completions may come after a time-out has been reported.
#[derive(Clone, Debug, Default)]
pub(super) struct Transfers {
    by_token: BTreeMap<Token, Transfer>,
    token_next: u64,
}

impl Transfers {
    /// A transfer of `octets` octets without requests.
    pub fn begin(&mut self, octets: usize) -> Token {
        let token = Token(self.token_next);
        self.token_next += 1;
        let transfer = Transfer {
            data: vec![0; octets],
            open_requests: 0,
            failed: None,
        };
        self.by_token.insert(token, transfer);
        token
    }

    /// Whether the result of a transfer has not been taken.
    pub fn contains(&self, token: Token) -> bool {
        self.by_token.contains_key(&token)
    }

    /// A request is part of a transfer.
    pub fn open(&mut self, token: Token) {
        if let Some(transfer) = self.by_token.get_mut(&token) {
            transfer.open_requests += 1;
        }
    }

    /// Octets for the place `offset`. Those past the end are of a zero-length read, which is
    /// answered with an octet that nobody asked for.
    pub fn deliver(&mut self, token: Token, offset: usize, octets: &[u8]) {
        if let Some(transfer) = self.by_token.get_mut(&token) {
            let place = transfer.data.get_mut(offset..).unwrap_or_default();
            let kept = octets.len().min(place.len());
            place[..kept].copy_from_slice(&octets[..kept]);
        }
    }

    /// The transfer will fail; of several reasons, the first is kept.
    pub fn note(&mut self, token: Token, error: TransferError) {
        if let Some(transfer) = self.by_token.get_mut(&token) {
            transfer.failed = transfer.failed.or(Some(error));
        }
    }

    /// One of a transfer's requests is over.
    pub fn close(&mut self, token: Token) {
        if let Some(transfer) = self.by_token.get_mut(&token) {
            transfer.open_requests -= 1;
        }
    }

    /// Fails every transfer that has a request under way.
    pub fn reset(&mut self) {
        for transfer in self.by_token.values_mut() {
            if transfer.open_requests > 0 {
                transfer.open_requests = 0;
                transfer.failed = transfer.failed.or(Some(TransferError::Reset));
            }
        }
    }

    /// The result, once: `None` while a request is under way and none has timed out.
    pub fn take(&mut self, token: Token) -> Result<Option<Vec<u8>>, TransferError> {
        let transfer = self
            .by_token
            .get(&token)
            .ok_or(TransferError::UnknownToken)?;
        let timed_out = matches!(transfer.failed, Some(TransferError::TimedOut { .. }));
        if transfer.open_requests > 0 && !timed_out {
            return Ok(None);
        }
        let transfer = self
            .by_token
            .remove(&token)
            .ok_or(TransferError::UnknownToken)?;
        match transfer.failed {
            Some(error) => Err(error),
            None => Ok(Some(transfer.data)),
        }
    }
}
