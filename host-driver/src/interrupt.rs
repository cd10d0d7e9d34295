//! What can interrupt the host.

use crate::completion_queue::CompletionQueue;
use crate::error::DriverError;
use rnic_abi::interrupts::{
    QUEUE_ROUTES_HIGH, QUEUE_ROUTES_LOW, RING_ROUTES, ROUTE_EVENTS, ROUTE_HOST, ROUTE_TRANSMIT,
};
use rnic_abi::limits::COMPLETION_QUEUES;

/// Bits of a route, and routes in a register.
const ROUTE_BITS: u32 = 4;
const ROUTES: u32 = 32 / ROUTE_BITS;

/// What interrupts when there is something new to poll.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum InterruptSource {
    /// An entry of a completion queue: [`poll_completion`](crate::Device::poll_completion).
    Completion(CompletionQueue),
    /// A frame for the host: [`poll_host_frame`](crate::Device::poll_host_frame).
    HostFrame,
    /// An event: [`poll_event`](crate::Device::poll_event).
    Event,
    /// The result of a frame: [`poll_transmitted`](crate::Device::poll_transmitted).
    Transmitted,
}

impl InterruptSource {
    /// The register of its route, and the route's lowest bit.
    ///
    /// # Errors
    /// [`DriverError::Unknown`]: there is no such queue.
    pub(crate) fn place(self) -> Result<(u32, u32), DriverError> {
        let ring = |place: u32| (RING_ROUTES, ROUTE_BITS * place);
        Ok(match self {
            Self::Completion(queue) if usize::from(queue.0) >= COMPLETION_QUEUES => {
                return Err(queue.unknown())
            }
            Self::Completion(queue) => {
                let number = u32::from(queue.0);
                let register = match number < ROUTES {
                    true => QUEUE_ROUTES_LOW,
                    false => QUEUE_ROUTES_HIGH,
                };
                (register, ROUTE_BITS * (number % ROUTES))
            }
            Self::HostFrame => ring(ROUTE_HOST),
            Self::Event => ring(ROUTE_EVENTS),
            Self::Transmitted => ring(ROUTE_TRANSMIT),
        })
    }
}
