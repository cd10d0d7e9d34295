//! Commands and events: the place command, its CQE and the trace event of a verdict.
//!
//! ```text
//! record, segment, verdict, address, entry --> [ CQE words ] --> command
//!                                         \--> [ event     ] --> event
//! ```
//!
//! | latency    | 1 cycle, `load` to `command` and `fpdu_event`, which then hold |
//! | throughput | one command per cycle                                          |
//! | units      | octets, beats, words of 32 bits                                |
//! | source     | `rnic_abi::cqe`; RFC 5041 section 5.4, RFC 5040 section 4.8    |
//!
//! | verdict                  | `PlaceKind` | beats    | address, octets | CQE               |
//! |--------------------------|-------------|----------|-----------------|-------------------|
//! | place                    | Write       | record's | of the payload  | if a message ends |
//! | accepted without payload | Discard     | record's | 0               | if a message ends |
//! | refused                  | Discard     | record's | 0               | Error             |
//! | in error already         | Discard     | record's | 0               | none              |
//! | out of order, stored     | Write       | record's | of the payload  | none              |
//! | out of order, otherwise  | Discard     | record's | 0               | none              |
//! | replayed, accepted       | Discard     | 0        | 0               | if a message ends |
//! | frame for the host       | Host        | record's | 0, the frame's  | none              |
//!
//! The beats of an `FpduKind::Check` record are 0, and those of a replayed one; without a CQE
//! either, there is no command. An Error has no CQE if its queue has no room. `cqe` is zero without
//! a CQE, except for `PlaceKind::Host`: the
//! first page of the frame in bits 8:0, its last page in bits 24:16.
use super::terminate::TerminateCode;
use super::types::{DdpSegment, Verdict};
use crate::messages::*;
use rnic_abi::cqe::{KIND_ERROR, KIND_READ_RESPONSE, KIND_RECEIVE};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// The words of a CQE.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct EntryWords {
    /// Kind, opcode, QN, connection; of an Error also T, L and the versions.
    pub word_0: Bits<32>,
    /// MSN, STag, or Terminate code and ULPDU_Length.
    pub word_1: Bits<32>,
    /// Message length, TO low half, or sequence number.
    pub word_2: Bits<32>,
    /// Invalidate STag, or TO high half; of an Error STag, or Invalidate STag.
    pub word_3: Bits<32>,
    /// Sequence number after the FPDU; of an Error TO high half, or QN.
    pub word_4: Bits<32>,
    /// Pool entry; of an Error TO low half, or MSN.
    pub word_5: Bits<32>,
    /// 0; of an Error MO, if untagged.
    pub word_6: Bits<32>,
    /// Phase and number.
    pub word_7: Bits<32>,
}

/// Composes the place command and the trace event of one FPDU.
#[derive(LogicBlock, Init)]
pub struct CommandCompose {
    pub clock: Signal<In, Clock>,
    pub record: Signal<In, FpduRecord>,
    pub segment: Signal<In, DdpSegment>,
    pub verdict: Signal<In, Verdict>,
    /// Bus address of the first payload octet.
    pub address: Signal<In, Bits<64>>,
    /// Pool entry of the receive buffer, or of the read.
    pub entry: Signal<In, Bits<11>>,
    /// Completion queue of the entry, and its word 7.
    pub entry_queue: Signal<In, Bits<4>>,
    pub word_7: Signal<In, Bits<32>>,
    /// Loads both outputs.
    pub load: Signal<In, Bit>,
    pub command: Signal<Out, PlaceCommand>,
    pub fpdu_event: Signal<Out, FpduEvent>,
    /// Sequence number after the last octet of the FPDU.
    pub sequence_end: Signal<Out, Bits<32>>,
    terminate: TerminateCode,
    held_command: DFF<PlaceCommand>,
    held_event: DFF<FpduEvent>,
    held_end: DFF<Bits<32>>,
    now: Signal<Local, PlaceCommand>,
    event_now: Signal<Local, FpduEvent>,
    words: Signal<Local, EntryWords>,
    opcode: Signal<Local, Bits<4>>,
    qn: Signal<Local, Bits<2>>,
    common: Signal<Local, Bits<32>>,
    to_end: Signal<Local, Bits<64>>,
    header_to: Signal<Local, Bits<64>>,
    // T, L, DV, RV.
    head_bits: Signal<Local, Bits<32>>,
    mo_end: Signal<Local, Bits<33>>,
    placed: Signal<Local, Bits<16>>,
    #[constant(1)]
    bit_t: Constant<Bits<32>>,
    #[constant(2)]
    bit_l: Constant<Bits<32>>,
    #[constant(LiteralType::from(KIND_ERROR))]
    error_kind: Constant<Bits<32>>,
    #[constant(LiteralType::from(KIND_RECEIVE))]
    receive_kind: Constant<Bits<32>>,
    #[constant(LiteralType::from(KIND_READ_RESPONSE))]
    response_kind: Constant<Bits<32>>,
}

impl Logic for CommandCompose {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held_command, held_event, held_end);
        self.terminate.error.next = self.verdict.val().error;
        // Opcode and QN are known only if there is a DDP header with a good CRC.
        self.opcode.next = 0.into();
        self.qn.next = 0.into();
        if self.verdict.val().known {
            self.opcode.next = self.segment.val().opcode;
            self.qn.next = self.segment.val().qn;
        }
        self.placed.next = 0.into();
        if self.verdict.val().placed {
            self.placed.next = self.segment.val().payload;
        }
        self.common.next = (bit_cast::<32, 4>(self.opcode.val()) << 4)
            | (bit_cast::<32, 2>(self.qn.val()) << 8)
            | (bit_cast::<32, 10>(self.record.val().connection) << 16);
        self.header_to.next = self.segment.val().to;
        self.head_bits.next = (bit_cast::<32, 2>(self.segment.val().ddp_version) << 2)
            | (bit_cast::<32, 2>(self.segment.val().rdmap_version) << 4);
        if self.segment.val().tagged {
            self.head_bits.next = self.head_bits.val() | self.bit_t.val();
        }
        if self.segment.val().last {
            self.head_bits.next = self.head_bits.val() | self.bit_l.val();
        }
        self.to_end.next = self.segment.val().to_end;
        self.mo_end.next = self.segment.val().mo_end;

        self.words.next.word_0 = 0.into();
        self.words.next.word_1 = 0.into();
        self.words.next.word_2 = 0.into();
        self.words.next.word_3 = 0.into();
        self.words.next.word_4 = 0.into();
        self.words.next.word_5 = 0.into();
        self.words.next.word_6 = 0.into();
        self.words.next.word_7 = 0.into();
        if self.verdict.val().entry {
            self.words.next.word_7 = self.word_7.val();
        }
        if self.verdict.val().refused & self.verdict.val().entry {
            self.words.next.word_0 = self.common.val() | self.error_kind.val();
            self.words.next.word_1 = bit_cast::<32, 16>(self.terminate.code.val())
                | (bit_cast::<32, 16>(self.record.val().ulpdu_length) << 16);
            self.words.next.word_2 = self.record.val().sequence;
            // The words of the header keep their places: TO, or QN and MSN.
            if self.verdict.val().known {
                self.words.next.word_0 =
                    self.common.val() | self.error_kind.val() | (self.head_bits.val() << 10);
                self.words.next.word_3 = self.segment.val().stag;
                self.words.next.word_4 = self.header_to.val().get_bits::<32>(32);
                self.words.next.word_5 = self.header_to.val().get_bits::<32>(0);
                if !self.segment.val().tagged {
                    self.words.next.word_6 = self.segment.val().mo;
                }
            }
        }
        if self.verdict.val().receive {
            self.words.next.word_0 = self.common.val() | self.receive_kind.val();
            self.words.next.word_1 = self.segment.val().msn;
            // RFC 5041 5.4: the length of the message is MO plus payload of its last segment.
            self.words.next.word_2 = self.mo_end.val().get_bits::<32>(0);
            if self.segment.val().invalidates {
                self.words.next.word_3 = self.segment.val().stag;
            }
            self.words.next.word_4 = self.record.val().sequence_end;
            self.words.next.word_5 = bit_cast::<32, 11>(self.entry.val());
        }
        if self.verdict.val().response {
            self.words.next.word_0 = self.common.val() | self.response_kind.val();
            self.words.next.word_1 = self.segment.val().stag;
            self.words.next.word_2 = self.to_end.val().get_bits::<32>(0);
            self.words.next.word_3 = self.to_end.val().get_bits::<32>(32);
            self.words.next.word_4 = self.record.val().sequence_end;
            self.words.next.word_5 = bit_cast::<32, 11>(self.entry.val());
        }
        if self.record.val().kind == FpduKind::Host {
            self.words.next.word_0 = bit_cast::<32, 9>(self.record.val().head_page)
                | (bit_cast::<32, 9>(self.record.val().tail_page) << 16);
        }

        self.now.next.kind = PlaceKind::Discard;
        self.now.next.beats = self.record.val().beats;
        self.now.next.skip_words = 0.into();
        self.now.next.address = 0.into();
        self.now.next.octets = 0.into();
        self.now.next.complete = self.verdict.val().entry;
        self.now.next.queue = self.entry_queue.val();
        self.now.next.cqe = self.words.val().into();
        if self.verdict.val().place {
            self.now.next.kind = PlaceKind::Write;
            self.now.next.address = self.address.val();
            self.now.next.octets = self.segment.val().payload;
            // ULPDU_Length and header: 2 + 14 octets tagged, 2 + 18 untagged.
            self.now.next.skip_words = 5.into();
            if self.segment.val().tagged {
                self.now.next.skip_words = 4.into();
            }
        }
        if self.record.val().kind == FpduKind::Check {
            self.now.next.beats = 0.into();
        }
        if self.record.val().kind == FpduKind::Host {
            self.now.next.kind = PlaceKind::Host;
            self.now.next.octets = self.record.val().ulpdu_length;
        }

        self.event_now.next.connection = self.record.val().connection;
        self.event_now.next.sequence = self.record.val().sequence;
        self.event_now.next.ulpdu_length = self.record.val().ulpdu_length;
        self.event_now.next.error = self.verdict.val().error;
        self.event_now.next.opcode = self.opcode.val();
        self.event_now.next.opcode_valid = self.verdict.val().known;
        self.event_now.next.placed_octets = self.placed.val();
        self.event_now.next.placed_ooo = self.record.val().kind == FpduKind::Deliver;
        if self.load.val() {
            self.held_command.d.next = self.now.val();
            self.held_event.d.next = self.event_now.val();
            self.held_end.d.next = self.record.val().sequence_end;
        }
        self.command.next = self.held_command.q.val();
        self.fpdu_event.next = self.held_event.q.val();
        self.sequence_end.next = self.held_end.q.val();
    }
}
