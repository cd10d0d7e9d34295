//! A client in a process of its own: a test of this program, run again with an address.

use crate::server::Server;
use std::env;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Where such a test finds its server.
const ADDRESS: &str = "FERROWARP_TEST_ADDRESS";

/// The address of the server, in a process of its own; the test has nothing to do elsewhere.
pub fn address() -> Option<String> {
    env::var(ADDRESS).ok()
}

/// The process, and the lines that it prints.
pub struct Client {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Client {
    /// Runs the test `name` of this program as a client of `server`, until it prints `ready`.
    pub fn start(name: &str, server: &Server) -> Self {
        let mut child = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", name, "--nocapture"])
            .env(ADDRESS, server.address())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program");
        let stdout = child.stdout.take().expect("it is piped");
        let lines = BufReader::new(stdout).lines();
        let mut client = Self { child, lines };
        client.await_line("ready");
        client
    }

    /// Waits until it prints `expected`.
    pub fn await_line(&mut self, expected: &str) {
        let mut lines = self.lines.by_ref().map(|line| line.expect("it is piped"));
        let is_there = lines.any(|line| line == expected);
        assert!(is_there, "the client has ended before `{expected}`");
    }

    /// SIGKILL.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Waits until it ends with success.
    pub fn await_end(mut self) {
        // What it still prints is read, so that it can end.
        self.lines.by_ref().for_each(drop);
        assert!(self.child.wait().expect("it ends").success());
    }
}
