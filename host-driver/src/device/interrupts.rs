//! What can interrupt the host; which vector interrupts for what, and how often.

use super::Device;
use crate::device::access::{Bar, Dma, Registers};
use crate::device::error::DriverError;
use crate::device::ids::QueueId;
use rnic_abi::interrupts::{
    HOLD_OFF, HOLD_OFF_MAX, QUEUE_ROUTES_HIGH, QUEUE_ROUTES_LOW, RING_ROUTES, ROUTE_EVENTS,
    ROUTE_HOST, ROUTE_ON, ROUTE_TRANSMIT, VECTORS,
};
use rnic_abi::limits::COMPLETION_QUEUES;

/// Bits of a route, and routes in a register.
const ROUTE_BITS: u32 = 4;
const ROUTES: u32 = 32 / ROUTE_BITS;

/// What interrupts when there is something new to poll.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum InterruptSource {
    /// An entry of a completion queue: [`poll_completion`](crate::Device::poll_completion).
    Completion(QueueId),
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
    fn place(self) -> Result<(u32, u32), DriverError> {
        let ring = |place: u32| (RING_ROUTES, ROUTE_BITS * place);
        Ok(match self {
            Self::Completion(queue) if usize::from(queue.0) >= COMPLETION_QUEUES => {
                return Err(DriverError::unknown_queue(queue))
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

impl<B: Bar, D: Dma> Device<B, D> {
    /// Have `source` raise the MSI-X vector `vector`, or none. It raises it for what comes from now
    /// on: poll once after this call. The table of vectors and their masks are the operating
    /// system's.
    ///
    /// # Errors
    /// [`DriverError::Configuration`]: there is no such vector. [`DriverError::Unknown`]: there is
    /// no such queue. [`DriverError::Gone`].
    pub fn route_interrupt(
        &mut self,
        source: InterruptSource,
        vector: Option<u8>,
    ) -> Result<(), DriverError> {
        let route = match vector {
            None => 0,
            Some(vector) => ROUTE_ON | check_vector(vector)?,
        };
        let (register, shift) = source.place()?;
        let routes = self.bar.read(register)? & !(0xf << shift);
        self.bar.write(register, routes | route << shift)
    }

    /// Let `vector` interrupt once in `microseconds` at most: what comes meanwhile interrupts at
    /// the end. 0 for at once.
    ///
    /// # Errors
    /// [`DriverError::Configuration`]: there is no such vector, or the time is too long.
    /// [`DriverError::Gone`].
    pub fn set_hold_off(&mut self, vector: u8, microseconds: u32) -> Result<(), DriverError> {
        let vector = check_vector(vector)?;
        if microseconds > HOLD_OFF_MAX {
            return Err(DriverError::Configuration {
                what: "the hold-off of a vector in microseconds",
                value: u64::from(microseconds),
                allowed: "0..=1023",
            });
        }
        self.bar.write(HOLD_OFF + 4 * vector, microseconds)
    }
}

fn check_vector(vector: u8) -> Result<u32, DriverError> {
    match usize::from(vector) < VECTORS {
        true => Ok(u32::from(vector)),
        false => Err(DriverError::Configuration {
            what: "the number of a vector",
            value: u64::from(vector),
            allowed: "0..=7",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::InterruptSource;
    use crate::device::config::Config;
    use crate::device::error::DriverError;
    use crate::device::ids::QueueId;
    use crate::testing::{NoMemory, Tables};
    use crate::Device;
    use rnic_abi::interrupts::{HOLD_OFF, QUEUE_ROUTES_HIGH, QUEUE_ROUTES_LOW, RING_ROUTES};

    fn device() -> Device<Tables, NoMemory> {
        Device::open(Tables::default(), NoMemory, Config::default()).expect("opens")
    }

    fn register(device: &mut Device<Tables, NoMemory>, offset: u32) -> u32 {
        device.bar.double().registers[&offset]
    }

    #[test]
    fn each_source_has_its_route() {
        let mut device = device();
        let queue = |number| InterruptSource::Completion(QueueId(number));
        for (source, vector) in [
            (queue(0), Some(7)),
            (queue(7), Some(1)),
            (queue(8), Some(2)),
            (queue(15), Some(0)),
            (queue(0), Some(3)),
            (InterruptSource::HostFrame, Some(4)),
            (InterruptSource::Event, Some(5)),
            (InterruptSource::Transmitted, Some(6)),
            (InterruptSource::Event, None),
        ] {
            assert_eq!(device.route_interrupt(source, vector), Ok(()));
        }
        assert_eq!(register(&mut device, QUEUE_ROUTES_LOW), 0x9000_000b);
        assert_eq!(register(&mut device, QUEUE_ROUTES_HIGH), 0x8000_000a);
        assert_eq!(register(&mut device, RING_ROUTES), 0xe0c);
        assert_eq!(device.set_hold_off(6, 1_023), Ok(()));
        assert_eq!(register(&mut device, HOLD_OFF + 24), 1_023);
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        let mut device = device();
        let beyond = InterruptSource::Completion(QueueId(16));
        let refused = device.route_interrupt(beyond, Some(0));
        assert!(matches!(refused, Err(DriverError::Unknown { id: 16, .. })));
        for refused in [
            device.route_interrupt(InterruptSource::Event, Some(8)),
            device.set_hold_off(8, 0),
            device.set_hold_off(0, 1_024),
        ] {
            let refused = refused.expect_err("out of range");
            assert!(
                matches!(refused, DriverError::Configuration { .. }),
                "{refused}"
            );
        }
        assert!(!device.bar.double().registers.contains_key(&RING_ROUTES));
    }
}
