//! An endpoint: a function with configuration space and BARs in front of a device model.
//!
//! ```text
//!                 +-------------------- Endpoint --------------------+
//!   downstream    | CfgRd0, CfgWr0 -> ConfigurationSpace             |
//!   ------------> | MRd, MWr -> MSI-X table, or BarDevice            |   the device:
//!                 | Cpl, CplD -> Requester (poll)                    |   write_memory()
//!   upstream      |                                                  |   read_memory(), poll()
//!   <------------ | one queue, in order <- completions, MWr, MRd     |   raise_interrupt()
//!                 +--------------------------------------------------+
//! ```
//!
//! It serves to test a root complex, or to run a driver, without hardware. Its id is what the
//! last configuration write was addressed to (section 2.2.6.2). A packet that breaks a rule by
//! itself is counted and discarded; a request that nothing answers gets Unsupported Request.
//! Source: PCI Express Base Specification 5.0, sections 2.2, 2.3.1 and 7.5.1.

use std::borrow::Borrow;
use std::collections::VecDeque;

use crate::check::{check, Direction};
use crate::completer::{complete_read, CompletionSplit};
use crate::configuration::{ConfigurationSpace, Msix};
use crate::limits::ReadCompletionBoundary;
use crate::msix::MsixTable;
use crate::requester::{Requester, Token, TransferError};
use crate::tlp::{
    Bdf, CompletionStatus, ConfigurationRequest, Header, Kind, MemoryRequest, Tlp, DWORD_OCTETS,
};

/// The device behind the BARs.
///
/// `offset` and the octets from it on are always within the BAR, and only octets that the
/// request enables are asked for.
pub trait BarDevice {
    /// Fills `data` with the octets from `offset` on.
    fn read(&mut self, now: u64, bar: u8, offset: u64, data: &mut [u8]);
    /// Takes `data` for the octets from `offset` on.
    fn write(&mut self, now: u64, bar: u8, offset: u64, data: &[u8]);
}

/// The endpoint. See the [module](self).
#[derive(Clone, Debug)]
pub struct Endpoint<D> {
    device: D,
    configuration: ConfigurationSpace,
    msix: Option<MsixTable>,
    requester: Requester,
    queue: VecDeque<Tlp>,
    discarded_count: u64,
}

impl<D: BarDevice> Endpoint<D> {
    /// An endpoint after reset.
    pub fn new(configuration: ConfigurationSpace, device: D) -> Self {
        Self {
            device,
            msix: configuration.msix().map(MsixTable::new),
            requester: Requester::new(Bdf::default(), configuration.limits()),
            queue: VecDeque::new(),
            discarded_count: 0,
            configuration,
        }
    }

    /// The device model.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// The device model, to change it.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// The configuration space.
    pub fn configuration(&self) -> &ConfigurationSpace {
        &self.configuration
    }

    /// Its id.
    pub fn bdf(&self) -> Bdf {
        self.requester.bdf()
    }

    /// Packets discarded because they broke a rule or answered no request.
    pub fn discarded_count(&self) -> u64 {
        self.discarded_count
    }

    /// Takes one packet from the root complex.
    pub fn downstream(&mut self, now: u64, tlp: impl Borrow<Tlp>) {
        let tlp = tlp.borrow();
        let mut broken = false;
        check(
            tlp,
            Direction::Downstream,
            &self.configuration.limits(),
            |_| broken = true,
        );
        if broken {
            self.discarded_count += 1;
            return;
        }
        match &tlp.header.kind {
            Kind::CfgRd0(request) => self.read_configuration(&tlp.header, request),
            Kind::CfgWr0(request) => self.write_configuration(tlp, request),
            Kind::MRd(request) => self.read_bar(now, &tlp.header, request),
            Kind::MWr(request) => self.write_bar(now, tlp, request),
            Kind::Cpl(_) | Kind::CplD(_) => {
                if !self.requester.complete(tlp) {
                    self.discarded_count += 1;
                }
            }
            // No message has an effect on this model.
            Kind::Msg(_) | Kind::MsgD(_) => {}
        }
        self.release();
    }

    /// The next packet for the root complex, if there is one.
    pub fn next_upstream(&mut self, _now: u64) -> Option<Tlp> {
        self.release();
        self.queue.pop_front()
    }

    /// Writes `data` to host memory in as many writes as necessary. Posted: there is no answer.
    ///
    /// # Errors
    /// Bus Master Enable is clear.
    pub fn write_memory(&mut self, address: u64, data: &[u8]) -> Result<(), TransferError> {
        self.require_bus_master()?;
        self.release();
        self.queue.extend(self.requester.write(address, data));
        Ok(())
    }

    /// Begins to read `octets` octets of host memory.
    ///
    /// # Errors
    /// Bus Master Enable is clear.
    pub fn read_memory(
        &mut self,
        now: u64,
        address: u64,
        octets: usize,
    ) -> Result<Token, TransferError> {
        self.require_bus_master()?;
        let token = self.requester.read(now, address, octets);
        self.release();
        Ok(token)
    }

    /// The result of a read: `None` while it is under way. It is given once.
    ///
    /// # Errors
    /// The root complex refused, or the token is unknown.
    pub fn poll(&mut self, now: u64, token: Token) -> Result<Option<Vec<u8>>, TransferError> {
        self.requester.poll(now, token)
    }

    /// Raises an MSI-X vector: a message when MSI-X is enabled and the vector is not masked,
    /// behind every write before it. False if the function has no such vector.
    pub fn raise_interrupt(&mut self, vector: u16) -> bool {
        let known = self.msix.as_mut().is_some_and(|table| table.raise(vector));
        self.release();
        known
    }

    fn require_bus_master(&self) -> Result<(), TransferError> {
        match self.configuration.bus_master_enabled() {
            true => Ok(()),
            false => Err(TransferError::BusMasterDisabled),
        }
    }

    // Moves what may now be sent into the queue. Without Bus Master Enable, requests and
    // interrupts wait; completions never do (section 7.5.1.1.3).
    fn release(&mut self) {
        if !self.configuration.bus_master_enabled() {
            return;
        }
        if self.configuration.msix_enabled() && !self.configuration.msix_masked() {
            while let Some(message) = self.msix.as_mut().and_then(MsixTable::next_message) {
                let data = message.data.to_le_bytes();
                self.queue
                    .extend(self.requester.write(message.address, &data));
            }
        }
        while let Some(request) = self.requester.next_request() {
            self.queue.push_back(request);
        }
    }

    fn read_configuration(&mut self, header: &Header, request: &ConfigurationRequest) {
        if request.target.function() != 0 {
            self.refuse(header);
            return;
        }
        let data = self.configuration.read(request.register).to_le_bytes();
        self.answer(header, &data);
    }

    fn write_configuration(&mut self, tlp: &Tlp, request: &ConfigurationRequest) {
        if request.target.function() != 0 {
            self.refuse(&tlp.header);
            return;
        }
        self.requester.set_bdf(request.target);
        let data = <[u8; DWORD_OCTETS]>::try_from(tlp.payload.as_slice());
        // The check before has let through one dword only.
        let data = data.map_or(0, u32::from_le_bytes);
        self.configuration
            .write(request.register, request.enables, data);
        self.requester.set_limits(self.configuration.limits());
        self.complete_without_data(&tlp.header, CompletionStatus::Successful);
    }

    fn read_bar(&mut self, now: u64, header: &Header, request: &MemoryRequest) {
        let length = header.length;
        let mut data = vec![0; length.octets()];
        for run in request.enables.runs(length) {
            let address = request.address + run.start as u64;
            let Some((bar, offset)) = self.configuration.decode(address, run.len()) else {
                self.refuse(header);
                return;
            };
            match self.msix_at(bar, offset, run.len()) {
                Some((table, Place::Table(at))) => table.read_table(at, &mut data[run]),
                Some((table, Place::Pending(at))) => table.read_pending(at, &mut data[run]),
                None => self.device.read(now, bar, offset, &mut data[run]),
            }
        }
        self.answer(header, &data);
    }

    fn write_bar(&mut self, now: u64, tlp: &Tlp, request: &MemoryRequest) {
        for run in request.enables.runs(tlp.header.length) {
            let address = request.address + run.start as u64;
            let Some((bar, offset)) = self.configuration.decode(address, run.len()) else {
                // Nothing answers it, and a posted request has no completion to report that in.
                self.discarded_count += 1;
                return;
            };
            let data = &tlp.payload[run.clone()];
            match self.msix_at(bar, offset, run.len()) {
                Some((table, Place::Table(at))) => table.write_table(at, data),
                // The pending bits are read-only.
                Some((_, Place::Pending(_))) => {}
                None => self.device.write(now, bar, offset, data),
            }
        }
    }

    // The MSI-X structure that an access lies in. One that only begins or ends in it, which
    // no host does (section 6.1.4.2: dwords and quadwords only), goes to the device.
    fn msix_at(&mut self, bar: u8, offset: u64, octets: usize) -> Option<(&mut MsixTable, Place)> {
        let settings: &Msix = self.configuration.msix()?;
        let within = |start: u32, size: usize| {
            let at = offset.checked_sub(start.into())?;
            (at + octets as u64 <= size as u64).then_some(at as usize)
        };
        let table = within(settings.table_offset, settings.table_octets())
            .filter(|_| bar == settings.table_bar)
            .map(Place::Table);
        let pending = within(settings.pending_offset, settings.pending_octets())
            .filter(|_| bar == settings.pending_bar)
            .map(Place::Pending);
        Some((self.msix.as_mut()?, table.or(pending)?))
    }

    fn answer(&mut self, header: &Header, data: &[u8]) {
        let limits = self.configuration.limits();
        let boundary = ReadCompletionBoundary::Octets128;
        let shape = CompletionSplit::Largest;
        self.queue.extend(complete_read(
            header,
            data,
            self.bdf(),
            &limits,
            boundary,
            shape,
        ));
    }

    fn refuse(&mut self, header: &Header) {
        self.complete_without_data(header, CompletionStatus::UnsupportedRequest);
    }

    fn complete_without_data(&mut self, header: &Header, status: CompletionStatus) {
        self.queue
            .extend(Tlp::completion_without_data(header, self.bdf(), status));
    }
}

enum Place {
    Table(usize),
    Pending(usize),
}
