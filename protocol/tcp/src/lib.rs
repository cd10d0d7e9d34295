//! TCP for an iWARP sender: a connection without I/O and without a clock, whose receiver can move
//! to hardware.
//!
//! Segments and the time come in as arguments, segments and events are pulled out, so that equal
//! inputs give equal outputs. Octets to be sent stay with the caller: the crate deals in *records*,
//! of which it knows length and place in the stream, and that leave, and leave again, with the same
//! bounds (an FPDU each, module docs of `sender`). What it relies on is RFC 9293, with 5681, 6298,
//! 6582, 6675, 6928 and 9438 for when to send, 8985 for retransmissions that are lost, 2018 and
//! 7323 for options, and 5961 for what to believe.
//!
//! ```text
//!   connect                                        accept (Listener)
//!      |                                              |
//!      v        SYN                                   v
//!   SynSent ------------------------------------> SynReceived
//!      |                                              |
//!      | SYN-ACK                                      | ACK
//!      `-----------------> Established <--------------'
//!                close      |       |  FIN
//!            .--------------'       `-------------.
//!            v                                    v
//!        FinWait1 --- FIN ---> Closing        CloseWait
//!            |                    |               | close
//!            | ACK                | ACK           v
//!            v                    |            LastAck
//!        FinWait2 -- FIN --.      |               | ACK
//!                          v      v               v
//!                          TimeWait ----------> Closed      RST, abort, time-outs: from any state
//! ```
//!
//! | module                 | what                                                             |
//! |------------------------|------------------------------------------------------------------|
//! | [`SeqNumber`]          | numbers that wrap                                                |
//! | [`options`]            | MSS, window scale, SACK                                          |
//! | [`settings`]           | sizes and time-outs, each with default and range                 |
//! | [`congestion`]         | NewReno and CUBIC                                                |
//! | `scoreboard`, `sender` | what is in flight, what is lost, what leaves next                |
//! | `receiver`             | octets before the switch                                         |
//! | [`handover`]           | the switch to hardware, as rules                                 |
//! | [`Connection`]         | handshake, checks, closing, timers, over all of these            |
//! | [`Listener`]           | connections that others open, within limits                      |
//!
//! Simultaneous open is supported. Not supported: timestamps and PAWS (the device has none), urgent
//! data, ECN, fast open, path MTU discovery by probing, SYN cookies (a [`Listener`] has limits
//! instead). Initial sequence numbers, checksums, addresses and ports are the caller's.
//!
//! A connection takes at most [`Settings::memory_octets_max`] octets, whatever its peer sends.
//!
//! # Checks beyond the tests
//!
//! | command                                                        | what                             |
//! |----------------------------------------------------------------|----------------------------------|
//! | `cargo run --release -p rnic-tcp --example explore`            | orders of delivery with faults   |
//! | `cargo run --release -p rnic-tcp --example link`               | goodput and fairness, with goals |
//! | `cargo bench -p rnic-tcp`                                      | what a frame costs               |
//! | `cargo mutants --config protocol/tcp/mutants.toml -p rnic-tcp` | what unit tests notice           |
//!
//! # Example
//!
//! Two connections, and two queues in memory between them:
//!
//! ```
//! use rnic_tcp::{Connection, Event, Outgoing, Output, Record, Segment, SeqNumber, Settings};
//! use std::collections::VecDeque;
//!
//! /// The octets of the only record, which the caller keeps until it is acknowledged.
//! const OCTETS: &[u8] = b"forty-two";
//!
//! /// Everything that `connection` has: segments into `queue`, the rest returned.
//! fn pump(connection: &mut Connection, queue: &mut VecDeque<Outgoing>, now_us: u64) -> Vec<Output>
//! { let mut others = Vec::new();
//!     while let Some(output) = connection.poll(now_us) {
//!         match output {
//!             Output::Segment(outgoing) => queue.push_back(outgoing),
//!             other => others.push(other),
//!         }
//!     }
//!     others
//! }
//!
//! /// The octets of a segment.
//! fn payload(outgoing: &Outgoing) -> &'static [u8] {
//!     let piece = outgoing.piece.map(|piece| {
//!         let begin = piece.offset_octets as usize;
//!         &OCTETS[begin..begin + piece.octets as usize]
//!     });
//!     piece.unwrap_or_default()
//! }
//!
//! let (mut to_server, mut to_client) = (VecDeque::new(), VecDeque::new());
//! let mut client = Connection::connect(Settings::default(), SeqNumber(1_000), 0)?;
//! pump(&mut client, &mut to_server, 0);
//! let syn = to_server.pop_front().expect("a connection begins with a SYN");
//! let syn = Segment { head: syn.head, payload: &[] };
//! let accepted = Connection::accept(Settings::default(), &syn, SeqNumber(5_000), 0)?;
//! let mut server = accepted.expect("it is a SYN");
//!
//! let (mut now_us, mut acked, mut received) = (0, false, Vec::new());
//! while !acked {
//!     for output in pump(&mut client, &mut to_server, now_us) {
//!         match output {
//!             Output::Event(Event::Connected) => {
//!                 client.push(Record { id: 7, octets: OCTETS.len() as u32 })?;
//!             }
//!             Output::Acked(id) => acked = id == 7,
//!             other => panic!("{other:?}"),
//!         }
//!     }
//!     pump(&mut server, &mut to_client, now_us);
//!     now_us += 100;
//!     while let Some(outgoing) = to_server.pop_front() {
//!         let (head, payload) = (outgoing.head, payload(&outgoing));
//!         server.on_segment(&Segment { head, payload }, now_us);
//!     }
//!     while let Some(outgoing) = to_client.pop_front() {
//!         client.on_segment(&Segment { head: outgoing.head, payload: &[] }, now_us);
//!     }
//!     let mut octets = [0; 100];
//!     let count = server.read(&mut octets);
//!     received.extend_from_slice(&octets[..count]);
//! }
//! assert_eq!(received, OCTETS);
//! assert_eq!(client.statistics().sent.retransmitted_segments, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod seq;
pub mod options;
mod segment;
pub mod congestion;
pub mod settings;
mod error;
mod rto;
mod ranges;
mod scoreboard;
mod sender;
pub mod handover;
mod receiver;
mod time_wait;
mod output;
mod connection;
mod listener;

pub use congestion::Algorithm;
pub use connection::{Connection, Snapshot};
pub use error::{HandoverError, Lost, PushError};
pub use handover::Handover;
pub use listener::{reset_for, Listener, ListenerCounts, ListenerSettings};
pub use options::{OptionError, Options, SackBlocks};
pub use output::{Event, Output, ReceivedCounts, State, Statistics};
pub use segment::{Flags, Head, Outgoing, Piece, Segment};
pub use sender::{Record, SenderCounts, RECORD_OCTETS_MAX};
pub use seq::SeqNumber;
pub use settings::{OutOfRange, Settings, TimeOut, TimeOuts};
