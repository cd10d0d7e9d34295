//! Every descriptor that comes is closed in the end.

use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command as Process;

use rnic_vfio_user::protocol::{Command, SetIrqs, IRQ_MSIX};
use rnic_vfio_user::{Access, Client, Errno, SessionEnd};
use rustix::fs::OFlags;
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};

use crate::common::*;

/// Set in the process that runs this test alone, since descriptors are counted process-wide.
const ALONE: &str = "FERROWARP_ALONE";
const NAME: &str = "leaks::no_descriptor_or_mapping_is_left";

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd")
        .expect("a directory")
        .count()
}

/// Descriptors that a program started from here would inherit.
fn inheritable() -> usize {
    let entries = std::fs::read_dir("/proc/self/fdinfo").expect("a directory");
    let texts = entries
        .flatten()
        .map(|entry| std::fs::read_to_string(entry.path()));
    let closed = |text: &String| {
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.map(|octal| u32::from_str_radix(octal.trim(), 8).expect("octal"));
        OFlags::from_bits_retain(flags.expect("each has a line")).contains(OFlags::CLOEXEC)
    };
    texts.flatten().filter(|text| !closed(text)).count()
}

fn mappings() -> usize {
    let lines = std::fs::read_to_string("/proc/self/maps").expect("text");
    lines.matches("memfd:memory").count()
}

#[test]
fn no_descriptor_or_mapping_is_left() {
    if std::env::var_os(ALONE).is_none() {
        let program = std::env::current_exe().expect("a path");
        let arguments = ["--exact", NAME, "--test-threads=1"];
        let output = Process::new(program)
            .args(arguments)
            .env(ALONE, "1")
            .output();
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
        return;
    }
    let before = (descriptors(), mappings());
    scarce();
    for round in 0..20 {
        orderly();
        malicious(round);
        assert_eq!((descriptors(), mappings()), before, "round {round}");
    }
}

/// A client that maps and assigns, more than once, and leaves without taking it back.
fn orderly() {
    let (mut client, server) = start();
    let files: Vec<_> = (0..10).map(|_| memory(PAGE)).collect();
    let event = event();
    for (index, file) in files.iter().enumerate() {
        let iova = index as u64 * PAGE;
        client
            .map(iova, PAGE, file.as_fd(), 0, Access::READ_WRITE)
            .expect("mapped");
        let refused = client.map(iova, PAGE, file.as_fd(), 0, Access::READ_WRITE);
        assert!(refused.is_err());
    }
    let held = mappings();
    assert_eq!(held, 10);
    client.unmap(0, 5 * PAGE).expect("unmapped");
    assert_eq!(mappings(), 5);
    let all = [Some(event.as_fd()); VECTORS as usize];
    let (before, inherited) = (descriptors(), inheritable());
    for _ in 0..3 {
        client.set_irqs(IRQ_MSIX, 0, &all).expect("set");
        assert_eq!(descriptors(), before + all.len());
    }
    assert_eq!(inheritable(), inherited);
    assert!(client.set_irqs(IRQ_MSIX, 1, &all).is_err());
    assert_eq!(descriptors(), before + all.len());
    drop::<Client>(client);
    assert_eq!(server.join().expect("no panic"), SessionEnd::Closed);
}

/// A process without room for more descriptors refuses the message and goes on.
fn scarce() {
    let mut raw = Raw::new();
    let event = event();
    let irqs = SetIrqs {
        argsz: 20,
        flags: 0x24,
        index: IRQ_MSIX,
        start: 0,
        count: VECTORS,
    };
    let assign = message(1, Command::DeviceSetIrqs, &irqs.encode());
    let fds = [event.as_fd(); VECTORS as usize];
    let usual = getrlimit(Resource::Nofile);
    let few = Rlimit {
        current: Some(3 + descriptors() as u64),
        ..usual
    };
    setrlimit(Resource::Nofile, few).expect("lowered");
    let refused = raw.errno(&assign, &fds);
    setrlimit(Resource::Nofile, usual).expect("raised");
    assert_eq!(refused, Errno::MFILE.raw_os_error().unsigned_abs());
    assert_eq!(raw.session.irqs().assigned_count(IRQ_MSIX), 0);
    assert_eq!(raw.errno(&assign, &fds), 0);
}

/// Descriptors with what takes none, too many of them, and within a message that never ends.
fn malicious(round: usize) {
    let mut raw = Raw::new();
    let file = memory(PAGE);
    let many: Vec<BorrowedFd> = vec![file.as_fd(); 1 + round * 12];
    let mut reset = message(1, Command::DeviceReset, &[]);
    assert_ne!(raw.errno(&reset, &many), 0);
    // A reply, of which nothing is taken.
    reset[8] = 1;
    assert_eq!(
        raw.exchange(&reset, &many).map(|replies| replies.len()),
        Ok(0)
    );
    send(&raw.socket, &reset[..3], &many);
    raw.settle().expect("a session");
    drop(raw.socket);
    assert_eq!(
        raw.session.serve_one(&mut raw.toy),
        Err(SessionEnd::ClosedWithinMessage)
    );
}
