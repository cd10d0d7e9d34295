//! An offloaded connection, its queues, and what is posted to them.

use super::completion_queue::CompletionQueue;
use super::ledger::{expect_same, ConnectionRecord, Core, Ledger, Object};
use super::memory::{Memory, MemoryRefused};
use super::refused::Refused;
use super::region::{may_have_taken_effect, MemoryRegion, RegionOptions};
use super::window::{MemoryWindow, WindowOptions};
use crate::bus::{FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma, DmaBuffer};
use crate::device::error::DriverError;
use crate::device::ids::ConnectionId;
use crate::device::tables::{
    ConnectionConfig, ConnectionKey, OutOfOrderRange, OutOfOrderState, Posted, Reservation,
    TcpState,
};
use crate::device::Device;
use std::fmt;
use std::sync::Arc;

/// An offloaded connection. When it is closed or dropped, the device receives nothing more for it,
/// closes the regions and windows that are bound to it, and frees the memory posted to its queues.
/// What it has received before is still polled from its completion queue.
///
/// ```no_run
/// use rnic_driver::verbs::{Completed, Context, Connection, CompletionQueue};
/// use rnic_driver::DriverError;
///
/// /// Receives messages of up to 4 KiB, each in the memory of the one before.
/// fn receive(
///     context: &Context,
///     connection: &Connection,
///     queue: &CompletionQueue,
/// ) -> Result<(), DriverError> {
///     connection.open_queue(0, 1)?;
///     connection.post_receive(0, context.allocate(4096)?)?;
///     loop {
///         match queue.poll() {
///             Some(Completed::Received(received)) => {
///                 println!("{} octets", received.octets);
///                 connection.post_receive(0, received.memory)?;
///             }
///             Some(Completed::Stopped(_)) => return Ok(()),
///             _ => {}
///         }
///     }
/// }
/// ```
pub struct Connection<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    core: Arc<Core<B, D>>,
    id: u64,
    number: ConnectionId,
}

impl<B: Bar, D: Dma> Connection<B, D> {
    /// Offload a connection. The domain and the queue of `config` are those given here.
    pub(crate) fn open(
        core: &Arc<Core<B, D>>,
        protection_domain: u16,
        queue: &CompletionQueue<B, D>,
        config: &ConnectionConfig,
    ) -> Result<Self, DriverError> {
        let config = ConnectionConfig {
            protection_domain,
            completion_queue: queue.number(),
            ..*config
        };
        Self::record(core, queue, &config.reservation(), |device| {
            device.open_connection(&config)
        })
    }

    /// Reserve a connection between the ends of `key`.
    pub(crate) fn reserve(
        core: &Arc<Core<B, D>>,
        protection_domain: u16,
        queue: &CompletionQueue<B, D>,
        key: &ConnectionKey,
    ) -> Result<Self, DriverError> {
        let reservation = Reservation {
            key: *key,
            protection_domain,
            completion_queue: queue.number(),
        };
        Self::record(core, queue, &reservation, |device| {
            device.reserve_connection(&reservation)
        })
    }

    /// Keep what `take` has taken of the device.
    fn record(
        core: &Arc<Core<B, D>>,
        queue: &CompletionQueue<B, D>,
        reservation: &Reservation,
        take: impl FnOnce(&mut Device<B, D>) -> Result<ConnectionId, DriverError>,
    ) -> Result<Self, DriverError> {
        expect_same(core, queue.core(), "completion queue")?;
        let mut ledger = core.lock();
        let number = take(ledger.device())?;
        ledger.record_connection(number, reservation);
        let id = ledger.add_handle(Object::Connection(number.0));
        drop(ledger);
        Ok(Self {
            core: Arc::clone(core),
            id,
            number,
        })
    }

    /// Receive for a connection that is reserved
    /// ([`ProtectionDomain::reserve_connection`](super::ProtectionDomain::reserve_connection)).
    /// `protection_domain` and `completion_queue` of `config` have no meaning here.
    ///
    /// # Errors
    /// As [`Device::activate_connection`]; it stays reserved.
    pub fn activate(&self, config: &ConnectionConfig) -> Result<(), DriverError> {
        let mut ledger = self.core.lock();
        let record = ledger.connection(self.number);
        let config = ConnectionConfig {
            protection_domain: record.protection_domain,
            completion_queue: record.queue,
            ..*config
        };
        ledger.device().activate_connection(self.number, &config)
    }

    /// Its number, by which completions and events name it. The next connection may have it.
    pub fn number(&self) -> ConnectionId {
        self.number
    }

    /// As [`Device::open_queue`](crate::Device::open_queue).
    ///
    /// # Errors
    /// As there.
    pub fn open_queue(&self, qn: u32, entries_log2: u32) -> Result<(), DriverError> {
        self.open_queue_at(qn, entries_log2, 1)
    }

    /// As [`Device::open_queue_at`](crate::Device::open_queue_at).
    ///
    /// # Errors
    /// As [`Device::open_queue`](crate::Device::open_queue).
    pub fn open_queue_at(
        &self,
        qn: u32,
        entries_log2: u32,
        first_msn: u32,
    ) -> Result<(), DriverError> {
        let mut ledger = self.core.lock();
        let device = ledger.device();
        device.open_queue_at(self.number, qn, entries_log2, first_msn)
    }

    /// Post `memory` for the next message of queue `qn`. It is the device's until the message's
    /// completion gives it back ([`Received`](super::Received)), or the connection ends.
    ///
    /// # Errors
    /// The memory, and [`DriverError::Unknown`], [`DriverError::QueueFull`],
    /// [`DriverError::ReadOnly`], [`DriverError::OtherContext`]. Without it
    /// [`DriverError::Gone`]: the device may have it.
    pub fn post_receive(
        &self,
        qn: u32,
        memory: Memory<B, D>,
    ) -> Result<Posted, MemoryRefused<B, D>> {
        if let Err(error) = memory.expect_receivable(&self.core) {
            return Err(Refused::new(Some(memory), error));
        }
        let (id, place) = (memory.id(), memory.place());
        let mut ledger = self.core.lock();
        let buffer = DmaBuffer {
            address: place.address,
            octets: place.octets,
        };
        let posted = ledger.device().post_receive(self.number, qn, buffer);
        match posted {
            Ok(posted) => {
                memory.hand_over(&mut ledger);
                let record = ledger.connection(self.number);
                record.posted.insert((qn, posted.msn), id);
                Ok(posted)
            }
            Err(error) if may_have_taken_effect(&error) => {
                memory.hand_over(&mut ledger);
                ledger.connection(self.number).stray.push(id);
                Err(Refused::new(None, error))
            }
            Err(error) => {
                drop(ledger);
                Err(Refused::new(Some(memory), error))
            }
        }
    }

    /// Make an RDMA Read outstanding: `octets` octets into the region `sink` from `tagged_offset`
    /// on, as [`Device::post_read`](crate::Device::post_read) describes. The region cannot be
    /// closed before the completion of the read is polled; if it is dropped, it ends then.
    ///
    /// # Errors
    /// As there; [`DriverError::OtherContext`].
    pub fn post_read(
        &self,
        sink: &MemoryRegion<B, D>,
        tagged_offset: u64,
        octets: u32,
    ) -> Result<Posted, DriverError> {
        expect_same(&self.core, sink.core(), "region")?;
        let mut ledger = self.core.lock();
        let stag = ledger.regions[&sink.id()].config.stag;
        let device = ledger.device();
        let posted = device.post_read(self.number, stag, tagged_offset, octets);
        if posted.as_ref().is_err_and(may_have_taken_effect) {
            // Its response may still be placed: the region waits for the connection's end.
            ledger.hold_region(sink.id());
            let record = ledger.connection(self.number);
            record.unsure_reads.push(sink.id());
        }
        let posted = posted?;
        ledger.hold_region(sink.id());
        let record = ledger.connection(self.number);
        record.reads.push_back((posted, Some(sink.id())));
        Ok(posted)
    }

    /// Make a read of 0 octets outstanding, which has no sink.
    ///
    /// # Errors
    /// As [`Device::post_read`](crate::Device::post_read).
    pub fn post_empty_read(&self) -> Result<Posted, DriverError> {
        let mut ledger = self.core.lock();
        let posted = ledger.device().post_read(self.number, 0, 0, 0)?;
        let record = ledger.connection(self.number);
        record.reads.push_back((posted, None));
        Ok(posted)
    }

    /// Register memory that this connection alone may reach. The region ends with it.
    ///
    /// # Errors
    /// As [`ProtectionDomain::register`](super::ProtectionDomain::register).
    pub fn register(
        &self,
        memory: Memory<B, D>,
        options: &RegionOptions,
    ) -> Result<MemoryRegion<B, D>, MemoryRefused<B, D>> {
        let domain = self.core.lock().connection(self.number).protection_domain;
        MemoryRegion::register(&self.core, domain, Some(self.number), memory, options)
    }

    /// Open a part of a region of the same domain to this connection.
    ///
    /// # Errors
    /// As [`Device::bind_window`](crate::Device::bind_window); [`DriverError::ReadOnly`],
    /// [`DriverError::OtherContext`], [`DriverError::Random`].
    pub fn bind(
        &self,
        region: &MemoryRegion<B, D>,
        options: &WindowOptions,
    ) -> Result<MemoryWindow<B, D>, DriverError> {
        MemoryWindow::bind(&self.core, self.number, region, options)
    }

    /// As [`Device::set_window`](crate::Device::set_window).
    ///
    /// # Errors
    /// As there.
    pub fn set_window(&self, window: u32) -> Result<(), DriverError> {
        self.core.lock().device().set_window(self.number, window)
    }

    /// As [`Device::tcp_state`](crate::Device::tcp_state).
    ///
    /// # Errors
    /// [`DriverError::TableTimeout`], [`DriverError::Gone`].
    pub fn tcp_state(&self) -> Result<TcpState, DriverError> {
        self.core.lock().device().tcp_state(self.number)
    }

    /// As [`Device::out_of_order_state`](crate::Device::out_of_order_state).
    ///
    /// # Errors
    /// [`DriverError::TableTimeout`], [`DriverError::Gone`].
    pub fn out_of_order_state(&self) -> Result<OutOfOrderState, DriverError> {
        self.core.lock().device().out_of_order_state(self.number)
    }

    /// As [`Device::out_of_order_ranges`](crate::Device::out_of_order_ranges).
    ///
    /// # Errors
    /// [`DriverError::TableTimeout`], [`DriverError::Gone`].
    pub fn out_of_order_ranges(&self) -> Result<Vec<OutOfOrderRange>, DriverError> {
        self.core.lock().device().out_of_order_ranges(self.number)
    }

    /// End the offload. When this returns, the device writes nothing more for the connection.
    ///
    /// # Errors
    /// The connection, which is closed in part and can only be closed again, and
    /// [`DriverError::TableTimeout`] or [`DriverError::Gone`].
    pub fn close(self) -> Result<(), Refused<Self>> {
        let core = Arc::clone(&self.core);
        let mut ledger = core.lock();
        if let Err(error) = ledger.close_connection(self.number) {
            drop(ledger);
            return Err(Refused::new(self, error));
        }
        ledger.handles.remove(&self.id);
        Ok(())
    }
}

impl<B: Bar, D: Dma> Drop for Connection<B, D> {
    fn drop(&mut self) {
        let mut ledger = self.core.lock();
        // Whoever closed it has taken its handle.
        if ledger.handles.remove(&self.id).is_some() {
            // A connection that could not be closed stays in the ledger, with all it holds.
            let _ = ledger.close_connection(self.number);
        }
    }
}

impl<B: Bar, D: Dma> fmt::Debug for Connection<B, D> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "Connection({})", self.number.0)
    }
}

impl<B: Bar, D: Dma> Ledger<B, D> {
    /// The record of an open connection.
    fn connection(&mut self, number: ConnectionId) -> &mut ConnectionRecord {
        let record = self.connections.get_mut(&number);
        record.expect("its handle is there")
    }
}
