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
TRIES = 2
# One case: its tries, each with the time of an answer.
CASE_SECONDS = 150
# What a guest takes to run a command, if it still does.
CHECK_SECONDS = 30
# Octets of a server's buffer: the longest ping of a case has 4,000.
OCTETS = 4096
# Those of the case before end first: a server that is about to end rejects who comes.
FRESH = "kill $(cat /loop); killall -9 rping; echo $$ >/loop"
SERVER = f"{FRESH}\nwhile :; do rping -s -S {OCTETS} -C 1000; usleep 200000; done"
CLIENT = f"{FRESH}\nwhile :; do timeout -s KILL 5 rping -c -a {OWN} -C 1 -S 64; usleep 100000; done"
# The loops last for as long as the guest.
LOOP_SECONDS = 7200
# What a case has found if the target was not what it was at first.
BEFORE, REJECTED = "before the case's own steps", "rejected"
CRASHED = "fault of the kernel"
HEAD = ["case", "verdict", "what came", "tries", "clause"]


class Siw:
    """The guest as a target: a server for each case, or one loop of clients for all."""

    def __init__(self, bench):
        self.bench, self.role, self.guest = bench, None, None

    def ready(self, role):
        """What a case of this role needs runs in the guest."""
        guest = self.bench.booted()
        if guest is not self.guest:
            guest.parameters({})
            # Its address is used from when its interface has a carrier on.
            guest.run(f"until ping -c 1 -W 1 {ADDRESS[4]}; do usleep 100000; done")
        if role == "client":
            server = guest.start(SERVER, LOOP_SECONDS)
            guest.run("while [ ! -e /loop ]; do usleep 20000; done")
            guest.wait_listening(PORT, server)
        elif (guest, role) != (self.guest, self.role):
            guest.start(CLIENT, LOOP_SECONDS)
        self.guest, self.role = guest, role

    def played(self, rnic, name, role, captures, note):
        """A case's report, and what the kernel says of a fault."""
        try:
            self.ready(role)
        except Failed as failed:
            note(f"{name}: {failed}; another guest")
            self.bench.drop()
            self.ready(role)
        case = play(rnic, self.bench.wires[1], role, name, captures)
        return case, self.fault()

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
    for kept in captures.glob(f"{name}.*"):
        kept.unlink()
    target = ["--clients"] if role == "server" else ["--target", ADDRESS[4]]
    command = [rnic, "peer", "--link", f"unix-connect:{wire}", "--own", f"{OWN}/24",
               "--allow", "192.0.2.0/24", *target, "--case", name, "--may-crash",
               "--tries", TRIES, "--delay", DELAY_US, "--arrival", 5,
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
        begun = time.monotonic()
        case, fault = siw.played(rnic, name, role, captures, note)
        if not fault and (case["found"].startswith(BEFORE) or case["found"].startswith(REJECTED)):
            # Earlier cases have left something behind; a guest that is new has none of it.
            note(f"{name}: {case['found']}; another guest")
            bench.drop()
            case, fault = siw.played(rnic, name, role, captures, note)
        verdict = CRASHED if fault else case["verdict"]
        remark = case["remark"] if case["remark"] not in (None, case["found"]) else ""
        found = "; ".join(part for part in (case["found"], remark, fault) if part)
        counts[verdict] += 1
        note(f"{name}: {verdict}: {found} ({time.monotonic() - begun:.1f} s)")
        lines.append([name, verdict, found, str(case["tries"]), case["clause"]])
    report = [dict(zip(HEAD, line)) for line in lines[1:]]
    pathlib.Path(captures / "verdicts.json").write_text(json.dumps(report, indent=1) + "\n")
    return lines, counts
