//! BAR0 endpoint: requests of any size become accesses on the register bus, a doubleword each.
//!
//! ```text
//!                           +--> Write --> Step, Load --> Write ... --+--> Drain --> Idle
//! request --> Idle, Decode, |                                        |
//!             Act ----------+--> Piece --> Read, Wait, Fill --> Respond --> completion
//!                           |      ^         ^                  |    |
//!                           |      +---------+------------------+    |
//!                           +--> Respond (refused), Drain (ignored) -+
//! ```
//!
//! | request                                           | answer                                   |
//! |---------------------------------------------------|------------------------------------------|
//! | memory read                                       | completions with data, successful        |
//! | memory write                                      | none; each whole doubleword is written   |
//! | other posted requests, poisoned ones, completions | none; ignored                            |
//! | every other request                               | completion, Unsupported Request          |
//!
//! | latency    | request to completion: 9 cycles at D = 128, 21 at 512, and the register bus |
//! | throughput | one request at a time; a doubleword more takes 2 cycles, and the register   |
//! |            | bus if it is read; none while `register_hold`                               |
//! | units      | beats of `D` bits; `register_address` counts doublewords of BAR0            |
//! | source     | PCI Express Base Specification, sections 2.2.4, 2.2.9, 2.3.1                |
//!
//! A doubleword of which some octets are disabled is not written, because every register is one
//! number. Answers are cut where addresses are multiples of 128 octets: every maximum payload size
//! has room for such a piece, and a completer that is no root complex may cut there (section
//! 2.3.1.1). An answer without data is a beat without lanes (`tlp_keep` 0).
use super::completion::CompletionFields;
use super::request::RequestKind;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// State of the request at hand.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum EndpointState {
    Idle,
    Decode,
    Act,
    Write,
    Step,
    Load,
    Drain,
    Piece,
    Read,
    Wait,
    Fill,
    Respond,
}

/// BAR0 endpoint of width `D`, `L = D / 32`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        D == 32 * L && L.is_power_of_two(),
        "BarEndpoint: D = {D} must be 32 L = {}, a power of two",
        32 * L
    );
    let last_lane = L as u64 - 1;
    let top = D as u64 - 32;
)]
pub struct BarEndpoint<const D: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Completer id.
    pub device_id: Signal<In, Bits<16>>,
    /// Request that hit BAR0: payload, its first doubleword in bits 31:0, and its header.
    pub request_data: Signal<In, Bits<D>>,
    pub request_last: Signal<In, Bit>,
    pub request_valid: Signal<In, Bit>,
    pub request_ready: Signal<Out, Bit>,
    pub request_header: Signal<In, Bits<128>>,
    /// Register bus: doubleword of BAR0; reads and writes last one cycle.
    pub register_address: Signal<Out, Bits<10>>,
    pub register_read: Signal<Out, Bit>,
    pub register_write: Signal<Out, Bit>,
    pub register_write_data: Signal<Out, Bits<32>>,
    pub register_read_data: Signal<In, Bits<32>>,
    pub register_read_valid: Signal<In, Bit>,
    /// No access may begin: what an access before has started is under way. It does not wait for
    /// the mux, so requests are accepted whatever becomes of the device's own (section 2.4.1).
    pub register_hold: Signal<In, Bit>,
    /// Completions.
    pub completion_data: Signal<Out, Bits<D>>,
    pub completion_keep: Signal<Out, Bits<L>>,
    pub completion_last: Signal<Out, Bit>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion_ready: Signal<In, Bit>,
    pub completion_header: Signal<Out, Bits<128>>,
    kind: RequestKind,
    answer: CompletionFields,
    state: DFF<EndpointState>,
    request: DFF<Bits<128>>,
    // Beat of the request, or of its answer: doublewords leave at the bottom and come at the top.
    beat: DFF<Bits<D>>,
    keep: DFF<Bits<L>>,
    // Doublewords moved of the beat.
    lane: DFF<Bits<4>>,
    is_last_beat: DFF<Bit>,
    address: DFF<Bits<12>>,
    // Doublewords left of the request, and of the answer's piece.
    left: DFF<Bits<11>>,
    piece_left: DFF<Bits<6>>,
    // None is left: the beat at hand is the answer's last.
    is_over: DFF<Bit>,
    first_be: DFF<Bits<4>>,
    last_be: DFF<Bits<4>>,
    reads: DFF<Bit>,
    writes: DFF<Bit>,
    refuses: DFF<Bit>,
    locked: DFF<Bit>,
    memory_read: DFF<Bit>,
    leading: DFF<Bits<2>>,
    trailing: DFF<Bits<2>>,
    is_first: DFF<Bit>,
    // Every octet of the doubleword at hand is enabled. Settled a cycle before Write.
    is_whole: DFF<Bit>,
    // The answer's beat is aligned.
    is_full: DFF<Bit>,
    header: DFF<Bits<128>>,
    enables: Signal<Local, Bits<4>>,
    is_last: Signal<Local, Bit>,
    next_lane: Signal<Local, Bits<4>>,
    ends_beat: Signal<Local, Bit>,
    // To the next multiple of 128 octets.
    room: Signal<Local, Bits<11>>,
    place: Signal<Local, Bits<5>>,
    piece: Signal<Local, Bits<11>>,
    incoming: Signal<Local, Bits<D>>,
    #[constant(1)]
    one: Constant<Bits<11>>,
    #[constant(1)]
    one_lane: Constant<Bits<4>>,
    #[constant(1)]
    one_left: Constant<Bits<6>>,
    #[constant(1)]
    one_keep: Constant<Bits<L>>,
    // Bits below the last doubleword of a beat.
    #[constant(top)]
    top: Constant<Bits<10>>,
    #[constant(last_lane)]
    last_lane: Constant<Bits<4>>,
    #[constant(32)]
    piece_dwords: Constant<Bits<11>>,
    #[constant(4)]
    dword_octets: Constant<Bits<12>>,
}

impl<const D: usize, const L: usize> Logic for BarEndpoint<D, L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, request, beat, keep, lane, is_last_beat, address, left);
        registers!(clock; piece_left, is_over, first_be, last_be, reads, writes, refuses, locked);
        registers!(clock; memory_read, leading, trailing, is_first, is_full, is_whole, header);
        self.request_ready.next = (self.state.q.val() == EndpointState::Idle)
            | (self.state.q.val() == EndpointState::Load)
            | (self.state.q.val() == EndpointState::Drain);
        self.kind.header.next = self.request.q.val();

        // The doubleword at hand.
        self.is_last.next = self.left.q.val() == self.one.val();
        self.enables.next = 15.into();
        if self.is_last.val() {
            self.enables.next = self.last_be.q.val();
        }
        if self.is_first.q.val() {
            self.enables.next = self.first_be.q.val();
        }
        self.is_whole.d.next = self.enables.val().all();
        self.ends_beat.next = self.lane.q.val() == self.last_lane.val();
        self.next_lane.next = self.lane.q.val() + self.one_lane.val();
        if self.ends_beat.val() {
            self.next_lane.next = 0.into();
        }
        // The piece that begins with it.
        self.place.next = self.address.q.val().get_bits::<5>(2);
        self.room.next = self.piece_dwords.val() - bit_cast::<11, 5>(self.place.val());
        self.piece.next = self.room.val();
        if self.left.q.val() < self.room.val() {
            self.piece.next = self.left.q.val();
        }

        wire!(self => self.answer; device_id);
        self.answer.request.next = self.request.q.val();
        self.answer.reads.next = self.reads.q.val();
        self.answer.memory_read.next = self.memory_read.q.val();
        self.answer.locked.next = self.locked.q.val();
        self.answer.left.next = self.left.q.val();
        self.answer.piece.next = self.piece.val();
        self.answer.address.next = self.address.q.val().get_bits::<7>(0);
        self.answer.leading.next = self.leading.q.val();
        self.answer.trailing.next = self.trailing.q.val();

        self.register_address.next = self.address.q.val().get_bits::<10>(2);
        self.register_write_data.next = self.beat.q.val().get_bits::<32>(0);
        self.register_read.next =
            (self.state.q.val() == EndpointState::Read) & !self.register_hold.val();
        self.register_write.next = (self.state.q.val() == EndpointState::Write)
            & self.is_whole.q.val()
            & !self.register_hold.val();
        self.completion_data.next = self.beat.q.val();
        self.completion_keep.next = self.keep.q.val();
        self.completion_last.next = self.is_over.q.val();
        self.completion_valid.next = self.state.q.val() == EndpointState::Respond;
        self.completion_header.next = self.header.q.val();
        self.incoming.next = bit_cast::<D, 32>(self.register_read_data.val()) << self.top.val();
        match self.state.q.val() {
            // Waits for a request.
            EndpointState::Idle => {
                self.request.d.next = self.request_header.val();
                self.beat.d.next = self.request_data.val();
                self.is_last_beat.d.next = self.request_last.val();
                self.lane.d.next = 0.into();
                self.keep.d.next = 0.into();
                self.is_over.d.next = true;
                self.is_first.d.next = true;
                self.is_full.d.next = false;
                if self.request_valid.val() {
                    self.state.d.next = EndpointState::Decode;
                }
            }
            // One cycle: classifies the request.
            EndpointState::Decode => {
                self.address.d.next = self.kind.address.val();
                self.left.d.next = self.kind.dwords.val();
                self.first_be.d.next = self.kind.first_be.val();
                self.last_be.d.next = self.kind.last_be.val();
                self.leading.d.next = self.kind.leading.val();
                self.trailing.d.next = self.kind.trailing.val();
                self.reads.d.next = self.kind.reads.val();
                self.writes.d.next = self.kind.writes.val();
                self.refuses.d.next = self.kind.refuses.val();
                self.memory_read.d.next = self.kind.memory_read.val();
                self.locked.d.next = self.kind.locked.val();
                self.state.d.next = EndpointState::Act;
            }
            // One cycle: where it goes.
            EndpointState::Act => {
                self.header.d.next = self.answer.header.val();
                self.state.d.next = EndpointState::Drain;
                if self.reads.q.val() {
                    self.state.d.next = EndpointState::Piece;
                } else if self.writes.q.val() {
                    self.state.d.next = EndpointState::Write;
                } else if self.refuses.q.val() {
                    self.state.d.next = EndpointState::Respond;
                } else if self.is_last_beat.q.val() {
                    self.state.d.next = EndpointState::Idle;
                }
            }
            // A doubleword is written, unless it has to wait.
            EndpointState::Write => {
                if !self.register_hold.val() {
                    self.beat.d.next = self.beat.q.val() >> 32;
                    self.lane.d.next = self.next_lane.val();
                    self.address.d.next = self.address.q.val() + self.dword_octets.val();
                    self.left.d.next = self.left.q.val() - self.one.val();
                    self.is_first.d.next = false;
                    self.state.d.next = EndpointState::Step;
                    if self.is_last.val() | self.ends_beat.val() {
                        self.state.d.next = EndpointState::Load;
                        if self.is_last_beat.q.val() {
                            self.state.d.next = EndpointState::Idle;
                        } else if self.is_last.val() {
                            self.state.d.next = EndpointState::Drain;
                        }
                    }
                }
            }
            // One cycle for the registers to settle.
            EndpointState::Step => self.state.d.next = EndpointState::Write,
            // Waits for the next beat of a write.
            EndpointState::Load => {
                self.beat.d.next = self.request_data.val();
                self.is_last_beat.d.next = self.request_last.val();
                if self.request_valid.val() {
                    self.state.d.next = EndpointState::Write;
                }
            }
            // Waits for the end of a request for which nothing more is done.
            EndpointState::Drain => {
                if self.request_valid.val() & self.request_last.val() {
                    self.state.d.next = EndpointState::Idle;
                }
            }
            // One cycle: forms the header of a piece of the answer.
            EndpointState::Piece => {
                self.header.d.next = self.answer.header.val();
                self.piece_left.d.next = self.piece.val().get_bits::<6>(0);
                self.is_over.d.next = false;
                self.state.d.next = EndpointState::Read;
            }
            // A doubleword is asked for, unless it has to wait.
            EndpointState::Read => {
                if !self.register_hold.val() {
                    self.state.d.next = EndpointState::Wait;
                }
            }
            // Waits for it.
            EndpointState::Wait => {
                if self.register_read_valid.val() {
                    self.beat.d.next = (self.beat.q.val() >> 32) | self.incoming.val();
                    self.keep.d.next = (self.keep.q.val() << 1) | self.one_keep.val();
                    self.lane.d.next = self.next_lane.val();
                    self.is_full.d.next = self.ends_beat.val();
                    self.address.d.next = self.address.q.val() + self.dword_octets.val();
                    self.left.d.next = self.left.q.val() - self.one.val();
                    self.piece_left.d.next = self.piece_left.q.val() - self.one_left.val();
                    self.is_over.d.next = self.piece_left.q.val() == self.one_left.val();
                    self.leading.d.next = 0.into();
                    self.state.d.next = EndpointState::Fill;
                }
            }
            // Another one, or the beat moves down until its first one is in lane 0.
            EndpointState::Fill => {
                if self.is_full.q.val() {
                    self.state.d.next = EndpointState::Respond;
                } else if !self.is_over.q.val() {
                    self.state.d.next = EndpointState::Read;
                } else {
                    self.beat.d.next = self.beat.q.val() >> 32;
                    self.lane.d.next = self.next_lane.val();
                    self.is_full.d.next = self.ends_beat.val();
                }
            }
            // Waits for the mux to take the beat.
            EndpointState::Respond => {
                if self.completion_ready.val() {
                    self.keep.d.next = 0.into();
                    self.is_full.d.next = false;
                    self.state.d.next = EndpointState::Drain;
                    if !self.is_over.q.val() {
                        self.state.d.next = EndpointState::Read;
                    } else if self.reads.q.val() & self.left.q.val().any() {
                        self.state.d.next = EndpointState::Piece;
                    } else if self.is_last_beat.q.val() {
                        self.state.d.next = EndpointState::Idle;
                    }
                }
            }
            _ => {}
        }
        if self.reset.val() {
            self.state.d.next = EndpointState::Idle;
        }
    }
}
