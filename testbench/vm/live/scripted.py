"""`rnic peer` against siw in the guest: a verdict for each of its cases.

    rnic peer --case NAME -- hub -- guest: rping -s, again and again; or rping -c, again and again
        |        --delay
        +--> build/live/peer/NAME.pcapng, NAME.json

Each case is a run of its own, with a capture of its own. A case after which the guest's kernel has
met a fault, or does not answer, is a finding; the guest is booted anew for the next one.
"""

import collections
import json
import pathlib
import re
import time

import packages
from machine import ADDRESS
from processes import Failed, Process

OWN = "192.0.2.9"
PORT = 7174
# siw does not notice what comes between its Reply and its taking over of the socket (docs/live.md).
DELAY_US = 4000
TRIES = 3
# One case: three tries, each with the time of an answer.
CASE_SECONDS = 150
# What a guest takes to run a command, if it still does.
CHECK_SECONDS = 30
# Octets of a server's buffer: the longest ping of a case has 4,000.
OCTETS = 4096
# One that serves many is not between two lives when the next case comes; some cases end it, too.
SERVER = f"while :; do rping -s -P -S {OCTETS} -C 1000; usleep 20000; done"
CLIENT = f"while :; do timeout -s KILL 5 rping -c -a {OWN} -C 1 -S 64; usleep 100000; done"
# The loops last for as long as the guest.
LOOP_SECONDS = 7200
CRASHED = "the kernel crashed"
HEAD = ["case", "verdict", "what came", "tries", "clause"]


class Siw:
    """The guest as a target: one loop of rping at a time."""

    def __init__(self, bench):
        self.bench, self.role, self.guest = bench, None, None

    def ready(self, role):
        """The guest, with the loop that a case of this role needs."""
        guest = self.bench.booted()
        if (guest, role) != (self.guest, self.role):
            if guest is self.guest:
                self.bench.drop()
                guest = self.bench.booted()
            guest.parameters({})
            guest.start(CLIENT if role == "server" else SERVER, LOOP_SECONDS)
            self.guest, self.role = guest, role
        return guest

    def fault(self):
        """What the kernel says of a fault, or that it does not answer; the guest is dropped then."""
        try:
            self.guest.check()
            return ""
        except Failed as failed:
            self.bench.drop()
            return str(failed)


def cases(rnic, folder, words):
    """Names and roles, in the order of playing: clients' and servers' cases each together."""
    listed = Process("rnic peer --list", [rnic, "peer", "--list"], folder / "list")
    if listed.wait(20) != 0:
        raise Failed(f"rnic peer --list: {listed.said()}")
    found = re.findall(r"^(\S+) \[\S+, (client|server)", listed.text(), re.MULTILINE)
    chosen = [case for case in found if not words or any(word in case[0] for word in words)]
    if not chosen:
        raise packages.Missing(f"no case has {' or '.join(words)} in its name")
    return sorted(chosen, key=lambda case: case[1])


def play(rnic, wire, role, name, captures):
    """One case: its report."""
    report = captures / f"{name}.json"
    target = ["--clients"] if role == "server" else ["--target", ADDRESS[4]]
    command = [rnic, "peer", "--link", f"unix-connect:{wire}", "--own", f"{OWN}/24",
               "--allow", "192.0.2.0/24", *target, "--case", name, "--may-crash",
               "--tries", TRIES, "--delay", DELAY_US, "--arrival", 15,
               "--json", report, "--pcap", captures / f"{name}.pcapng"]
    with Process(f"rnic peer --case {name}", command, captures / f"{name}.log") as peer:
        status = peer.wait(CASE_SECONDS)
        if status not in (0, 1):
            raise Failed(f"rnic peer --case {name}: status {status}: {peer.said()}")
    return json.loads(report.read_text())["cases"][0]


def run(rnic, bench, folder, captures, words, note):
    """All cases: lines of a table, and how many had which verdict."""
    captures.mkdir(parents=True)
    siw, lines, counts = Siw(bench), [HEAD], collections.Counter()
    for name, role in cases(rnic, folder, words):
        siw.ready(role)
        begun = time.monotonic()
        case = play(rnic, bench.wires[1], role, name, captures)
        fault = siw.fault()
        verdict = CRASHED if fault else case["verdict"]
        remark = case["remark"] if case["remark"] not in (None, case["found"]) else ""
        found = "; ".join(part for part in (case["found"], remark, fault) if part)
        counts[verdict] += 1
        note(f"{name}: {verdict}: {found} ({time.monotonic() - begun:.1f} s)")
        lines.append([name, verdict, found, str(case["tries"]), case["clause"]])
    report = [dict(zip(HEAD, line)) for line in lines[1:]]
    pathlib.Path(captures / "verdicts.json").write_text(json.dumps(report, indent=1) + "\n")
    return lines, counts
