//! An endpoint: a function with configuration space and BARs over a device model.
//!
//! ```text
//!                 +-------------------- Endpoint --------------------+
//!   downstream    | CfgRd0, CfgWr0 -> ConfigurationSpace             |
//!   ------------> | MRd, MWr -> MSI-X table, or BarDevice            |   the device:
//!                 | Cpl, CplD -> Requester (poll)                    |   write_memory()
//!   upstream      |                                                  |   read_memory(), poll()
//!   <------------ | one queue, table 2-40 <- completions, MWr, MRd   |   raise_interrupt()
//!                 +--------------------------------------------------+
//! ```
//!
//! It serves to test a root complex, or to run a driver, without hardware. Its id is what the
//! last configuration write was addressed to (section 2.2.6.2). A packet that breaks a rule by
//! itself is counted and discarded; a request that nothing answers gets Unsupported Request.
//! Source: PCI Express Base Specification 5.0, sections 2.2, 2.3.1 and 7.5.1.

use std::borrow::Borrow;

use crate::check::{check, Direction};
use crate::choices::Scripted;
use crate::completer::{complete_read, CompletionSplit};
use crate::configuration::{ConfigurationSpace, Msix};
use crate::limits::ReadCompletionBoundary;
use crate::msix::MsixTable;
use crate::ordering::OrderedQueue;
use crate::requester::{OutstandingRequest, Requester, Token, TransferError};
use crate::reset::Reset;
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
    queue: OrderedQueue<Tlp>,
    discarded_count: u64,
}

impl<D: BarDevice> Endpoint<D> {
    /// An endpoint after reset.
    pub fn new(configuration: ConfigurationSpace, device: D) -> Self {
        Self {
            device,
            msix: configuration.msix().map(MsixTable::new),
            requester: Requester::new(Bdf::default(), configuration.limits()),
            queue: OrderedQueue::new(),
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
            // The transfer that waits for it ends with an error, at once.
            self.requester.complete_malformed(now, tlp);
            return;
        }
        match &tlp.header.kind {
            Kind::CfgRd0(request) => self.read_configuration(&tlp.header, request),
            Kind::CfgWr0(request) => self.write_configuration(tlp, request),
            Kind::MRd(request) => self.read_bar(now, &tlp.header, request),
            Kind::MWr(request) => self.write_bar(now, tlp, request),
            Kind::Cpl(_) | Kind::CplD(_) => {
                if !self.requester.complete(now, tlp) {
                    self.discarded_count += 1;
                }
            }
            // No message has an effect on this model.
            Kind::Msg(_) | Kind::MsgD(_) => {}
        }
        self.release(now);
    }

    /// The next packet for the root complex, if there is one.
    pub fn next_upstream(&mut self, now: u64) -> Option<Tlp> {
        self.next_upstream_if(now, |_| true)
    }

    /// As [`next_upstream`](Self::next_upstream), but only a packet that `admits` accepts, and
    /// that may pass those before it (section 2.4.1).
    pub fn next_upstream_if(&mut self, now: u64, admits: impl FnMut(&Tlp) -> bool) -> Option<Tlp> {
        self.release(now);
        self.queue.next(admits)
    }

    /// Gives up on a read that is not complete after `ticks`; `None`, as at the start, never does.
    pub fn set_timeout(&mut self, ticks: Option<u64>) {
        self.requester.set_timeout(ticks);
    }

    /// Its requests on their way, by rising tag.
    pub fn outstanding(&self) -> impl Iterator<Item = OutstandingRequest> + '_ {
        self.requester.outstanding()
    }

    /// Resets the function: configuration and interrupt table are as at the start, whatever was to
    /// be sent is dropped, and each read under way fails with [`TransferError::Reset`]. The device
    /// model is the caller's to reset.
    pub fn reset(&mut self, reset: Reset) {
        self.configuration.reset(reset);
        self.msix = self.configuration.msix().map(MsixTable::new);
        self.queue = OrderedQueue::new();
        self.requester.reset();
        self.requester.set_limits(self.configuration.limits());
    }

    /// Writes `data` to host memory in as many writes as necessary. Posted: there is no answer.
    ///
    /// # Errors
    /// Bus Master Enable is clear.
    pub fn write_memory(&mut self, address: u64, data: &[u8]) -> Result<(), TransferError> {
        self.require_bus_master()?;
        self.release_interrupts();
        for tlp in self.requester.write(address, data) {
            self.queue.push(tlp);
        }
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
        let token = self.requester.read(address, octets);
        self.release(now);
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
    /// after every write before it. False if the function has no such vector.
    pub fn raise_interrupt(&mut self, vector: u16) -> bool {
        let known = self.msix.as_mut().is_some_and(|table| table.raise(vector));
        self.release_interrupts();
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
    fn release(&mut self, now: u64) {
        self.release_interrupts();
        if !self.configuration.bus_master_enabled() {
            return;
        }
        while let Some(request) = self.requester.next_request(now) {
            self.queue.push(request);
        }
    }

    fn release_interrupts(&mut self) {
        let enabled = self.configuration.bus_master_enabled() && self.configuration.msix_enabled();
        if !enabled || self.configuration.msix_masked() {
            return;
        }
        while let Some(message) = self.msix.as_mut().and_then(MsixTable::next_message) {
            let data = message.data.to_le_bytes();
            for tlp in self.requester.write(message.address, &data) {
                self.queue.push(tlp);
            }
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
        let choices = &mut Scripted::default();
        let id = self.bdf();
        for tlp in complete_read(header, data, id, &limits, boundary, shape, choices) {
            self.queue.push(tlp);
        }
    }

    fn refuse(&mut self, header: &Header) {
        self.complete_without_data(header, CompletionStatus::UnsupportedRequest);
    }

    fn complete_without_data(&mut self, header: &Header, status: CompletionStatus) {
        if let Some(tlp) = Tlp::completion_without_data(header, self.bdf(), status) {
            self.queue.push(tlp);
        }
    }
}

enum Place {
    Table(usize),
    Pending(usize),
}
