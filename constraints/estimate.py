#!/usr/bin/env python3
"""Where the time goes in a design that is placed and not routed: estimated paths by room.

In: a Verilog file of `rnic emit`. Out: a summary on stdout; netlist, logs and delays (SDF) in the
folder of --out. `make estimate WIDTH=64` runs it.

    Verilog -> yosys -> nextpnr-ecp5, placement only -> delays of cells, estimated delays of wires
            -> longest path to each register and RAM -> endpoints that are late, by room

Routing takes hours, placement minutes; nextpnr names no path before it has routed, but writes the
delays. They are those of the slowest conditions, a wire's by its distance. The estimate is below
what routing with `--tmg-ripup` reaches, so compare it with that of another design or seed, and read
it for the rooms. Harness, part, goal and placement options are those of timing.py. The netlist is
kept, so that another seed costs only a placement.

Exit status: 0 the estimate meets the goal, 1 it does not, 2 a file or a tool is missing or failed.
"""

import collections
import re

import timing
import tools

# In picoseconds, as all delays here.
PERIOD = 1e6 / timing.GOAL_MHZ
# Rows of the table, and paths that are shown hop by hop.
PAIRS_SHOWN, PATHS_SHOWN = 12, 3
INSTANCE = re.compile(r"\(INSTANCE (\S*)\)")
DELAYS = r"\([\d.]*:[\d.]*:([\d.]*)\)"
WIRE = re.compile(rf"\(INTERCONNECT (\S+) (\S+) {DELAYS} {DELAYS}\)")
CELL = re.compile(rf"\(IOPATH (\S+) (\S+) {DELAYS} {DELAYS}\)")
CHECK = re.compile(rf"\(SETUPHOLD \(\w+ (\S+)\) \(\w+ \S+\) {DELAYS} {DELAYS}\)")
# Pins at which a path begins: their own arrival is that of the clock.
CLOCKS = re.compile(r"CLK[AB]?|WCK")
# What yosys adds to the name of a register or RAM.
ADDED = re.compile(r"_TRELLIS.*|\$.*|_LUT4.*|_CCU2C.*|_PFUMX.*|_L6MUX.*")


class Delays:
    """What an SDF file says: edges between pins, and pins at which paths end."""

    def __init__(self, path):
        self.edges = collections.defaultdict(list)
        self.waits = collections.Counter()
        self.starts, self.setups = {}, {}
        cell = ""
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                line = line.replace("\\", "")
                if found := INSTANCE.search(line):
                    cell = found[1]
                elif found := WIRE.search(line):
                    self.wire(*found.groups())
                elif found := CELL.search(line):
                    self.cell(cell, *found.groups())
                elif found := CHECK.search(line):
                    setup, pin = float(found[2]), f"{cell}/{found[1]}"
                    self.setups[pin] = max(setup, self.setups.get(pin, 0.0))

    def wire(self, source, sink, rise, fall):
        # The clock network has no skew here.
        if not CLOCKS.fullmatch(pin_of(sink)):
            self.edge(source, sink, rise, fall, "wire")

    def cell(self, cell, source, sink, rise, fall):
        if CLOCKS.fullmatch(source):
            delay = max(float(rise), float(fall))
            pin = f"{cell}/{sink}"
            self.starts[pin] = max(delay, self.starts.get(pin, 0.0))
        else:
            self.edge(f"{cell}/{source}", f"{cell}/{sink}", rise, fall, "cell")

    def edge(self, source, sink, rise, fall, kind):
        self.edges[source].append((sink, max(float(rise), float(fall)), kind))
        self.waits[sink] += 1

    def arrivals(self):
        """For each pin the latest arrival, and the pin, delay and kind that it comes from."""
        latest = {pin: (delay, None, delay, "cell") for pin, delay in self.starts.items()}
        waits = self.waits.copy()
        ready = [pin for pin in {*self.edges, *self.starts} if not waits[pin]]
        while ready:
            pin = ready.pop()
            arrival = latest.get(pin, (None,))[0]
            for sink, delay, kind in self.edges.get(pin, ()):
                if arrival is not None and arrival + delay > latest.get(sink, (-1.0,))[0]:
                    latest[sink] = (arrival + delay, pin, delay, kind)
                waits[sink] -= 1
                if not waits[sink]:
                    ready.append(sink)
        return latest


def pin_of(place):
    return place.rpartition("/")[2]


def block(pin):
    """The register or RAM that a pin is of, by the name that the design has for it."""
    return ADDED.sub("", pin.rpartition("/")[0].removeprefix(f"{timing.INSTANCE}."))


def room(pin):
    return timing.room_of(pin.rpartition("/")[0])


def main():
    options = timing.arguments(__doc__, "build/estimate-w64")
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    if not options.verilog.is_file():
        raise tools.Failed(f"{options.verilog}: no such file; `make emit` writes it")
    netlist_key, seed_key = keys(options)
    if not kept(out / "netlist.key", netlist_key):
        timing.synthesise(options.verilog, options.top, out)
        (out / "netlist.key").write_text(netlist_key)
    if not kept(out / "placed.key", seed_key):
        (out / "placed.key").unlink(missing_ok=True)
        timing.nextpnr(options.seed, out, ["--no-route", "--sdf", "delays.sdf"])
        (out / "placed.key").write_text(seed_key)
    return 0 if summary(options) >= timing.GOAL_MHZ else 1


def keys(options):
    """Hashes of what the netlist depends on, and of what the placement does."""
    verilog, top = options.verilog, options.top
    netlist = timing.fingerprint(verilog, top, "any")
    return netlist, timing.fingerprint(verilog, top, options.seed)


def kept(path, key):
    return path.is_file() and path.read_text() == key


def endpoints(file):
    """Arrival with setup at each register and RAM, and the path, latest first; from an SDF file."""
    delays = Delays(file)
    latest = delays.arrivals()
    ends = [
        (latest[pin][0] + setup, pin) for pin, setup in delays.setups.items() if pin in latest
    ]
    if not ends:
        raise tools.Failed(f"{file}: no path ends in a register or RAM")
    return [(total, path(latest, pin)) for total, pin in sorted(ends, reverse=True)]


def summary(options):
    """Prints the estimate, the rooms of late paths, and the worst paths; returns MHz."""
    ends = endpoints(options.out / "delays.sdf")
    mhz = 1e6 / ends[0][0]
    late = [end for end in ends if end[0] > PERIOD]
    print(f"\n{options.verilog.name} on {timing.PART}, seed {options.seed}, placed, not routed")
    print(f"  estimate {mhz:.1f} MHz = {mhz / timing.GOAL_MHZ:.3f} x goal")
    print(f"  {len(late)} of {len(ends)} endpoints are later than {timing.GOAL_MHZ} MHz")
    paths = late or ends[:1]
    pairs = collections.defaultdict(list)
    for total, hops in paths:
        pairs[" > ".join(rooms(hops))].append(total)
    print(f"\n  {'rooms of the path':<44}{'endpoints':>10}{'worst':>10}")
    by_worst = sorted(pairs.items(), key=lambda pair: -max(pair[1]))
    for name, totals in by_worst[:PAIRS_SHOWN]:
        print(f"  {name:<44}{len(totals):10}{max(totals) / 1000:7.2f} ns")
    shown = set()
    for total, hops in paths:
        name = " > ".join(rooms(hops))
        if name not in shown and len(shown) < PATHS_SHOWN:
            shown.add(name)
            print_path(name, total, hops)
    return mhz


def path(latest, pin):
    """The hops of the latest path to a pin, first one first: (pin, delay, kind)."""
    hops = []
    while pin is not None:
        _, before, delay, kind = latest[pin]
        hops.append((pin, delay, kind))
        pin = before
    return hops[::-1]


def rooms(hops):
    """The rooms that a path passes, each once for each stay."""
    names = []
    for pin, _, _ in hops:
        if not names or names[-1] != room(pin):
            names.append(room(pin))
    return names


def print_path(name, total, hops):
    wires = sum(delay for _, delay, kind in hops if kind == "wire")
    levels = sum(kind == "cell" for _, _, kind in hops) - 1
    print(f"\n  {name}: {total / 1000:.2f} ns, {levels} levels, {wires / 1000:.2f} ns in wires")
    for pin, delay, kind in hops:
        print(f"  {delay / 1000:6.2f} ns  {kind}  {pin}")


if __name__ == "__main__":
    tools.script("estimate", main)
