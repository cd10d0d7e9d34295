//! FPDU starts by length and by marker disagree (MPA-055): which error is reported.
//!
//! The hardware has placed an FPDU beyond a gap, located by a marker. When the gap closes and the
//! length of the FPDU before it reaches into that one, one of the two starts is wrong, which is MPA
//! error 3 at once (ADR 14). The model places nothing beyond gaps and would wait until the FPDU is
//! whole, when its CRC is usually wrong as well. Which error comes first depends on the progress of
//! the hardware, so both are correct. The model reports the one that the hardware reported,
//! provided that the model itself finds a marker that contradicts the FPDU's start: one among its
//! octets, or the next one after them, which may belong to the FPDU beyond the gap.

use super::completion;
use super::mpa::Fpdu;
use super::{Entry, Model, FIRST_REFUSAL};
use rnic_abi::cqe::KIND_ERROR;
use rnic_abi::errors::StreamError;
use rnic_driver::ConnectionId;

impl Model {
    /// The hardware has reported MPA error 3 for the FPDU that begins at `sequence`, without
    /// reading it. The model does the same if a marker among the FPDU's octets points elsewhere.
    pub fn starts_disagree(&mut self, connection: ConnectionId, sequence: u32) {
        let Some(stream) = self.streams.get(&connection.0) else {
            return;
        };
        let disagreement = Fpdu {
            sequence,
            sequence_end: sequence,
            ulpdu: Vec::new(),
            crc_good: true,
            marker_good: false,
            is_entered: false,
        };
        if !stream.ddp.stopped() {
            if stream.mpa.contradicts(sequence) {
                self.receive_fpdu(connection.0, &disagreement);
            }
        } else if stream.contradicted == Some(sequence) {
            self.take_back_refusal(connection.0, &disagreement);
        }
    }

    /// Replace the error that was reported for the whole FPDU by `instead`, unless it has been
    /// compared already.
    fn take_back_refusal(&mut self, connection: u16, instead: &Fpdu) {
        let reported = self
            .fpdus
            .iter_mut()
            .find(|trace| (trace.connection, trace.sequence) == (connection, instead.sequence));
        let mut entries = self.completions.iter_mut();
        let is_error = |entry: &&mut Entry| {
            let first = entry.words[0];
            first & 0xf == KIND_ERROR && first >> 16 == u32::from(connection)
        };
        let (Some(trace), Some(entry)) = (reported, entries.find(is_error)) else {
            return;
        };
        self.counters[FIRST_REFUSAL + usize::from(trace.error) - 1] -= 1;
        self.counters[FIRST_REFUSAL + StreamError::MpaMarker as usize - 1] += 1;
        trace.error = StreamError::MpaMarker as u8;
        trace.ulpdu_length = 0;
        entry.words = completion::error(connection, instead, StreamError::MpaMarker);
    }
}
