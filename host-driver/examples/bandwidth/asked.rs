//! What a client asks for with its Request, and what the server answers: Private Data.
//!
//! ```text
//!  Request:  'FWbw'(4)  operation(1)  0(3)  size(4)  depth(4)      most significant first
//!  Reply:    tagged offset(8)  stag(4)                             of the region; 0: receives
//! ```

use serde::Serialize;

/// Begins the Private Data of a client.
const KEY: [u8; 4] = *b"FWbw";
/// Longest message.
pub const SIZE_MAX: u32 = 1 << 20;
/// Most messages at a time.
pub const DEPTH_MAX: u32 = 128;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Sends into the server's receives
    Send,
    /// RDMA Writes into the server's region
    Write,
    /// RDMA Reads of the server's region
    Read,
}

const OPERATIONS: [Operation; 3] = [Operation::Send, Operation::Write, Operation::Read];

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What is measured.
    pub operation: Operation,
    /// Octets of a message.
    pub size: u32,
    /// Messages at a time.
    pub depth: u32,
}

impl Asked {
    /// As Private Data.
    pub fn octets(&self) -> Vec<u8> {
        let (size, depth) = (self.size.to_be_bytes(), self.depth.to_be_bytes());
        [KEY, [self.operation as u8, 0, 0, 0], size, depth].concat()
    }

    /// Of Private Data.
    ///
    /// # Errors
    /// For the client, why it is rejected.
    pub fn read(private_data: &[u8]) -> Result<Self, String> {
        let other = || "this is bandwidth, and the client is another program".to_owned();
        let rest = private_data.strip_prefix(&KEY).ok_or_else(other)?;
        let (&[operation, ..], rest) = rest.split_first_chunk::<4>().ok_or_else(other)?;
        let (&size, rest) = rest.split_first_chunk().ok_or_else(other)?;
        let depth = rest.try_into().map_err(|_| other())?;
        let (size, depth) = (u32::from_be_bytes(size), u32::from_be_bytes(depth));
        let operation = OPERATIONS.get(usize::from(operation)).copied();
        let is_possible = (1..=SIZE_MAX).contains(&size) && (1..=DEPTH_MAX).contains(&depth);
        match operation.filter(|_| is_possible) {
            Some(operation) => Ok(Self {
                operation,
                size,
                depth,
            }),
            None => Err(format!(
                "{depth} messages of {size} octets at a time; up to {DEPTH_MAX} of {SIZE_MAX} go"
            )),
        }
    }

    /// Messages after whose receives a server has posted them again, and says so.
    pub fn batch(&self) -> u32 {
        self.depth.div_ceil(2)
    }
}

/// Where a server's region is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Tagged Offset of its first octet.
    pub to: u64,
    /// Its STag.
    pub stag: u32,
}

impl Place {
    /// As Private Data.
    pub fn octets(&self) -> Vec<u8> {
        [&self.to.to_be_bytes()[..], &self.stag.to_be_bytes()].concat()
    }

    /// Of Private Data; `None`: it is something else.
    pub fn read(private_data: &[u8]) -> Option<Self> {
        let (to, stag) = private_data.split_first_chunk()?;
        Some(Self {
            to: u64::from_be_bytes(*to),
            stag: u32::from_be_bytes(stag.try_into().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_read_as_it_was_written() {
        for operation in OPERATIONS {
            let asked = Asked {
                operation,
                size: SIZE_MAX,
                depth: DEPTH_MAX,
            };
            assert_eq!(Asked::read(&asked.octets()), Ok(asked));
            Asked::read(&asked.octets()[1..]).expect_err("no key");
            Asked::read(&asked.octets()[..15]).expect_err("too short");
            for (at, octet) in [(4, 3), (8, 1), (15, 129)] {
                let mut octets = asked.octets();
                octets[at] = octet;
                Asked::read(&octets).expect_err("out of range");
            }
        }
        let place = Place {
            to: 1 << 40,
            stag: 7,
        };
        assert_eq!(Place::read(&place.octets()), Some(place));
        assert_eq!(Place::read(b""), None);
    }
}
