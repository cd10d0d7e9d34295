//! `sim:` addresses of the driver: a served device on a thread of this process.
//!
//! ```text
//!   bus::open("sim:LINK") --- socket without a name ---> Service, on a thread that ends with it
//! ```
//!
//! LINK is as in `rnic serve --link`; without it nobody is at the other end of the wire.

use super::link::LinkKind;
use super::Service;
use rnic_driver::bus;
use rnic_sim::{Simulation, SimulationConfig};
use rnic_vfio_user::Session;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;

/// Have [`bus::open`] open `sim:LINK`: the verilated device, W = 64, of its full size. The first
/// one of all builds it, which takes a minute, and needs the tools of `make tools`.
///
/// ```no_run
/// rnic_testbench::serve::provide_simulator();
/// let mut device = rnic_driver::bus::open("sim:", rnic_driver::Config::default())?;
/// println!("{} connections", device.sizes().connections());
/// device.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn provide_simulator() {
    bus::provide_simulator(start);
}

/// Serve a device to one client, whose end of the socket is returned when the device answers.
fn start(link: &str) -> Result<OwnedFd, String> {
    let link: LinkKind = match link {
        "" => LinkKind::None,
        link => link.parse()?,
    };
    let failed = |error: std::io::Error| error.to_string();
    let (client, server) = UnixStream::pair().map_err(failed)?;
    let (ready, is_ready) = mpsc::channel();
    let serve = move || {
        // A simulation cannot change its thread.
        let opened = open(&link, server.into());
        let mut service = match opened {
            Ok(service) => service,
            Err(reason) => return drop(ready.send(Err(reason))),
        };
        if ready.send(Ok(())).is_ok() {
            if let Err(error) = service.run(Some(1)) {
                // The client finds its device gone, and here is why.
                eprintln!("simulated device: {error}");
            }
        }
    };
    let thread = thread::Builder::new().name("sim:".to_owned());
    thread.spawn(serve).map_err(failed)?;
    match is_ready.recv() {
        Ok(started) => started.map(|()| client.into()),
        Err(_) => Err("its thread has panicked, see above".to_owned()),
    }
}

fn open(link: &LinkKind, socket: OwnedFd) -> Result<Service, String> {
    let link = link.open().map_err(|error| error.to_string())?;
    let simulation = Simulation::new(&SimulationConfig {
        max_payload_octets: super::PAYLOAD_OCTETS_MAX,
        ..SimulationConfig::default()
    });
    let simulation = simulation.map_err(|error| error.to_string())?;
    Ok(Service::of_session(Session::over(socket), simulation, link))
}
