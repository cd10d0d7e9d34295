//! A sender: RDMAP messages into DDP segments into FPDUs of one stream.
//!
//! What enters: messages. What leaves: the octets of the stream from SeqStart on, and where each
//! FPDU stands in them. Segments are cut as RFC 5041 section 5.2 says, no ULPDU being longer than
//! MULPDU.

use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::rdmap::{Opcode, QN_READ_REQUEST, QN_SEND, QN_TERMINATE};
use rnic_wire::ddp::read_request::ReadRequestRepr;
use rnic_wire::ddp::tagged::{self, TaggedRepr};
use rnic_wire::ddp::terminate::{Terminate, TerminateRepr};
use rnic_wire::ddp::untagged::{self, UntaggedRepr};
use rnic_wire::mpa::crc32c;
use rnic_wire::mpa::fpdu::{Framing, MULPDU_MIN, ULPDU_OCTETS_MAX};
use std::ops::Range;

const QUEUES: usize = 3;

/// What the two ends agreed on for one direction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StreamConfig {
    /// The receiver asked for markers.
    pub markers: bool,
    /// CRC32C is in use.
    pub crc: bool,
    /// DDP and RDMAP version: 0 after a start-up of revision 0, else 1.
    pub version: u8,
    /// Sequence number of the first octet of full operation (SeqStart).
    pub sequence_start: u32,
    /// Longest ULPDU, in octets: 128..=64768 (MPA-032).
    pub mulpdu: usize,
}

impl Default for StreamConfig {
    /// Revision 1 with CRC and without markers, for TCP segments of 1448 octets.
    fn default() -> Self {
        Self {
            markers: false,
            crc: true,
            version: 1,
            sequence_start: 1,
            mulpdu: rnic_wire::mpa::fpdu::mulpdu(1448, false),
        }
    }
}

/// An FPDU that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFpdu {
    /// Its octets in the stream, a leading marker included.
    pub octets: Range<usize>,
    /// ULPDU_Length, in octets.
    pub ulpdu_length: usize,
    /// RDMAP opcode; `None` for a ULPDU that was given as octets.
    pub opcode: Option<Opcode>,
}

/// The sending side of one direction.
#[derive(Clone, Debug)]
pub struct Sender {
    config: StreamConfig,
    framing: Framing,
    stream: Vec<u8>,
    fpdus: Vec<SentFpdu>,
    next_msn: [u32; QUEUES],
}

impl Sender {
    /// A sender whose stream is empty.
    ///
    /// # Panics
    /// If MULPDU lies outside of 128..=64768.
    pub fn new(config: StreamConfig) -> Self {
        assert!(
            (MULPDU_MIN..=ULPDU_OCTETS_MAX).contains(&config.mulpdu),
            "MULPDU is {} octets; it must be {MULPDU_MIN} to {ULPDU_OCTETS_MAX} (MPA-032)",
            config.mulpdu
        );
        let StreamConfig { markers, crc, .. } = config;
        Self {
            config,
            framing: Framing { markers, crc },
            stream: Vec::new(),
            fpdus: Vec::new(),
            next_msn: [1; QUEUES],
        }
    }

    /// What was agreed on.
    pub fn config(&self) -> &StreamConfig {
        &self.config
    }

    /// All octets from SeqStart on.
    pub fn stream(&self) -> &[u8] {
        &self.stream
    }

    /// The octets, to be damaged.
    pub fn stream_mut(&mut self) -> &mut [u8] {
        &mut self.stream
    }

    /// All FPDUs, in order.
    pub fn fpdus(&self) -> &[SentFpdu] {
        &self.fpdus
    }

    /// Sequence number of the octet at `offset` of the stream.
    pub fn sequence(&self, offset: usize) -> u32 {
        self.config.sequence_start.wrapping_add(offset as u32)
    }

    /// MSN of the next message on `qn`.
    pub fn next_msn(&self, qn: u32) -> u32 {
        self.next_msn[qn as usize]
    }

    /// Go on with `msn` on `qn`, as after that many messages (DDP-014).
    pub fn set_next_msn(&mut self, qn: u32, msn: u32) {
        self.next_msn[qn as usize] = msn;
    }

    /// An RDMA Write of `data` to `stag` at `to`.
    pub fn rdma_write(&mut self, stag: u32, to: u64, data: &[u8]) {
        self.tagged_message(Opcode::RdmaWrite, stag, to, data);
    }

    /// An RDMA Read Response of `data` to the sink `stag` at `to`.
    pub fn read_response(&mut self, stag: u32, to: u64, data: &[u8]) {
        self.tagged_message(Opcode::ReadResponse, stag, to, data);
    }

    /// A Send of `data`; its MSN.
    pub fn send(&mut self, data: &[u8]) -> u32 {
        self.untagged_message(Opcode::Send, QN_SEND, 0, data)
    }

    /// A Send with Solicited Event; its MSN.
    pub fn send_solicited(&mut self, data: &[u8]) -> u32 {
        self.untagged_message(Opcode::SendSolicited, QN_SEND, 0, data)
    }

    /// A Send with Invalidate of `stag`; its MSN.
    pub fn send_invalidate(&mut self, stag: u32, data: &[u8]) -> u32 {
        self.untagged_message(Opcode::SendInvalidate, QN_SEND, stag, data)
    }

    /// A Send with Solicited Event and Invalidate of `stag`; its MSN.
    pub fn send_solicited_invalidate(&mut self, stag: u32, data: &[u8]) -> u32 {
        self.untagged_message(Opcode::SendSolicitedInvalidate, QN_SEND, stag, data)
    }

    /// An RDMA Read Request; its MSN.
    pub fn read_request(&mut self, request: &ReadRequestRepr) -> u32 {
        self.untagged_message(Opcode::ReadRequest, QN_READ_REQUEST, 0, &request.octets())
    }

    /// A Terminate; its MSN.
    pub fn terminate(&mut self, terminate: &TerminateRepr) -> u32 {
        let mut octets = vec![0; terminate.buffer_len()];
        terminate.emit(&mut Terminate::new_unchecked(&mut octets));
        self.untagged_message(Opcode::Terminate, QN_TERMINATE, 0, &octets)
    }

    /// A zero-length FPDU, the ready-to-receive message of revision 2 (MPA2-005).
    pub fn zero_length_fpdu(&mut self) {
        self.append(None, &[]);
    }

    /// One FPDU of any octets as ULPDU.
    pub fn ulpdu(&mut self, ulpdu: &[u8]) {
        self.append(None, &[ulpdu]);
    }

    /// One tagged segment as given.
    pub fn tagged_segment(&mut self, header: &TaggedRepr, payload: &[u8]) {
        self.append(Some(header.control.opcode), &[&header.octets(), payload]);
    }

    /// One untagged segment as given.
    pub fn untagged_segment(&mut self, header: &UntaggedRepr, payload: &[u8]) {
        self.append(Some(header.control.opcode), &[&header.octets(), payload]);
    }

    /// Write the CRC field of FPDU `index` anew, over octets that were changed.
    pub fn reseal(&mut self, index: usize) {
        let fpdu = &mut self.stream[self.fpdus[index].octets.clone()];
        let (covered, crc) = fpdu.split_at_mut(fpdu.len() - crc32c::CRC_OCTETS);
        crc.copy_from_slice(&crc32c::field(covered));
    }

    fn tagged_message(&mut self, opcode: Opcode, stag: u32, to: u64, data: &[u8]) {
        for (range, last) in self.segments(data.len(), tagged::HEADER_OCTETS) {
            let to = to.wrapping_add(range.start as u64);
            let control = ControlRepr::new(self.config.version, opcode, last);
            self.tagged_segment(&TaggedRepr { control, stag, to }, &data[range]);
        }
    }

    fn untagged_message(
        &mut self,
        opcode: Opcode,
        qn: u32,
        invalidate_stag: u32,
        data: &[u8],
    ) -> u32 {
        let msn = self.next_msn[qn as usize];
        self.next_msn[qn as usize] = msn.wrapping_add(1);
        for (range, last) in self.segments(data.len(), untagged::HEADER_OCTETS) {
            let mo = u32::try_from(range.start).expect("messages are below 2^32 octets (DDP-017)");
            let control = ControlRepr::new(self.config.version, opcode, last);
            let header = UntaggedRepr {
                control,
                invalidate_stag,
                qn,
                msn,
                mo,
            };
            self.untagged_segment(&header, &data[range]);
        }
        msn
    }

    /// The payload of each segment of a message, and whether it is the last (DDP-006). A message
    /// without octets is one segment (DDP-018).
    fn segments(&self, octets: usize, header: usize) -> impl Iterator<Item = (Range<usize>, bool)> {
        let each = self.config.mulpdu - header;
        (0..octets.max(1)).step_by(each).map(move |start| {
            let end = (start + each).min(octets);
            (start..end, end == octets)
        })
    }

    fn append(&mut self, opcode: Option<Opcode>, ulpdu: &[&[u8]]) {
        let start = self.stream.len();
        self.framing.append(&mut self.stream, ulpdu);
        self.fpdus.push(SentFpdu {
            octets: start..self.stream.len(),
            ulpdu_length: ulpdu.iter().map(|piece| piece.len()).sum(),
            opcode,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_wire::ddp::tagged::TaggedHeader;
    use rnic_wire::ddp::untagged::UntaggedHeader;

    fn ulpdus(sender: &Sender) -> Vec<Vec<u8>> {
        let ulpdu = |fpdu: &SentFpdu| {
            let extracted = sender.framing.extract(&sender.stream, fpdu.octets.start);
            extracted.expect("whole").0.ulpdu().to_vec()
        };
        sender.fpdus.iter().map(ulpdu).collect()
    }

    /// RFC 5041 section 5.2: MO counts payload octets, and the last segment has L.
    #[test]
    fn a_send_of_2048_octets_is_two_segments() {
        let mut sender = Sender::new(StreamConfig {
            mulpdu: 1500,
            ..StreamConfig::default()
        });
        assert_eq!(sender.send(&[7; 2048]), 1);
        let segments: Vec<_> = ulpdus(&sender)
            .iter()
            .map(|ulpdu| {
                let segment = UntaggedHeader::new_checked(ulpdu).expect("untagged");
                let repr = UntaggedRepr::parse(&segment).expect("untagged");
                (
                    repr.mo,
                    segment.payload().len(),
                    repr.control.last,
                    repr.msn,
                )
            })
            .collect();
        assert_eq!(segments, [(0, 1482, false, 1), (1482, 566, true, 1)]);
    }

    /// RFC 5041 section 5.2: TO counts payload octets; sizes about a segment's.
    #[test]
    fn a_write_of_2048_octets_is_two_segments() {
        let mut sender = Sender::new(StreamConfig {
            mulpdu: 1500,
            ..StreamConfig::default()
        });
        sender.rdma_write(0x1234, 16384, &[7; 2048]);
        let segments: Vec<_> = ulpdus(&sender)
            .iter()
            .map(|ulpdu| {
                let segment = TaggedHeader::new_checked(ulpdu).expect("tagged");
                (
                    segment.to(),
                    segment.payload().len(),
                    segment.control().last(),
                )
            })
            .collect();
        assert_eq!(segments, [(16384, 1486, false), (17870, 562, true)]);
        let counts = [1, 1486, 1487].map(|octets| sender.segments(octets, 14).count());
        assert_eq!(counts, [1, 1, 2]);
    }

    /// RFC 5041 section 5.2: a message without octets is a header alone.
    #[test]
    fn an_empty_send_is_one_fpdu_of_18_octets() {
        let mut sender = Sender::new(StreamConfig::default());
        sender.send(&[]);
        assert_eq!(sender.fpdus()[0].ulpdu_length, 18);
        assert_eq!(sender.fpdus().len(), 1);
    }

    /// RFC 5041 section 4.3: MSNs count by queue and go from 2^32 - 1 to 0.
    #[test]
    fn message_numbers_count_by_queue_and_wrap() {
        let mut sender = Sender::new(StreamConfig::default());
        sender.set_next_msn(QN_SEND, u32::MAX);
        assert_eq!(
            [sender.send(&[1]), sender.send_solicited(&[2])],
            [u32::MAX, 0]
        );
        let request = ReadRequestRepr {
            sink_stag: 1,
            sink_to: 2,
            size: 3,
            source_stag: 4,
            source_to: 5,
        };
        assert_eq!(sender.read_request(&request), 1);
    }

    #[test]
    fn a_resealed_fpdu_is_good_again() {
        let mut sender = Sender::new(StreamConfig {
            markers: true,
            ..StreamConfig::default()
        });
        sender.send(&[1; 700]);
        sender.stream_mut()[600] ^= 1;
        assert!(!crc32c::verify(sender.stream()));
        sender.reseal(0);
        assert!(crc32c::verify(sender.stream()));
    }
}
