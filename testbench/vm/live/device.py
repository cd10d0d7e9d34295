"""A served device behind a hub of its own, whose capture is replayed.

    guest -- hub of the guest -- hub of the device -- rnic serve -- programs, one after another
                                  |  faults, --delay
                                  +--> pcapng --> rnic play --dut model
"""

import json
import subprocess
import time

from processes import Failed, Process


class Device:
    """While it is entered, programs can open `socket`, and `capture` is written."""

    def __init__(self, programs, folder, bench, capture, *, dut="model", clients=None,
                 faults=None, delay_us=0, dropped=None):
        # `faults`: the hub's options, with the share of frames that each concerns.
        faults = [word for fault, share in (faults or {}).items() for word in (f"--{fault}", share)]
        self.socket, self.counts = folder / "device", folder / "counts"
        self.wire, self.folder = folder / "wire", folder
        self.hub_command = [
            programs / "rnic", "hub", "--port", f"unix-connect:{bench}",
            "--port", f"unix:{self.wire}", "--pcap", capture,
            *faults, "--delay", delay_us, "--json", self.counts,
            *(["--dropped", dropped] if dropped else []),
        ]
        self.serve_command = [
            programs / "rnic", "serve", "--vfio-user", self.socket, "--dut", dut,
            "--link", f"unix-connect:{self.wire}",
            *(["--clients", clients] if clients else []),
        ]

    def __enter__(self):
        self.hub = Process("rnic hub", self.hub_command, self.folder / "hub")
        try:
            self.hub.until(self.wire.exists, 10)
            self.serve = Process("rnic serve", self.serve_command, self.folder / "serve")
        except BaseException:
            self.hub.stop()
            raise
        try:
            self.serve.until(self.socket.exists, 60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.serve.stop()
        # The last acknowledgements are on their way.
        time.sleep(0.1)
        self.hub.stop()

    def lost(self):
        """Frames that the hub has lost, once it has ended."""
        return sum(port["lost"] for port in json.loads(self.counts.read_text())["ports"])


def replay(programs, capture, bad_crcs=0, seconds=60):
    """The capture through the model: how many FPDUs it has; none may be unlike."""
    command = [programs / "rnic", "play", "--dut", "model", "--json", "-", capture]
    played = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    if played.returncode != 0:
        raise Failed(f"the replay: {last(played.stderr)}")
    report = json.loads(played.stdout)
    fpdus = sum(flow["fpdus"] for flow in report["flows"])
    errors = sum(flow["crc_errors"] for flow in report["flows"])
    if not fpdus:
        raise Failed("the replay has found no FPDU")
    if report["mismatches"] or errors != bad_crcs:
        raise Failed(f"the replay: {report['mismatches']} mismatches, {errors} CRC errors")
    return fpdus


def last(text):
    """The last line, for a message."""
    return (text.strip().splitlines() or ["it printed nothing"])[-1][:200]
