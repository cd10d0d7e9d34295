//! What a packet from the device does, once the monitor has let it through.
//!
//! ```text
//!   MWr --> an Interrupt, if it hits a window; else Memory, whole or not at all
//!   MRd --> completions, a fault, or Unsupported Request, after the read latency
//!   Cpl --> the Requester
//! ```

use std::collections::VecDeque;

use super::fault::{spoil, Outgoing};
use super::{Interrupt, RootComplex, RootComplexSettings};
use crate::check::Direction;
use crate::choices::Choice;
use crate::completer::complete_read;
use crate::memory::MemoryError;
use crate::tlp::{CompletionStatus, Header, Kind, MemoryRequest, Tlp, DWORD_OCTETS};
use crate::{ByteEnables, Violation};

impl RootComplex {
    pub(super) fn apply(&mut self, now: u64, tlp: &Tlp, broken_count: usize) {
        if broken_count > 0 {
            self.statistics.discarded += 1;
            // The transfer that waits for it ends with an error, at once.
            self.requester.complete_malformed(now, tlp);
            return;
        }
        match &tlp.header.kind {
            Kind::MWr(request) => self.apply_write(now, tlp, request),
            Kind::MRd(request) => self.answer_read(now, tlp, request),
            Kind::Cpl(_) | Kind::CplD(_) => {
                self.requester.complete(now, tlp);
                self.statistics.completions += 1;
                self.release(now);
            }
            Kind::Msg(_) | Kind::MsgD(_) => self.statistics.messages += 1,
            // The monitor rejects these before they get here.
            Kind::CfgRd0(_) | Kind::CfgWr0(_) => self.statistics.discarded += 1,
        }
    }

    fn apply_write(&mut self, now: u64, tlp: &Tlp, request: &MemoryRequest) {
        let length = tlp.header.length;
        let window = self
            .interrupt_windows
            .iter()
            .find(|window| window.contains(&request.address));
        if window.is_some() {
            self.interrupt(now, tlp, request);
            return;
        }
        let span = request.enables.span(length);
        let address = request.address + span.start as u64;
        // Check the whole span first, so that a refused write changes no octet.
        if let Err(error) = self.may_write(address, span.len()) {
            let octets = span.len();
            let violation = match error {
                MemoryError::Forbidden { .. } => Violation::WriteForbidden { address, octets },
                _ => Violation::WriteOutsideMemory { address, octets },
            };
            self.monitor
                .record(now, Direction::Upstream, Some(tlp), violation);
            self.statistics.writes_refused += 1;
            return;
        }
        for run in request.enables.runs(length) {
            let address = request.address + run.start as u64;
            let octets = run.len() as u64;
            if self.write(now, address, &tlp.payload[run]).is_ok() {
                self.statistics.octets_written += octets;
            }
        }
        self.statistics.writes += 1;
    }

    fn may_write(&self, address: u64, octets: usize) -> Result<(), MemoryError> {
        match &self.device_memory {
            Some(memory) => memory.may_write(address, octets),
            None => self.memory.device_may_write(address, octets),
        }
    }

    fn write(&mut self, now: u64, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        match &self.device_memory {
            Some(memory) => memory.write(address, data),
            None => self.memory.device_write(now, address, data),
        }
    }

    fn read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        match &self.device_memory {
            Some(memory) => memory.read(address, data),
            None => self.memory.device_read(address, data),
        }
    }

    // "The interrupt message is a dword write" (section 6.1.4).
    fn interrupt(&mut self, now: u64, tlp: &Tlp, request: &MemoryRequest) {
        let address = request.address;
        let whole = request.enables == ByteEnables::ONE_DWORD;
        match <[u8; DWORD_OCTETS]>::try_from(tlp.payload.as_slice()) {
            Ok(data) if whole => {
                let (requester, data) = (request.requester, u32::from_le_bytes(data));
                self.interrupts.push_back(Interrupt {
                    now,
                    requester,
                    address,
                    data,
                });
                self.statistics.interrupts += 1;
            }
            _ => {
                let violation = Violation::InterruptWriteMalformed { address };
                self.monitor
                    .record(now, Direction::Upstream, Some(tlp), violation);
                self.statistics.writes_refused += 1;
            }
        }
    }

    fn answer_read(&mut self, now: u64, tlp: &Tlp, request: &MemoryRequest) {
        let header = &tlp.header;
        let span = request.enables.span(header.length);
        let address = request.address + span.start as u64;
        let octets = span.len();
        let mut data = vec![0; header.length.octets()];
        match self.read(address, &mut data[span]) {
            Ok(()) => {
                self.statistics.reads += 1;
                self.answer(now, header, &data);
            }
            Err(error) => {
                let violation = match error {
                    MemoryError::Forbidden { .. } => Violation::ReadForbidden { address, octets },
                    _ => Violation::ReadOutsideMemory { address, octets },
                };
                self.monitor
                    .record(now, Direction::Upstream, Some(tlp), violation);
                self.statistics.reads_refused += 1;
                let status = CompletionStatus::UnsupportedRequest;
                let bdf = self.settings.bdf;
                let refusal = Tlp::completion_without_data(header, bdf, status);
                self.delay(now, refusal.map(Outgoing::legal).into_iter().collect());
            }
        }
    }

    fn answer(&mut self, now: u64, header: &Header, data: &[u8]) {
        let RootComplexSettings {
            bdf,
            limits,
            completion_split,
            ..
        } = self.settings;
        let boundary = limits.read_completion_boundary;
        let choices = &mut *self.choices;
        let shape = completion_split;
        let tlps = complete_read(header, data, bdf, &limits, boundary, shape, choices);
        let octets_max = limits.max_payload.octets();
        let completions = match self.faults.draw(&tlps, octets_max, choices) {
            None => tlps.into_iter().map(Outgoing::legal).collect(),
            Some(fault) => {
                self.statistics.faults += 1;
                let spoiled = spoil(tlps, fault, choices);
                self.faults.note(&spoiled);
                spoiled
            }
        };
        if completions.is_empty() {
            self.lose(now, header);
        }
        self.delay(now, completions);
    }

    // The read is never answered, on purpose.
    fn lose(&mut self, now: u64, header: &Header) {
        if let Some((requester, tag)) = header.expects_completion() {
            let reusable = now.saturating_add(self.faults.reuse_ticks());
            self.monitor
                .lose(Direction::Upstream, requester, tag, reusable);
        }
    }

    fn delay(&mut self, now: u64, completions: VecDeque<Outgoing>) {
        let RootComplexSettings {
            read_latency_ticks,
            read_spread_ticks,
            ..
        } = self.settings;
        let spread = match read_spread_ticks {
            0 => 0,
            ticks => self.choices.below(Choice::Delay, ticks.saturating_add(1)),
        };
        let ready = now
            .saturating_add(read_latency_ticks)
            .saturating_add(spread);
        self.answers.push(ready, completions);
    }
}
