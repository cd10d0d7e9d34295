//! A scripted iWARP peer that is written from the specifications alone, and may do whatever it
//! likes: TCP of another make; MPA, DDP and RDMAP octet by octet.
//!
//! ```text
//!  cases --> script --> Talk --> Conn --octets--> smoltcp --> Port --frames--> who is judged
//!              ^                  ^                  ^                             |
//!              |                  +---- octets, FIN, RST ---- a thread <-----------+
//!              `-- verdict: what the standard asks, what came
//! ```
//!
//! | module     | what                                             |
//! |------------|--------------------------------------------------|
//! | `stranger` | the peer: its interface, its connections         |
//! | `port`     | frames, a record of them, and faults of the wire |
//! | `wiretap`  | segments of the record, and forged ones          |
//! | `icmp`     | reports of packets that are too big              |
//! | `mpa`      | start-up frames, FPDUs, markers, CRC32C          |
//! | `ddp`      | headers, Read Requests, Terminates               |
//! | `conn`     | a connection                                     |
//! | `talk`     | a connection in full operation                   |
//! | `script`   | cases as data, and what becomes of them          |
//! | `limits`   | whom it may talk to                              |
//!
//! It shares no code with what it judges: neither with the machines of `protocol`, nor with the
//! driver, nor with the device.
#![deny(missing_docs)]

mod frame;
mod kept;
mod shared;
mod conn;
mod stranger;
mod talk;
pub mod ddp;
pub mod icmp;
pub mod mpa;
pub mod port;
pub mod wiretap;
pub mod limits;
pub mod script;

pub use conn::Conn;
pub use kept::End;
pub use stranger::{Identity, JoinError, Stranger, MAC};
pub use talk::Talk;
