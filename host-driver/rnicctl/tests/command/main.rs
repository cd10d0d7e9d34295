//! `rnicctl` as a process, on the simulated device that this process serves.
//!
//! ```text
//!  this process                                  rnicctl
//!    Simulation -- Faulty -- vfio-user socket <---- self-test, info, ...
//!    Device -- Monitor ------- monitor socket <---- counters, regions, ...
//! ```
//!
//! [`Faulty`] stands between the device and its client, and answers one register wrongly if a test
//! asks for it: a check that cannot fail would not notice.

mod output;

use rnic_abi::counters::Counter;
use rnic_abi::{registers, tables};
use rnic_driver::monitor::Monitor;
use rnic_driver::{bus, Config, Dma, RegionConfig};
use rnic_sim::{ServedDevice, Simulation, SimulationConfig};
use rnic_vfio_user::protocol::IRQ_COUNT;
use rnic_vfio_user::{Errno, Function, Irqs, RegionDescription, Server};
use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use tempfile::TempDir;

/// Cycles simulated between two looks at the socket.
const TURN_CYCLES: usize = 200;

/// A device of which one register reads as if some of its bits were inverted.
struct Faulty {
    device: ServedDevice,
    /// Offset of the register, and the bits.
    fault: Option<(u32, u32)>,
}

impl Function for Faulty {
    fn regions(&self) -> &[RegionDescription] {
        self.device.regions()
    }

    fn irq_counts(&self) -> [u32; IRQ_COUNT as usize] {
        self.device.irq_counts()
    }

    fn read(&mut self, region: u32, offset: u64, out: &mut [u8]) -> Result<(), Errno> {
        self.device.read(region, offset, out)?;
        if let Some((register, bits)) = self.fault {
            if region == 0 && offset == u64::from(register) {
                for (octet, bits) in out.iter_mut().zip(bits.to_le_bytes()) {
                    *octet ^= bits;
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), Errno> {
        self.device.write(region, offset, data)
    }

    fn reset(&mut self) -> Result<(), Errno> {
        self.device.reset()
    }

    fn irqs_changed(&mut self, irqs: &Irqs) {
        self.device.irqs_changed(irqs);
    }

    fn quiesce(&mut self, range: RangeInclusive<u64>) {
        self.device.quiesce(range);
    }
}

/// A server of a device in a thread; it ends with this.
struct Served {
    folder: TempDir,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn start(fault: Option<(u32, u32)>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let server = Server::bind(&folder.path().join("rnic.sock")).expect("it binds");
        let ends = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ends);
        let thread = std::thread::spawn(move || serve(&server, fault, &end));
        Self {
            folder,
            ends,
            thread: Some(thread),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn address(&self) -> String {
        format!("vfio-user:{}", self.path("rnic.sock").display())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            ended.expect("it was started").expect("it does not panic");
        }
    }
}

fn serve(server: &Server, fault: Option<(u32, u32)>, ends: &AtomicBool) {
    let simulation = Simulation::new(&SimulationConfig {
        max_payload_octets: 512,
        ..SimulationConfig::default()
    });
    let simulation = Rc::new(RefCell::new(simulation.expect("it is built")));
    let device = ServedDevice::new(&simulation);
    let mut faulty = Faulty { device, fault };
    while !ends.load(Ordering::Relaxed) {
        let Some(mut session) = server.accept().expect("a socket") else {
            std::thread::yield_now();
            continue;
        };
        faulty.device.begin(&session);
        while !ends.load(Ordering::Relaxed) && session.serve_one(&mut faulty).is_ok() {
            match faulty.device.is_quiet() {
                true => std::thread::yield_now(),
                false => faulty.device.run(TURN_CYCLES),
            }
        }
        faulty.device.end();
    }
}

fn rnicctl(arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_rnicctl"))
        .args(arguments)
        .env("XDG_RUNTIME_DIR", "/nonexistent")
        .output();
    command.expect("cargo has built it")
}

/// Exit status, standard output and standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = rnicctl(arguments);
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_device_that_works_passes_and_is_shown_and_reset() {
    let served = Served::start(None);
    let address = served.address();
    let (status, stdout, stderr) = run(&["self-test", &address]);
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    assert!(stdout.ends_with("8 checks, 0 failed\n"), "{stdout}");
    let (status, stdout, stderr) = run(&["info", &address]);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(
        stdout.contains("frame path    64 bits\nconnections   0 of 1024\n"),
        "{stdout}"
    );
    let (status, stdout, _) = run(&["regions", &address]);
    assert_eq!(status, Some(0));
    assert!(stdout.contains("ask the application"), "{stdout}");
    let (status, stdout, _) = run(&["reset", &address]);
    assert_eq!(status, Some(0));
    let function = "function: reset through the bus\n";
    assert!(stdout.ends_with(function), "{stdout}");
}

#[test]
fn a_device_that_is_broken_fails_the_check_that_is_about_it() {
    let counter = |counter: Counter| registers::COUNTERS + 4 * counter.index() as u32;
    for (fault, line) in [
        (
            (registers::PACKET_PAGES, 1),
            "failed: registers: PACKET_PAGES is 0x201 after a reset, not 0x200",
        ),
        // 0 reads as 1, and 1 as 0: the counter seems to go back.
        (
            (counter(Counter::RefuseDdpStag), 1),
            "failed: refusal: refuse_ddp_stag has moved by 4294967295, not by 1",
        ),
    ] {
        let served = Served::start(Some(fault));
        let (status, stdout, stderr) = run(&["self-test", &served.address()]);
        assert_eq!(status, Some(1), "{stdout}{stderr}");
        assert!(stdout.lines().any(|found| found == line), "{stdout}");
        assert!(stdout.ends_with("8 checks, 1 failed\n"), "{stdout}");
    }
    let served = Served::start(Some((registers::IDENTITY, 1)));
    let (status, stdout, _) = run(&["self-test", &served.address()]);
    assert_eq!(status, Some(1), "{stdout}");
    assert!(stdout.contains("\nfailed: open: "), "{stdout}");
}

/// Serves the monitor of `device` while `look` runs.
fn while_served<T: Send>(
    device: &mut bus::AnyDevice,
    path: &Path,
    look: impl FnOnce(&str) -> T + Send,
) -> T {
    let mut monitor = Monitor::bind(path).expect("it binds");
    let address = format!("monitor:{}", path.display());
    std::thread::scope(|scope| {
        let looks = scope.spawn(move || look(&address));
        while !looks.is_finished() {
            monitor.serve(device).expect("it serves");
            std::thread::yield_now();
        }
        looks.join().expect("it does not panic")
    })
}

#[test]
fn an_application_answers_for_the_device_that_it_has_open() {
    let served = Served::start(None);
    let mut device = bus::open(&served.address(), Config::default()).expect("it opens");
    let memory = device.dma().allocate("region", 4096, 64).expect("room");
    let stag = device.draw_stag().expect("random octets");
    let region = RegionConfig {
        stag,
        rights: tables::RIGHT_REMOTE_WRITE,
        protection_domain: 7,
        connection: None,
        tagged_offset: 0,
        octets: 4096,
        address: memory.address,
    };
    device.register_region(&region).expect("it has room");
    let metrics = served.path("ferrowarp.prom");
    let out = metrics.to_str().expect("a path").to_owned();
    let socket = served.path("monitor.sock");
    while_served(&mut device, &socket, |address| {
        let (status, stdout, stderr) = run(&["regions", address]);
        assert_eq!(status, Some(0), "{stderr}");
        let line = format!("{stag:#010x}  4096    remote_write  7       any         yes\n");
        assert!(stdout.ends_with(&line), "{stdout}");
        let (status, stdout, _) = run(&["connections", address, "--json"]);
        assert_eq!((status, stdout.as_str()), (Some(0), "[]\n"));
        let (status, stdout, _) = run(&["counters", address, "--json"]);
        assert_eq!(status, Some(0));
        assert!(stdout.contains("\"frames\":0"), "{stdout}");
        let (status, _, stderr) = run(&["counters", address, "--openmetrics", "--out", &out]);
        assert_eq!(status, Some(0), "{stderr}");
        let (status, _, stderr) = run(&["reset", address]);
        assert_eq!(status, Some(2));
        assert!(stderr.contains("a monitor only looks"), "{stderr}");
    });
    let text = std::fs::read_to_string(&metrics).expect("it was written");
    assert!(text.contains("ferrowarp_regions_registered{device=\"monitor:"));
    assert!(text.ends_with("# EOF\n"));
    device.close().expect("it answers");
}

/// A line an interval in a pipe; the application's end is the end, and no failure.
#[test]
fn a_watch_ends_with_the_application() {
    let served = Served::start(None);
    let mut device = bus::open(&served.address(), Config::default()).expect("it opens");
    let socket = served.path("monitor.sock");
    let watch = while_served(&mut device, &socket, |address| {
        let mut watch = Command::new(env!("CARGO_BIN_EXE_rnicctl"))
            .args(["counters", address, "--watch", "0.02"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cargo has built it");
        let stdout = watch.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(stdout).lines();
        for _ in 0..2 {
            let line = lines.next().expect("it goes on").expect("it is piped");
            // Nothing counts in a device whose wire is silent.
            assert!(line.ends_with(" s"), "{line}");
        }
        (watch, lines)
    });
    let rest = watch.1.map(|line| line.expect("it is piped"));
    assert!(rest.last().is_none_or(|line| line.ends_with(" s")));
    let output = watch.0.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.starts_with("rnicctl: the watch ends: "), "{errors}");
    device.close().expect("it answers");
}

#[test]
fn what_cannot_be_used_is_one_line_that_says_what_to_do() {
    for (arguments, words) in [
        (&["info", "monitor:/nonexistent/x"][..], "`rnicctl list`"),
        (&["info", "vfio-user:/nonexistent/x"], "start the server"),
        (&["self-test", "pci:1"], "write vfio:0000:01:00.0"),
        (
            &["counters", "monitor:/x", "--openmetrics", "--watch", "1"],
            "needs --out FILE",
        ),
    ] {
        let (status, stdout, stderr) = run(arguments);
        assert_eq!((status, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(
            stderr.starts_with("rnicctl: ") && stderr.contains(words),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    let (status, stdout, stderr) = run(&["list"]);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stdout.contains("no monitor of an application"), "{stdout}");
}
