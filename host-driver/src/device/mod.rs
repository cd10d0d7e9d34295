//! The device: its parts joined over BAR0 and memory.
//!
//! ```text
//!                    +-- ConnectionTable ----+
//!  calls --> Device -+-- RegionTable --------+-> PresentBar -> BAR0
//!                    +-- ReceivePool --------+
//!                    +-- CompletionQueues ---+   (polled in memory)
//!                    +-- HostRing, EventRing +   (polled in memory)
//!                    +-- UnitRing, one for each transmit ring
//! ```
//!
//! | room | what |
//! |---|---|
//! | `ids` | numbers of connections, completion queues, transmit rings |
//! | `error` | [`DriverError`] |
//! | `access` | BAR0, memory, table operations |
//! | `tables` | connections, regions and windows, receive buffers and reads |
//! | `rings` | completions, events, frames for the host, frames to send |
//! | `config` | choices of the user |
//! | `counters` | counters, pools in use |
//! | `lifecycle`, `interrupts`, `transmit` | the device opened and closed, its vectors, its sending |
//!
//! Each part keeps its own state and works over the BAR it is passed. What takes several of them is
//! decided here: the order in which a connection is closed, the buffer that a completion frees.

use crate::device::access::{table, Accesses, Bar, Dma, DmaBuffer, PresentBar, Registers};
use crate::device::counters::{Counters, InUse};
use crate::device::error::DriverError;
use crate::device::ids::{ConnectionId, QueueId};
use crate::device::rings::{Completion, CompletionQueues, Event, EventRing, HostRing, UnitRing};
use crate::device::tables::{
    stag, ConnectionConfig, ConnectionTable, OutOfOrderRange, OutOfOrderState, Posted, ReceivePool,
    RegionConfig, RegionTable, Reservation, TcpState, WindowConfig,
};
use rnic_abi::counters::Counter;
use rnic_abi::limits::RECEIVE_POOL_LOG2;
use rnic_abi::registers;
use rnic_abi::sizes::Sizes;
use rnic_abi::transmit_ring::RINGS;

pub(crate) mod ids;
pub(crate) mod error;
pub(crate) mod access;
pub(crate) mod tables;
pub(crate) mod rings;
pub(crate) mod config;
pub(crate) mod counters;
pub(crate) mod interrupts;
mod lifecycle;
mod transmit;

/// An open device.
///
/// Dropping it neither stops the device nor waits for what it still writes: close it before its
/// memory is given back. A process that is killed cannot; whoever maps memory for the device (an
/// IOMMU's driver) must then unmap it first. The next [`Device::open`] resets the device.
#[derive(Debug)]
pub struct Device<B: Bar, D: Dma> {
    bar: PresentBar<B>,
    dma: D,
    completions: CompletionQueues,
    host_ring: HostRing,
    events: EventRing,
    /// In the order of [`TransmitRing::ALL`](crate::TransmitRing::ALL).
    transmit_rings: [Option<UnitRing>; RINGS],
    connections: ConnectionTable,
    regions: RegionTable,
    queues: ReceivePool,
    sizes: Sizes,
    /// Since the device was opened.
    counters: Counters,
}

impl<B: Bar, D: Dma> Device<B, D> {
    /// The device-visible memory, for buffers and regions.
    pub fn dma(&mut self) -> &mut D {
        &mut self.dma
    }

    /// The same, to look at.
    #[cfg(target_os = "linux")]
    pub(crate) fn memory(&self) -> &D {
        &self.dma
    }

    /// Width of the frame path in bits.
    ///
    /// # Errors
    /// [`DriverError::Gone`].
    pub fn frame_path_bits(&mut self) -> Result<u32, DriverError> {
        Ok(self.bar.read(registers::CAPABILITIES)? & 0x3ff)
    }

    /// Connections and memory regions of the device.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Pages of packet memory that are free now.
    ///
    /// # Errors
    /// [`DriverError::Gone`].
    pub fn free_pages(&mut self) -> Result<u32, DriverError> {
        self.bar.read(registers::FREE_PAGES)
    }

    /// What all connections together hold of the device's pools now.
    ///
    /// # Errors
    /// [`DriverError::TableTimeout`], [`DriverError::Gone`].
    pub fn in_use(&mut self) -> Result<InUse, DriverError> {
        InUse::read(&mut self.bar)
    }

    /// For diagnosis: the first four words of an entry of a table of the device
    /// (`rnic_abi::tables`); only some tables can be read.
    ///
    /// # Errors
    /// [`DriverError::TableTimeout`], [`DriverError::Gone`].
    pub fn table_entry(&mut self, table: u32, index: u32) -> Result<[u32; 4], DriverError> {
        table::read(&mut self.bar, table, index)
    }

    /// Accesses of BAR0 so far: what the driver itself has counted.
    #[must_use]
    pub fn accesses(&self) -> Accesses {
        self.bar.accesses()
    }

    /// Every counter since the device was opened, modulo 2^32, in the order of the BAR.
    ///
    /// # Errors
    /// [`DriverError::Gone`].
    pub fn counters(&mut self) -> Result<Vec<(Counter, u32)>, DriverError> {
        self.counters.all(&mut self.bar)
    }

    /// One counter since the device was opened, modulo 2^32: a single register read.
    ///
    /// # Errors
    /// [`DriverError::Gone`].
    pub fn counter(&mut self, counter: Counter) -> Result<u32, DriverError> {
        self.counters.one(&mut self.bar, counter)
    }

    /// Add a completion queue of `1 << entries_log2` entries, 1..=16. It stays until the device is
    /// closed. Queue 0 is there from the beginning ([`Config::completion_entries_log2`]).
    ///
    /// Each queue needs an entry for every connection that uses it and for every buffer and read
    /// that their queues ([`Device::open_queue`]) can hold: then none is ever without room, however
    /// late it is polled.
    ///
    /// [`Config::completion_entries_log2`]: crate::Config::completion_entries_log2
    ///
    /// # Errors
    /// [`DriverError::Configuration`]; [`DriverError::Unknown`] if the device has no queue of that
    /// number, [`DriverError::Duplicate`] if there is one already; [`DriverError::Gone`]; what
    /// [`Dma::allocate`] returns.
    pub fn create_completion_queue(
        &mut self,
        queue: QueueId,
        entries_log2: u32,
    ) -> Result<(), DriverError> {
        self.completions
            .create(&mut self.bar, &mut self.dma, queue, entries_log2)
    }

    /// Completion queues that had no room for an entry since they were created. There is none, or a
    /// register was written past this driver. The connections that met it have stopped, and no
    /// entry says which they are: close all that use the queue.
    ///
    /// # Errors
    /// [`DriverError::Gone`].
    pub fn overflowed_queues(&mut self) -> Result<Vec<QueueId>, DriverError> {
        self.completions.overflowed(&mut self.bar)
    }

    /// Offload a connection: [`Device::reserve_connection`] and [`Device::activate_connection`] at
    /// once, for a stream whose next message finds no buffer missing.
    ///
    /// # Errors
    /// Theirs; then nothing is reserved.
    pub fn open_connection(
        &mut self,
        config: &ConnectionConfig,
    ) -> Result<ConnectionId, DriverError> {
        config.check()?;
        let connection = self.reserve_connection(&config.reservation())?;
        let activated = self.activate_connection(connection, config);
        if activated.is_err() {
            self.completions
                .close(config.completion_queue, connection, 0);
            self.connections.forget(connection);
        }
        activated.map(|()| connection)
    }

    /// Prepare a connection that may enter full operation soon: its queues may be opened, and
    /// receives posted, before the first segment can arrive. Nothing is received for it until it
    /// is activated; [`Device::close_connection`] gives it back in either case.
    ///
    /// A responder reserves at the SYN and activates before it sends the MPA Reply, so that an
    /// early FPDU finds its buffer.
    ///
    /// # Errors
    /// [`DriverError::Duplicate`], [`DriverError::Exhausted`]; [`DriverError::Unknown`] if its
    /// completion queue does not exist, [`DriverError::CompletionQueueSize`] if that has no entry
    /// left for the connection's error; [`DriverError::Gone`].
    pub fn reserve_connection(
        &mut self,
        reservation: &Reservation,
    ) -> Result<ConnectionId, DriverError> {
        self.bar.check()?;
        let queue = reservation.completion_queue;
        self.completions.expect_room(&mut self.bar, queue, 1)?;
        let connection = self.connections.reserve(&mut self.bar, reservation)?;
        self.completions.promise(queue, connection, 1);
        Ok(connection)
    }

    /// Receive for a reserved connection: its contexts are written first, its lookup entry last, so
    /// that the first matching segment finds all of them.
    ///
    /// # Errors
    /// [`DriverError::Unknown`], [`DriverError::Activation`], [`DriverError::Configuration`],
    /// [`DriverError::HashFull`], [`DriverError::TableTimeout`], [`DriverError::Gone`]; it stays
    /// reserved.
    pub fn activate_connection(
        &mut self,
        connection: ConnectionId,
        config: &ConnectionConfig,
    ) -> Result<(), DriverError> {
        self.bar.check()?;
        let events_written = self
            .connections
            .activate(&mut self.bar, connection, config)?;
        self.events.begin(connection, events_written);
        Ok(())
    }

    /// Change the receive window of a connection, in octets from rcv_nxt on, while segments arrive:
    /// each of them finds the old window or the new one. As rcv_nxt moves, so does the right edge;
    /// write a smaller window when the application leaves octets in its buffers. The right edge
    /// that a peer has seen in an acknowledgement must not move left (RFC 9293 section 3.8.6).
    ///
    /// # Errors
    /// [`DriverError::Unknown`], [`DriverError::Configuration`], [`DriverError::TableTimeout`]
    pub fn set_window(&mut self, connection: ConnectionId, window: u32) -> Result<(), DriverError> {
        self.bar.check()?;
        self.connections
            .set_window(&mut self.bar, connection, window)
    }

    /// End the offload: no further segment is accepted; then received ranges and held pages, the
    /// regions and windows bound to the connection, and its queues are released, in this order. The
    /// id may next belong to another peer, which must not find anything bound to this one.
    ///
    /// Every whole FPDU that was accepted before is checked against this connection's domain,
    /// regions and queues. When the call returns, what was placed for it is in memory, and its
    /// completions are in its completion queue; they can still be polled, and need their room until
    /// then. Poll them before another connection is opened, which may have the same id.
    pub fn close_connection(&mut self, connection: ConnectionId) -> Result<(), DriverError> {
        self.bar.check()?;
        let queue = self.connections.reservation(connection)?.completion_queue;
        self.connections.stop(&mut self.bar, connection)?;
        self.regions.remove_bound(&mut self.bar, connection)?;
        let unpolled = self.completions.unpolled(&mut self.bar, queue)?;
        self.queues.close_all(&mut self.bar, connection)?;
        self.completions.close(queue, connection, unpolled);
        self.connections.forget(connection);
        self.events.end(connection);
        Ok(())
    }

    /// The configuration of an open connection.
    pub fn connection_config(
        &self,
        connection: ConnectionId,
    ) -> Result<ConnectionConfig, DriverError> {
        self.connections.config(connection)
    }

    /// The open connections with their configurations, in the order of their ids; no access of the
    /// device.
    pub fn connections(&self) -> impl Iterator<Item = (ConnectionId, &ConnectionConfig)> {
        self.connections.iter()
    }

    /// TCP state of a connection, for acknowledgements.
    pub fn tcp_state(&mut self, connection: ConnectionId) -> Result<TcpState, DriverError> {
        self.bar.check()?;
        self.connections.tcp_state(&mut self.bar, connection)
    }

    /// What a connection's out-of-order segments hold, and the ACKs due for them.
    pub fn out_of_order_state(
        &mut self,
        connection: ConnectionId,
    ) -> Result<OutOfOrderState, DriverError> {
        self.bar.check()?;
        self.connections
            .out_of_order_state(&mut self.bar, connection)
    }

    /// The out-of-order ranges of a connection, for selective acknowledgements (RFC 2018 section
    /// 4): the range changed last comes first, the others follow in sequence order.
    ///
    /// A range may disappear before it is in order: when packet memory is nearly full, the device
    /// drops segments that follow a long FPDU to complete that FPDU. A peer must keep data that was
    /// acknowledged only selectively (RFC 2018 section 8).
    ///
    /// Each range is read by a table operation of its own while segments arrive, so the list is no
    /// snapshot. A range in it may have grown or become in order since; its number may even belong
    /// to another connection by now. Check the list against a second call and a later
    /// [`Device::tcp_state`] before sending it.
    pub fn out_of_order_ranges(
        &mut self,
        connection: ConnectionId,
    ) -> Result<Vec<OutOfOrderRange>, DriverError> {
        self.bar.check()?;
        self.connections
            .out_of_order_ranges(&mut self.bar, connection)
    }

    /// Register a region: its entry is written before its STag leads to it.
    ///
    /// # Errors
    /// [`DriverError::Duplicate`], [`DriverError::Exhausted`], [`DriverError::HashFull`],
    /// [`DriverError::Configuration`]; [`DriverError::TableTimeout`], after which no STag leads to
    /// the region, unless the device answers no operation at all.
    pub fn register_region(&mut self, config: &RegionConfig) -> Result<(), DriverError> {
        self.bar.check()?;
        self.regions.register(&mut self.bar, config)
    }

    /// Make a registered region valid again, with a new key or extent if wanted: for use after a
    /// peer has invalidated its STag. The STag is invalid during the call; when it returns, the
    /// device writes nothing more under the old STag. If the completion that names the STag was
    /// polled before, that is one write of a table entry.
    ///
    /// # Errors
    /// [`DriverError::Unknown`] without a region of that index; [`DriverError::Window`] if it is a
    /// window or has some.
    pub fn renew_region(&mut self, config: &RegionConfig) -> Result<(), DriverError> {
        self.bar.check()?;
        self.regions.renew(&mut self.bar, config)
    }

    /// Remove a region. When this returns, the device writes nothing more under its STag.
    ///
    /// # Errors
    /// [`DriverError::Unknown`] without a region of that index; [`DriverError::Window`] if it is a
    /// window or has some.
    pub fn deregister_region(&mut self, stag: u32) -> Result<(), DriverError> {
        self.bar.check()?;
        self.regions.deregister(&mut self.bar, stag)
    }

    /// The registered regions and the bound windows, as last given to the device, in no order; no
    /// access of the device. A peer may have invalidated one since ([`Device::region_valid`]).
    pub fn regions(&self) -> impl Iterator<Item = &RegionConfig> {
        self.regions.iter()
    }

    /// Whether the device holds the region as valid: a peer may have invalidated it.
    pub fn region_valid(&mut self, stag: u32) -> Result<bool, DriverError> {
        self.bar.check()?;
        self.regions.is_valid(&mut self.bar, stag)
    }

    /// An STag for a new region: an unused index and a key. Each free index but 0 is equally
    /// likely, and so is each of the 256 keys. The STag is not reserved.
    ///
    /// # Errors
    /// [`DriverError::Random`] if the operating system returns no random octets.
    pub fn draw_stag(&self) -> Result<u32, DriverError> {
        stag::draw_new(|stag_index| !self.regions.has_index(stag_index))
    }

    /// The STag for the next use of a region ([`Device::renew_region`]): its index with a new key,
    /// so that no peer can write with the STag it knows.
    ///
    /// # Errors
    /// [`DriverError::Unknown`] without a region of that index; [`DriverError::Random`] if the
    /// operating system returns no random octets.
    pub fn draw_next_key(&self, stag: u32) -> Result<u32, DriverError> {
        stag::draw_next(self.regions.get(stag)?.stag)
    }

    /// Open a part of a region to a connection of its Protection Domain. The window closes with
    /// [`Device::unbind_window`], with the connection, or on the peer's Send with Invalidate if it
    /// has that right; an invalidated window still has to be unbound.
    ///
    /// # Errors
    /// Those of [`Device::register_region`]; [`DriverError::Window`] if the region is a window, may
    /// be invalidated by peers, or is not open to the connection; [`DriverError::Configuration`] if
    /// the window is not inside of it.
    pub fn bind_window(&mut self, config: &WindowConfig) -> Result<(), DriverError> {
        self.bar.check()?;
        let connection = self.connections.reservation(config.connection)?;
        self.regions
            .bind(&mut self.bar, config, connection.protection_domain)
    }

    /// Close a window. When this returns, the device writes nothing more under its STag.
    ///
    /// # Errors
    /// [`DriverError::Unknown`] if there is no window of that STag.
    pub fn unbind_window(&mut self, stag: u32) -> Result<(), DriverError> {
        self.bar.check()?;
        self.regions.unbind(&mut self.bar, stag)
    }

    /// Open queue `qn` of a connection with `1 << entries_log2` buffers; MSNs start at 1 (RFC 5041
    /// section 4.3). Queue 3 holds outstanding reads, see [`Device::post_read`].
    pub fn open_queue(
        &mut self,
        connection: ConnectionId,
        qn: u32,
        entries_log2: u32,
    ) -> Result<(), DriverError> {
        self.open_queue_at(connection, qn, entries_log2, 1)
    }

    /// As [`Device::open_queue`], for a stream that software has received so far: the next message
    /// on the queue has `first_msn`.
    pub fn open_queue_at(
        &mut self,
        connection: ConnectionId,
        qn: u32,
        entries_log2: u32,
        first_msn: u32,
    ) -> Result<(), DriverError> {
        self.bar.check()?;
        let completions = self.connections.reservation(connection)?.completion_queue;
        // A size that the pool refuses needs no room.
        let entries = 1u32.checked_shl(entries_log2).unwrap_or(0);
        if entries_log2 <= RECEIVE_POOL_LOG2 as u32 {
            self.completions
                .expect_room(&mut self.bar, completions, entries)?;
        }
        self.queues
            .open(&mut self.bar, connection, qn, entries_log2, first_msn)?;
        self.completions.promise(completions, connection, entries);
        Ok(())
    }

    /// Post a receive buffer; returns its MSN and its entry of the device's pool. That takes four
    /// posted writes at most, two for the next buffer of the same memory, and no read: that a
    /// device is gone shows when it is next read. The device has the buffer before whatever the
    /// driver writes or reads next.
    ///
    /// Queue 1 receives RDMA Read Requests, each in a buffer of 28 octets. The buffers posted there
    /// limit the outstanding requests (IRD): the device refuses a further one and stops the stream
    /// (RFC 5040 section 6.7). Post as many as were negotiated, and another one only when a request
    /// has been answered.
    ///
    /// # Errors
    /// [`DriverError::Unknown`], [`DriverError::QueueFull`]; [`DriverError::Gone`], after which the
    /// device may have the buffer: keep it until the connection or the device has been closed.
    pub fn post_receive(
        &mut self,
        connection: ConnectionId,
        qn: u32,
        buffer: DmaBuffer,
    ) -> Result<Posted, DriverError> {
        self.bar.check()?;
        self.queues.post(&mut self.bar, connection, qn, buffer)
    }

    /// Make an RDMA Read outstanding: `octets` octets into the sink `stag` from `tagged_offset` on.
    /// Call this before the Read Request is sent: when it returns, the device accepts the response.
    ///
    /// The reads of a connection have a queue of their own, number [`READ_QUEUE`], which
    /// [`Device::open_queue`] opens with as many entries as reads may be outstanding at a time
    /// (ORD). The device takes their responses in posting order, each from its first octet to its
    /// last; any other Read Response stops the stream (RFC 5040 section 5.2.1). What a response may
    /// write is checked against the sink's region as it arrives: it must be open as a read sink to
    /// the connection, and shorter than 2^35 octets. A read of 0 octets has no sink.
    ///
    /// # Errors
    /// [`DriverError::Unknown`] if the queue is not open; [`DriverError::QueueFull`] if its reads
    /// are all outstanding; [`DriverError::Configuration`] if the sink's region is too long;
    /// [`DriverError::Gone`].
    ///
    /// [`READ_QUEUE`]: rnic_abi::limits::READ_QUEUE
    pub fn post_read(
        &mut self,
        connection: ConnectionId,
        stag: u32,
        tagged_offset: u64,
        octets: u32,
    ) -> Result<Posted, DriverError> {
        self.bar.check()?;
        self.regions.check_sink(stag)?;
        self.queues
            .post_read(&mut self.bar, connection, stag, tagged_offset, octets)
    }

    /// The next completion of queue 0, if there is one: see [`Device::poll_completion_queue`].
    pub fn poll_completion(&mut self) -> Option<Completion> {
        let polled = self.poll_completion_queue(QueueId::default());
        polled.expect("queue 0 exists as long as the device is open")
    }

    /// The next completion of a queue, if there is one. Its slot in the completion queue is free
    /// before the device can need it, and from now on so is the queue entry of a message's buffer,
    /// or of a read. The completions that a device wrote before it was gone are returned all the
    /// same; then there are no more ([`Device::check_present`]).
    ///
    /// # Errors
    /// [`DriverError::Unknown`] if the queue does not exist.
    pub fn poll_completion_queue(
        &mut self,
        queue: QueueId,
    ) -> Result<Option<Completion>, DriverError> {
        let next = self.completions.next(&mut self.bar, &self.dma, queue)?;
        let Some(polled) = next else {
            return Ok(None);
        };
        let completion = Completion::decode(polled.words);
        if !polled.is_left {
            self.consume(&completion);
        }
        Ok(Some(completion))
    }

    /// A completion frees what it names.
    fn consume(&mut self, completion: &Completion) {
        if let Completion::Receive {
            connection,
            qn,
            msn,
            invalidated_stag,
            ..
        } = *completion
        {
            self.queues.consume(connection, qn, msn);
            if invalidated_stag != 0 {
                self.regions.note_invalidated(invalidated_stag);
            }
        }
        if let Completion::ReadResponse {
            connection,
            pool_entry,
            ..
        } = *completion
        {
            self.queues.consume_read(connection, pool_entry);
        }
    }

    /// The next event of an open connection, if there is one; of a device that is gone as
    /// [`Device::poll_completion`]. Events of a connection come in order, and the last one says
    /// how it is; its counters never go back but modulo 256. What is not polled is joined: while
    /// the ring is full, a connection has one event more in the device, which has all its reasons.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.next(&mut self.bar, &self.dma)
    }

    /// The next frame for the host's own stack, if there is one, without the FCS; of a device that
    /// is gone as [`Device::poll_completion`].
    pub fn poll_host_frame(&mut self) -> Option<Vec<u8>> {
        self.host_ring.next(&mut self.bar, &self.dma)
    }
}

#[cfg(test)]
impl<B: Bar, D: Dma> Device<B, D> {
    /// The double that stands for the device.
    pub(crate) fn double(&mut self) -> &mut B {
        self.bar.double()
    }
}

#[cfg(test)]
mod tests;
