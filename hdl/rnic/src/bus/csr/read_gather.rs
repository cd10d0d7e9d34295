//! Read gather: the value of the register that is read, in groups, so that no stage has more than
//! eight values.
//!
//! ```text
//! hits, values --> four groups of eight, one of two --> registers --> OR
//! ```
//!
//! | latency    | 1 cycle                                    |
//! | throughput | one read per cycle                         |
//! | units      | a bit, and a doubleword, for each register |

use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Registers that can be read; those of counters and of rooms that are apart are not among them.
pub(super) const READABLE: usize = 34;

/// The OR of the values that are hit: at most one, so it is that register, or 0.
#[derive(LogicBlock, Init)]
pub struct ReadGather {
    pub clock: Signal<In, Clock>,
    /// One bit a register: it is read.
    pub hits: Signal<In, Bits<READABLE>>,
    /// Values of the registers, in the order of the register file.
    pub value: [Signal<In, Bits<32>>; READABLE],
    /// The value that is read, or 0.
    pub gathered: Signal<Out, Bits<32>>,
    group: [DFF<Bits<32>>; 5],
    gather: Signal<Local, Bits<32>>,
}

impl Logic for ReadGather {
    #[kernel]
    fn update(&mut self) {
        for g in 0..4 {
            self.gather.next = 0.into();
            for i in 0..8 {
                if self.hits.val().get_bit(g * 8 + i) {
                    self.gather.next = self.gather.val() | self.value[g * 8 + i].val();
                }
            }
            self.group[g].clock.next = self.clock.val();
            self.group[g].d.next = self.gather.val();
        }
        self.gather.next = 0.into();
        for i in 32..34 {
            if self.hits.val().get_bit(i) {
                self.gather.next = self.gather.val() | self.value[i].val();
            }
        }
        self.group[4].clock.next = self.clock.val();
        self.group[4].d.next = self.gather.val();
        self.gathered.next = (self.group[0].q.val() | self.group[1].q.val())
            | (self.group[2].q.val() | self.group[3].q.val())
            | self.group[4].q.val();
    }
}
