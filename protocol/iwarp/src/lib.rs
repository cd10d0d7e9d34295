//! iWARP of one connection: MPA start-up, framing, RDMAP's sender, Terminate and teardown. No I/O,
//! no clock, no device, no `unsafe`: octets, acknowledgements and microseconds go in, frames,
//! records and completions come out, and equal inputs give equal outputs.
//!
//! ```text
//!     octets of the stream                    records for TCP, acknowledgements
//!         |        ^                                ^          |
//!         v        |                                |          v
//!  +-----------------------+     Agreed     +------------------------------+
//!  | startup               | -------------> | queue_pair                   |
//!  |                       |                | framer, terminate            |
//!  +-----------------------+                +------------------------------+
//!         |                                    ^          ^          |
//!         v                                    |          |          v
//!  Rejected: the ULP's stream            post_send,   what the   completions,
//!  Failed: close TCP                     post_receive device took in  events
//! ```
//!
//! Start-up ([`startup::Initiator`], [`startup::Responder`]):
//!
//! ```text
//!  initiator  Waiting --Reply--> Agreed --octets after it---> Failed
//!                |                 +--- the ULP accepts ----> a queue pair, open
//!                +--R = 1--> Rejected
//!                +--malformed, FIN, time-out--> Failed
//!
//!  responder  Waiting --Request--> Deciding --accept--> the Reply, and a queue pair, held
//!                |                    +--reject--> the Reply with R = 1
//!                |                    +--octets after it, FIN---> Failed
//!                +--malformed, FIN, time-out--> Failed
//! ```
//!
//! Full operation ([`queue_pair::QueuePair`]), as far as this end sends:
//!
//! ```text
//!  held --first FPDU--> open --close--> closing --all has left--> finished
//!                         |                |                         ^
//!                         +----------------+---error---> terminating +
//! ```
//!
//! - [`startup`]: Request and Reply in both roles and revisions 0, 1 and 2.
//! - [`framer`]: messages to FPDUs, in place or copied.
//! - [`queue_pair`]: what is posted, what the device took in, and what becomes of both.
//! - [`mod@terminate`]: the Terminate of each error, and a received one.
//!
//! What receives is not here: a device finds FPDUs, checks and places them, and its completions are
//! [`Received`](queue_pair::Received). Nor is TCP: whoever sends a
//! [`Record`](framer::Record) keeps its bounds.
//!
//! Nothing panics, whatever the peer sends. Memory is bounded: a start-up frame of at most 65,555
//! octets (532 from revision 1 on), the entries of a queue pair's [`Limits`](queue_pair::Limits),
//! IRD and ORD.
//!
//! # Example
//!
//! A connection over two queues in memory, one for each direction.
//!
//! ```
//! use rnic_iwarp::framer::{Crc, Piece, Pieces, Record, Unreadable};
//! use rnic_iwarp::queue_pair::{
//!     Delivered, Host, Kind, Limits, Operation, QueuePair, ReadRefusal, Received, Status,
//!     WorkRequest,
//! };
//! use rnic_iwarp::startup::{
//!     Initiator, InitiatorOutput, Responder, ResponderOutput, Settings,
//! };
//! use rnic_wire::ddp::rdmap::Opcode;
//!
//! // What the device and the memory of the sending end are.
//! struct Memory(Vec<u8>);
//! impl Host for Memory {
//!     fn read(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Unreadable> {
//!         let from = piece.offset as usize;
//!         let octets = self.0.get(from..from + into.len()).ok_or(Unreadable)?;
//!         into.copy_from_slice(octets);
//!         Ok(())
//!     }
//!     fn read_source(&mut self, _: u32, _: u64, _: u32) -> Result<Pieces, ReadRefusal> {
//!         Err(ReadRefusal::Stag)
//!     }
//!     fn invalidated(&mut self, _stag: u32) {}
//!     fn expect_read(&mut self, _stag: u32, _to: u64, _octets: u32) {}
//!     fn repost_read_buffer(&mut self) {}
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let now_us = 0;
//! let (mut to_responder, mut to_initiator) = (Vec::new(), Vec::new());
//!
//! // Start-up. Markers, which this responder asks for, have their FPDUs copied.
//! let mut initiator = Initiator::new(Settings::default(), b"hello", now_us)?;
//! let settings = Settings { markers: true, ..Settings::default() };
//! let mut responder = Responder::new(settings, now_us)?;
//! if let Some(InitiatorOutput::Request(octets)) = initiator.poll(now_us) {
//!     to_responder.extend(octets);
//! }
//! let taken = responder.feed(&to_responder);
//! to_responder.drain(..taken);
//! let Some(ResponderOutput::Request(request)) = responder.poll(now_us) else {
//!     panic!("a Request");
//! };
//! assert_eq!(request.private_data, b"hello");
//! // Whoever sends the Reply is ready to receive: its receives are posted.
//! let accepted = responder.accept(b"welcome")?;
//! let mut answering = QueuePair::new(&accepted.agreed, 1460, Limits::default());
//! answering.post_receive(8)?;
//! to_initiator.extend(accepted.reply);
//! let taken = initiator.feed(&to_initiator);
//! to_initiator.drain(..taken);
//! let Some(InitiatorOutput::Agreed(agreed)) = initiator.poll(now_us) else {
//!     panic!("a Reply");
//! };
//! assert!(agreed.crc && agreed.markers_out);
//! assert_eq!(agreed.private_data, b"welcome");
//!
//! // Full operation: a Send of five octets.
//! let mut pair = QueuePair::new(&agreed, 1460, Limits::default());
//! let mut memory = Memory(b"12345".to_vec());
//! let payload = Pieces::new(&[Piece { region: 0, offset: 0, octets: 5 }])?;
//! let operation = Operation::Send { solicited: false, invalidate_stag: None };
//! pair.post_send(WorkRequest { id: 7, operation, payload })?;
//! let mut copied = Vec::new();
//! let record = pair.transmit(&mut memory, &mut copied).expect("it can leave");
//! to_responder.extend_from_slice(&copied);
//! // A leading marker, then ULPDU_Length: 18 octets of header and the payload.
//! assert_eq!(to_responder[..6], [0, 0, 0, 0, 0, 23]);
//! assert_eq!(to_responder[24..29], *b"12345");
//! pair.on_acknowledged(record.end());
//! let done = pair.poll_completion().expect("acknowledged");
//! assert_eq!((done.id, done.status), (7, Status::Success));
//!
//! // The responder's device has placed and checked it, and says so. Now it may send, too.
//! to_responder.clear();
//! let delivered = Delivered::new(Opcode::Send, 1, 5, 0).expect("one of the four Sends");
//! answering.on_received(Received::Send(delivered), &mut memory);
//! let done = answering.poll_completion().expect("delivered");
//! assert_eq!((done.id, done.kind), (8, Kind::Receive(Some(delivered))));
//! let operation = Operation::Write { stag: 0x100, to: 0 };
//! answering.post_send(WorkRequest { id: 9, operation, payload })?;
//! let record = answering.transmit(&mut memory, &mut copied).expect("it can leave");
//! // No markers this way: the payload stays where it is, and the device computes the CRC.
//! let Record::Scatter(fpdu) = record else {
//!     panic!("one FPDU in place");
//! };
//! to_initiator.extend_from_slice(fpdu.head.as_slice());
//! assert_eq!(to_initiator, [0, 19, 0xc1, 0x40, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
//! assert_eq!((fpdu.payload, fpdu.crc), (payload, Crc::Device));
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod startup;
pub mod framer;
pub mod terminate;
pub mod queue_pair;
