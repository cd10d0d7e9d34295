//! `sim:` addresses of the driver: a served device on a thread of this process.
//!
//! ```text
//!  bus::open("sim:KIND,LINK") --- socket without a name ---> Service, on a thread of its own
//! ```
//!
//! | address          | the device                                    |
//! |------------------|-----------------------------------------------|
//! | `sim:rtl,LINK`   | the verilated core, W = 64, of its full size  |
//! | `sim:model,LINK` | the device in software, which says the same   |
//!
//! LINK is what `rnic serve --link` takes: `none`, `pcap:FILE`, `unix:PATH`,
//! `unix-connect:PATH` or `tap:NAME`.

use crate::link::{Link, LinkKind};
use crate::model::DeviceModel;
use crate::service::{Service, PAYLOAD_OCTETS_MAX};
use rnic_abi::sizes::Sizes;
use rnic_driver::bus;
use rnic_output::stdout::complain;
use rnic_sim::{DeviceCore, Simulation, SimulationConfig};
use rnic_vfio_user::Session;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::str::FromStr;
use std::sync::mpsc::{self, Sender};
use std::thread;

/// Frame path of a device in this process, in bits.
const WIDTH: usize = 64;

/// Have [`bus::open`] open `sim:rtl,LINK` and `sim:model,LINK`. The first `sim:rtl` of all builds
/// the verilated core, which takes a minute, and needs the tools of `make tools`.
///
/// ```
/// use rnic_driver::{bus, Config};
///
/// rnic_device::provide_simulator();
/// let device = bus::open("sim:model,none", Config::default())?;
/// assert_eq!(device.sizes().connections(), 1024);
/// device.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn provide_simulator() {
    bus::provide_simulator(start);
}

/// Which device.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Kind {
    Rtl,
    Model,
}

/// What follows `sim:`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Simulated {
    kind: Kind,
    link: LinkKind,
}

impl FromStr for Simulated {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, link) = match text.split_once(',') {
            Some(("rtl", link)) => (Kind::Rtl, link),
            Some(("model", link)) => (Kind::Model, link),
            _ => {
                return Err(format!(
                    "`sim:{text}` names no device; write sim:rtl,LINK for the verilated core or \
                     sim:model,LINK for the device in software, with a LINK of none, pcap:FILE, \
                     unix:PATH, unix-connect:PATH or tap:NAME"
                ))
            }
        };
        let link = link.parse();
        let link = link.map_err(|reason| format!("`sim:{text}` names no link; {reason}"))?;
        Ok(Self { kind, link })
    }
}

/// Serve a device to one client, whose end of the socket is returned when the device answers.
fn start(text: &str) -> Result<OwnedFd, String> {
    let simulated: Simulated = text.parse()?;
    let failed = |error: io::Error| error.to_string();
    let (client, server) = UnixStream::pair().map_err(failed)?;
    let (ready, is_ready) = mpsc::channel();
    let thread = thread::Builder::new().name("sim:".to_owned());
    // A simulation cannot change its thread.
    let serve = move || serve(&simulated, server.into(), &ready);
    thread.spawn(serve).map_err(failed)?;
    match is_ready.recv() {
        Ok(started) => started.map(|()| client.into()),
        Err(_) => Err("its thread has panicked, see above".to_owned()),
    }
}

/// Make the device, say whether there is one, and serve it.
fn serve(simulated: &Simulated, socket: OwnedFd, ready: &Sender<Result<(), String>>) {
    let link = match simulated.link.open() {
        Ok(link) => link,
        // Nobody hears that the caller is gone.
        Err(error) => return drop(ready.send(Err(error.to_string()))),
    };
    match simulated.kind {
        Kind::Model => turn(DeviceModel::new(WIDTH, Sizes::LARGEST), socket, link, ready),
        Kind::Rtl => {
            let simulation = Simulation::new(&SimulationConfig {
                width: WIDTH,
                max_payload_octets: PAYLOAD_OCTETS_MAX,
                ..SimulationConfig::default()
            });
            match simulation {
                Ok(simulation) => turn(simulation, socket, link, ready),
                Err(error) => drop(ready.send(Err(error.to_string()))),
            }
        }
    }
}

/// Serve `core` until its client goes.
fn turn(
    core: impl DeviceCore,
    socket: OwnedFd,
    link: Box<dyn Link>,
    ready: &Sender<Result<(), String>>,
) {
    let mut service = Service::of_session(Session::over(socket), core, link);
    if ready.send(Ok(())).is_ok() {
        if let Err(error) = service.run(Some(1)) {
            // The client finds its device gone, and here is why.
            complain(&format!("simulated device: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_driver::Config;

    #[test]
    fn an_address_names_a_device_and_its_link() {
        for (text, kind, link) in [
            ("rtl,none", Kind::Rtl, LinkKind::None),
            ("model,none", Kind::Model, LinkKind::None),
            (
                "model,pcap:a,b.pcap",
                Kind::Model,
                LinkKind::Pcap("a,b.pcap".into()),
            ),
            (
                "rtl,unix:/run/x",
                Kind::Rtl,
                LinkKind::Unix("/run/x".into()),
            ),
            (
                "model,tap:rnic0",
                Kind::Model,
                LinkKind::Tap("rnic0".to_owned()),
            ),
        ] {
            assert_eq!(text.parse(), Ok(Simulated { kind, link }), "{text}");
        }
    }

    #[test]
    fn other_addresses_are_refused_with_what_to_write() {
        provide_simulator();
        let kinds =
            "sim:rtl,LINK for the verilated core or sim:model,LINK for the device in software";
        let links = "none, pcap:FILE, unix:PATH, unix-connect:PATH or tap:NAME";
        for (address, named) in [
            ("sim:", kinds),
            ("sim:rtl", kinds),
            ("sim:model", kinds),
            ("sim:none", kinds),
            ("sim:pcap:a.pcap", kinds),
            ("sim:RTL,none", kinds),
            ("sim:netlist,none", kinds),
            ("sim:,none", kinds),
            ("sim:rtl,", links),
            ("sim:model,x", links),
            ("sim:model,pcap:", links),
            ("sim:model,none,none", links),
            ("sim:model,pcap:nowhere.pcap", "nowhere.pcap"),
        ] {
            let refused = bus::open(address, Config::default()).expect_err(address);
            let text = refused.to_string();
            let begin = "failed to start the simulated device: ";
            assert!(text.starts_with(begin) && text.contains(named), "{text}");
        }
    }
}
