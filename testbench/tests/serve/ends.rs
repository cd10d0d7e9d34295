//! How a server ends: with its sockets, whatever its client does.

use super::server::{in_time, with_each, Dut, Server};
use rnic_driver::{bus, Config};

/// Ctrl-C and SIGTERM are how a server ends: status 0, and both of its sockets are gone.
#[test]
fn a_signal_ends_a_server_with_its_sockets() {
    with_each(|dut| {
        for signal in ["INT", "TERM"] {
            let mut server = Server::start(dut);
            assert_eq!(server.files(), ["errors", "link", "rnic.sock"]);
            let status = server.end_by(signal);
            assert_eq!(status.code(), Some(0), "{signal}: {}", server.errors());
            assert_eq!(server.files(), ["errors"], "{signal}");
        }
    });
}

/// A client that has the device open is no reason to stay.
#[test]
fn a_signal_ends_a_server_that_has_a_client() {
    in_time(|| {
        let mut server = Server::start(Dut::Model);
        let device = bus::open(&server.address(), Config::default()).expect("it opens");
        let _peer = server.peer();
        assert_eq!(server.end_by("TERM").code(), Some(0), "{}", server.errors());
        assert_eq!(server.files(), ["errors"]);
        drop(device);
    });
}

/// SIGKILL leaves the sockets; the next server takes their places.
#[test]
fn a_socket_that_is_left_is_taken() {
    in_time(|| {
        let mut server = Server::start(Dut::Model);
        server.kill();
        assert_eq!(server.files(), ["errors", "link", "rnic.sock"]);
        let mut next = server.start_again();
        let device = bus::open(&next.address(), Config::default()).expect("it opens");
        device.close().expect("it answers");
        assert_eq!(next.end_by("INT").code(), Some(0));
        assert_eq!(next.files(), ["errors"]);
    });
}
