//! From an address to a queue pair, in both roles.
//!
//! ```text
//!  client: connect --> Stream --> QueuePair, receives posted --> start --> Work
//!             ^                                                    |
//!             `---- on a new connection, in a lower revision <-----+ the peer has closed
//!  server: accept --> Stream --> request --> QueuePair, receives posted --> accept --> Work
//! ```

use crate::failure::Failure;
use crate::options::Options;
use crate::record::record;
use crate::work::Work;
use rnic_driver::verbs::endpoint::{
    Endpoint, EndpointError, EndpointSettings, Listener, PairOptions, QueuePair,
};
use rnic_driver::verbs::{Context, MemoryRegion, ProtectionDomain, RegionOptions, Rights};
use rnic_iwarp::startup;
use rnic_output::stdout::complain;
use rnic_tcp::settings::SECOND_US;
use rnic_tcp::TimeOut;
use std::net::SocketAddr;
use std::time::Duration;

/// A device with one interface. Connections end before the endpoint, and that before the device.
#[derive(Debug)]
pub struct End {
    /// Connects and listens.
    pub endpoint: Endpoint,
    /// Of all regions and queue pairs.
    pub domain: ProtectionDomain,
    /// The device.
    pub context: Context,
    patience: Duration,
}

/// A probe each `seconds`; without an answer the last one is due when `timeout` is over.
fn keepalive(seconds: u64, timeout: u64) -> [(TimeOut, u64); 3] {
    let count = (timeout / seconds).clamp(1, *TimeOut::KeepaliveCount.range().end());
    [
        (TimeOut::KeepaliveIdle, seconds * SECOND_US),
        (TimeOut::KeepaliveInterval, seconds * SECOND_US),
        (TimeOut::KeepaliveCount, count),
    ]
}

/// What a connection is to be.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// How it starts.
    pub startup: startup::Settings,
    /// How much it takes.
    pub pair: PairOptions,
    /// Receives that are posted before the peer may send, and their octets.
    pub receives: (u32, usize),
    /// What the peer's application gets with the Request or the Reply.
    pub private_data: Vec<u8>,
}

impl End {
    /// Open the device and begin.
    ///
    /// # Errors
    /// The device cannot be opened, or the interface cannot be so.
    pub fn open(options: &Options) -> Result<Self, Failure> {
        let context = Context::open(&options.device, Endpoint::device_config())?;
        let mut settings = EndpointSettings::new(options.interface.settings());
        let pcap = options.interface.pcap.as_deref();
        settings.tap = pcap.map(record).transpose()?;
        let patience_us = options.patience().as_micros() as u64;
        settings.monitor = options.interface.monitor.clone();
        let mut time_outs = vec![
            (TimeOut::Syn, patience_us),
            (TimeOut::RetransmissionTime, patience_us),
        ];
        if let Some(seconds) = options.interface.keepalive {
            time_outs.extend(keepalive(seconds, options.timeout));
        }
        for (which, value) in time_outs {
            let set = settings.tcp.time_outs.set(which, value);
            set.map_err(EndpointError::from)?;
        }
        Ok(Self {
            endpoint: Endpoint::start(&context, &settings)?,
            domain: context.protection_domain()?,
            context,
            patience: options.patience(),
        })
    }

    /// A region of `octets` octets, zeroed, whose Tagged Offsets begin at 0.
    ///
    /// # Errors
    /// The device has no room for it.
    pub fn region(&self, octets: usize, rights: Rights) -> Result<MemoryRegion, Failure> {
        let memory = self.context.allocate(octets)?;
        let options = RegionOptions {
            rights,
            ..RegionOptions::default()
        };
        let region = self.domain.register(memory, &options);
        Ok(region.map_err(|refused| refused.error)?)
    }

    /// Open a connection; returns the peer's Private Data, too. Whoever closes at the Request may
    /// know a lower revision only, which takes a new connection.
    ///
    /// # Errors
    /// The peer cannot be reached, or does not agree.
    pub fn connect(&self, peer: SocketAddr, wanted: &Wanted) -> Result<(Work, Vec<u8>), Failure> {
        let mut startup = wanted.startup;
        loop {
            let stream = self.endpoint.connect(peer)?;
            let pair = stream.queue_pair(&self.domain, &startup, &wanted.pair)?;
            self.post_receives(&pair, wanted)?;
            match pair.start(&wanted.private_data) {
                Ok(answer) => return Ok((Work::new(pair, self.patience), answer)),
                Err(EndpointError::StartupFailed {
                    fallback: Some(lower),
                    ..
                }) => {
                    let tried = startup.revision;
                    complain(&format!(
                        "{peer} has closed at a Request of revision {tried}; trying {lower}"
                    ));
                    startup = startup.in_revision(lower);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Accept the next connection. `judge` reads the client's Private Data and says what the
    /// connection is to be, or why it is rejected. A client that fails before it is accepted is
    /// said on standard error, and the next one is waited for.
    ///
    /// # Errors
    /// The endpoint or the device, but no client.
    pub fn accept(
        &self,
        listener: &Listener,
        startup: &startup::Settings,
        mut judge: impl FnMut(&[u8]) -> Result<Wanted, String>,
    ) -> Result<Work, Failure> {
        loop {
            let stream = listener.accept(None)?;
            let peer = stream.peer_addr();
            let request = match stream.request(startup, b"") {
                Ok(request) => request,
                Err(error) => {
                    complain(&format!("{error}; waiting for another client"));
                    continue;
                }
            };
            let wanted = match judge(request.private_data()) {
                Ok(wanted) => wanted,
                Err(reason) => {
                    complain(&format!("{peer} is rejected: {reason}"));
                    request.reject(reason.as_bytes())?.finish()?;
                    continue;
                }
            };
            let pair = request.queue_pair(&self.domain, &wanted.pair)?;
            self.post_receives(&pair, &wanted)?;
            match pair.accept(&wanted.private_data) {
                Ok(()) => return Ok(Work::new(pair, self.patience)),
                Err(error) => complain(&format!("{error}; waiting for another client")),
            }
        }
    }

    fn post_receives(&self, pair: &QueuePair, wanted: &Wanted) -> Result<(), Failure> {
        let (count, octets) = wanted.receives;
        for id in 0..count {
            pair.post_receive(id.into(), self.context.allocate(octets)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keepalive_ends_with_the_time_out_within_what_can_be_set() {
        for (seconds, timeout, count) in [(1, 30, 30), (7, 30, 4), (60, 30, 1), (1, 3600, 100)] {
            let values = keepalive(seconds, timeout);
            assert_eq!(values.map(|(_, value)| value)[2], count);
            for (which, value) in values {
                assert!(which.range().contains(&value), "{which:?}: {value}");
            }
        }
    }
}
