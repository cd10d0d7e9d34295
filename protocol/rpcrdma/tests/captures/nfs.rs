//! The messages of `nfs-v3.pcap`, NFS version 3 between two Linux machines over siw: what both ends
//! sent, in their order.
use crate::streams::streams;
use rnic_wire::ddp::control::FLAG_TAGGED;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::read_request::{ReadRequest, ReadRequestRepr};
use rnic_wire::ddp::tagged::TaggedHeader;
use rnic_wire::ddp::untagged::UntaggedHeader;
use rnic_wire::mpa::fpdu::Framing;
use rnic_wire::mpa::startup::{StartupFrame, StartupRepr};

/// A message of RDMAP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A Send, with the handle that it invalidates.
    Send {
        octets: Vec<u8>,
        invalidated: Option<u32>,
    },
    /// RDMA Write into memory of the receiver.
    Write {
        handle: u32,
        offset: u64,
        octets: Vec<u8>,
    },
    /// RDMA Read of memory of the receiver.
    ReadRequest {
        handle: u32,
        offset: u64,
        length: u32,
    },
    /// What a Read has got, in the order of the requests.
    ReadResponse { octets: Vec<u8> },
}

/// One end of the connection.
pub struct End {
    /// What it said while the connection started.
    pub private_data: Vec<u8>,
    /// What it sent.
    pub messages: Vec<Message>,
}

impl End {
    /// Its Sends, each with the handle that it invalidates.
    pub fn sends(&self) -> Vec<(&[u8], Option<u32>)> {
        let sends = self.messages.iter().filter_map(|message| match message {
            Message::Send {
                octets,
                invalidated,
            } => Some((octets.as_slice(), *invalidated)),
            _ => None,
        });
        sends.collect()
    }
}

fn end(stream: &[u8]) -> End {
    let frame = StartupFrame::new_checked(stream).expect("a frame");
    let repr = StartupRepr::parse(&frame).expect("a frame");
    let framing = Framing {
        markers: repr.markers,
        crc: repr.crc,
    };
    let private_data = repr.private_data.to_vec();
    let (mut messages, mut at) = (Vec::new(), repr.buffer_len());
    let mut payload = Vec::new();
    while let Ok((fpdu, octets)) = framing.extract(stream, at) {
        at += octets;
        assert!(fpdu.verify_crc());
        let ulpdu = fpdu.ulpdu();
        let last = if ulpdu[0] & FLAG_TAGGED != 0 {
            let header = TaggedHeader::new_checked(ulpdu).expect("a header");
            // The offset of a message is that of its first segment.
            let offset = header.to() - payload.len() as u64;
            payload.extend_from_slice(header.payload());
            header
                .control()
                .last()
                .then(|| match header.control().opcode() {
                    Opcode::RdmaWrite => {
                        let octets = std::mem::take(&mut payload);
                        Message::Write {
                            handle: header.stag(),
                            offset,
                            octets,
                        }
                    }
                    Opcode::ReadResponse => Message::ReadResponse {
                        octets: std::mem::take(&mut payload),
                    },
                    other => panic!("{other:?}"),
                })
        } else {
            let header = UntaggedHeader::new_checked(ulpdu).expect("a header");
            payload.extend_from_slice(header.payload());
            let opcode = header.control().opcode();
            header
                .control()
                .last()
                .then(|| untagged(opcode, header.invalidate_stag(), &mut payload))
        };
        messages.extend(last);
    }
    assert_eq!(at, stream.len(), "all of it is messages");
    End {
        private_data,
        messages,
    }
}

fn untagged(opcode: Opcode, stag: u32, payload: &mut Vec<u8>) -> Message {
    let octets = std::mem::take(payload);
    if opcode != Opcode::ReadRequest {
        return Message::Send {
            octets,
            invalidated: opcode.invalidates().then_some(stag),
        };
    }
    let view = ReadRequest::new_checked(&octets[..]).expect("28 octets");
    let request = ReadRequestRepr::parse(&view).expect("28 octets");
    Message::ReadRequest {
        handle: request.source_stag,
        offset: request.source_to,
        length: request.size,
    }
}

/// Client and server.
pub fn ends() -> (End, End) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testbench/captures");
    let file = std::fs::read(format!("{folder}/nfs-v3.pcap")).expect("the capture is there");
    let streams = streams(&file);
    let [(sent, answered)] = streams.as_slice() else {
        panic!("{} connections", streams.len());
    };
    (end(sent), end(answered))
}
