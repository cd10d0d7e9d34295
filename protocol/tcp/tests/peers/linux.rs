//! Linux' TCP as the peer, over a tap in a network namespace of its own. It needs root,
//! `/dev/net/tun`, `ip` and `unshare`, and is SKIPPED, with the reason, without them.
//!
//! ```text
//!  rnic-tcp -- loss -- tap -- Linux: sends back what it gets
//!  192.0.2.1                  192.0.2.2
//! ```
use crate::endpoint::Endpoint;
use crate::packet::Ends;
use rnic_tcp::{Settings, TimeOut};
use smoltcp::phy::{Device, Medium, RxToken, TunTapInterface, TxToken};
use smoltcp::wire::{EthernetAddress, EthernetFrame, EthernetProtocol, Ipv4Address};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::thread::{sleep, spawn, JoinHandle};
use std::time::{Duration, Instant};

const OWN: Ipv4Address = Ipv4Address::new(192, 0, 2, 1);
const LINUX: Ipv4Address = Ipv4Address::new(192, 0, 2, 2);
const OWN_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 1]);
const LINUX_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 2]);
/// Every transfer passes the wrap of sequence numbers.
const ISS: u32 = u32::MAX - 20_000;
const TAP: &str = "rnic-tcp";
const HEADER_OCTETS: usize = 14;

/// Why the test cannot run here.
fn obstacle() -> Option<String> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !is_root {
        return Some("not root".into());
    }
    if std::fs::metadata("/dev/net/tun").is_err() {
        return Some("no /dev/net/tun".into());
    }
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if let Some(missing) = ["ip", "unshare"].into_iter().find(|program| !has(program)) {
        return Some(format!("no program {missing}"));
    }
    let alone = Command::new("unshare").args(["--net", "true"]).status();
    if !alone.is_ok_and(|status| status.success()) {
        return Some("no network namespace can be made".into());
    }
    None
}

/// TCP-002, TCP-007, TCP-033, TCP-041: Linux in both roles, with and without loss.
#[test]
fn linux_gets_every_octet_and_sends_it_back() {
    if let Some(obstacle) = obstacle() {
        return rnic_effort::not_possible("Linux' TCP over a tap", &obstacle);
    }
    if rnic_effort::is_alone(&["unshare", "--net"]) {
        exchange();
    }
}

fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "ip {arguments}"
    );
}

/// In that namespace.
fn exchange() {
    ip(&format!("tuntap add dev {TAP} mode tap"));
    ip(&format!("link set dev {TAP} address 02:00:00:00:00:02 up"));
    ip(&format!("addr add {LINUX}/24 dev {TAP}"));
    ip(&format!(
        "neigh add {OWN} lladdr 02:00:00:00:00:01 dev {TAP}"
    ));
    let mut tap = TunTapInterface::new(TAP, Medium::Ethernet).expect("it was just made");
    let mut port = 5_000;
    for loss in [0, 1_000, 10_000, 50_000] {
        for linux_connects in [false, true] {
            port += 1;
            println!("{}", run(&mut tap, linux_connects, loss, port));
        }
    }
}

/// Send back what comes until the other end closes.
fn echo(mut stream: TcpStream) {
    let mut octets = [0; 16_384];
    loop {
        let count = stream
            .read(&mut octets)
            .expect("the other end closes first");
        if count == 0 {
            break;
        }
        stream
            .write_all(&octets[..count])
            .expect("the other end reads");
    }
    stream.shutdown(Shutdown::Write).expect("it was open");
}

fn linux(connects: bool, port: u16) -> JoinHandle<()> {
    if connects {
        return spawn(move || {
            let stream = TcpStream::connect((std::net::Ipv4Addr::from(OWN.octets()), port));
            echo(stream.expect("the other end listens"));
        });
    }
    let address = std::net::Ipv4Addr::from(LINUX.octets());
    let listener = TcpListener::bind((address, port)).expect("the port is free");
    spawn(move || echo(listener.accept().expect("the other end connects").0))
}

fn send(tap: &mut TunTapInterface, packet: &[u8]) {
    let Some(token) = tap.transmit(smoltcp::time::Instant::ZERO) else {
        return;
    };
    token.consume(HEADER_OCTETS + packet.len(), |octets| {
        let mut frame = EthernetFrame::new_unchecked(octets);
        frame.set_src_addr(OWN_MAC);
        frame.set_dst_addr(LINUX_MAC);
        frame.set_ethertype(EthernetProtocol::Ipv4);
        frame.payload_mut().copy_from_slice(packet);
    });
}

fn receive(tap: &mut TunTapInterface) -> Option<Vec<u8>> {
    let (token, _) = tap.receive(smoltcp::time::Instant::ZERO)?;
    Some(token.consume(|octets| octets.get(HEADER_OCTETS..).unwrap_or_default().to_vec()))
}

fn run(tap: &mut TunTapInterface, linux_connects: bool, loss: u32, port: u16) -> String {
    let mut settings = Settings {
        receive_octets: 1 << 20,
        window_shift: 5,
        ..Settings::default()
    };
    settings
        .time_outs
        .set(TimeOut::TimeWait, 0)
        .expect("in range");
    let (own_port, linux_port) = if linux_connects {
        (port, 0)
    } else {
        (40_000, port)
    };
    let ends = Ends {
        own: (OWN, own_port),
        peer: (LINUX, linux_port),
    };
    let records = if loss > 10_000 { 300 } else { 3_000 };
    let mut endpoint = Endpoint::new(ends, settings, ISS, records, (loss, port.into()));
    let peer = linux(linux_connects, port);
    let begin = Instant::now();
    let now_us = || begin.elapsed().as_micros() as u64;
    if !linux_connects {
        endpoint.connect(now_us());
    }
    while !endpoint.is_over() {
        let mut is_idle = true;
        while let Some(packet) = receive(tap) {
            endpoint.arrive(&packet, now_us());
            for packet in endpoint.pump(now_us()) {
                send(tap, &packet);
            }
            is_idle = false;
        }
        for packet in endpoint.pump(now_us()) {
            send(tap, &packet);
            is_idle = false;
        }
        if is_idle {
            sleep(Duration::from_micros(100));
        }
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "no end: {:?}",
            endpoint.statistics()
        );
    }
    let who = if linux_connects {
        "Linux connects"
    } else {
        "Linux listens"
    };
    let what = format!("{who}, loss {loss} in a million");
    endpoint.verify(&what);
    peer.join().expect("Linux' end closes too");
    endpoint.report(&what, now_us())
}
