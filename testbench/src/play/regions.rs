//! `--regions FILE`: regions instead of the learned ones, to try refusals.
//!
//! ```toml
//! [[region]]
//! stag = 0x12345600
//! base = 0x1000            # optional: lowest Tagged Offset
//! length = 4096            # optional: octets
//! flow = 0                 # optional: only this flow
//! rights = ["remote_write"] # optional: remote_write, read_sink, remote_read, remote_invalidate
//! protection_domain = 7    # optional
//! ```
//!
//! A region that the file does not name does not exist.

use crate::play::dut::PlayError;
use rnic_abi::tables;
use rnic_capture::RegionUse;
use rnic_output::shown;
use serde::Deserialize;
use std::path::Path;

/// One region of the file; absent values are those learned from the capture.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RegionOverride {
    /// STag.
    pub stag: u32,
    /// Lowest Tagged Offset.
    pub base: Option<u64>,
    /// Octets.
    pub length: Option<u64>,
    /// Only this flow.
    pub flow: Option<usize>,
    /// Rights by name.
    pub rights: Option<Vec<Right>>,
    /// Protection Domain.
    pub protection_domain: Option<u16>,
}

/// A right by name.
#[derive(Copy, Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// RDMA Write.
    RemoteWrite,
    /// Sink of Read Responses.
    ReadSink,
    /// Source of RDMA Reads.
    RemoteRead,
    /// Send with Invalidate.
    RemoteInvalidate,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    region: Vec<RegionOverride>,
}

/// Read a regions file.
pub fn read(path: &Path) -> Result<Vec<RegionOverride>, PlayError> {
    let failed = |reason: String| PlayError::Option(format!("{}: {reason}", shown(path)));
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let file: File = toml::from_str(&text).map_err(|error| failed(error.to_string()))?;
    Ok(file.region)
}

impl RegionOverride {
    /// Does this entry replace region `stag` of `flow`?
    pub fn applies(&self, flow: usize, stag: u32) -> bool {
        self.stag == stag && self.flow.is_none_or(|only| only == flow)
    }

    /// Put the given values in.
    pub fn apply(&self, region: &mut RegionUse, protection_domain: &mut u16) {
        region.base = self.base.unwrap_or(region.base);
        region.octets = self.length.unwrap_or(region.octets);
        *protection_domain = self.protection_domain.unwrap_or(*protection_domain);
        if let Some(rights) = &self.rights {
            region.rights = rights.iter().fold(0, |bits, right| bits | right.bit());
        }
    }
}

impl Right {
    const fn bit(self) -> u32 {
        match self {
            Self::RemoteWrite => tables::RIGHT_REMOTE_WRITE,
            Self::ReadSink => tables::RIGHT_READ_SINK,
            Self::RemoteRead => tables::RIGHT_REMOTE_READ,
            Self::RemoteInvalidate => tables::RIGHT_REMOTE_INVALIDATE,
        }
    }
}
