//! What the driver enters in the device's tables, and its own record of it: connections, regions
//! and windows, receive buffers and outstanding reads.
//!
//! Each table writes its entries through [`crate::device::access::table`], and hashes its keys
//! where the device looks them up ([`hash_table`]).

mod hash_table;
mod connection;
mod connection_table;
pub(crate) mod stag;
mod region;
mod window;
mod region_table;
mod receive_pool;

pub use connection::{
    ConnectionConfig, ConnectionKey, OutOfOrderRange, OutOfOrderState, Reservation, TcpState,
};
pub(crate) use connection_table::{ConnectionTable, NO_DOMAIN};
pub use receive_pool::Posted;
pub(crate) use receive_pool::ReceivePool;
pub use region::{stag_hash, RegionConfig};
pub(crate) use region_table::RegionTable;
pub use window::WindowConfig;
