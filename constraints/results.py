"""What is kept of the seeds of a netlist, so that none is placed again for its figures.

One file for a width and an effort, in the format JSON Lines: the key of netlist and placer first,
then a line for each seed. It is small enough to be committed, and the delays (SDF) that it is read
from are not.
"""

import dataclasses
import json

import estimate


@dataclasses.dataclass
class Late:
    """A path later than the goal: its first and its last block, and what it passes."""

    start: str
    end: str
    # Pin of the register or RAM at which it ends.
    pin: str
    rooms: str
    nanoseconds: float
    gates: int
    # Share of the time.
    wires: float


@dataclasses.dataclass
class Run:
    """One seed: its figure in MHz, its late paths, the endpoints of all, and what it uses of what
    the part has."""

    seed: int
    mhz: float
    ends: int
    used: dict[str, tuple[int, int]]
    late: list[Late]


def run_of(seed, ends, used, mhz=None):
    """A seed's run from its endpoints; without a figure that of the latest path."""
    late = [late_path(*end) for end in ends if end[0] > estimate.PERIOD]
    return Run(seed, mhz or 1e6 / ends[0][0], len(ends), used, late)


def late_path(total, hops):
    wires = sum(delay for _, delay, kind in hops if kind == "wire")
    return Late(
        estimate.block(hops[0][0]),
        estimate.block(hops[-1][0]),
        estimate.pin_of(hops[-1][0]),
        " > ".join(estimate.rooms(hops)),
        round(total / 1000, 3),
        sum(kind == "cell" for _, _, kind in hops) - 1,
        round(wires / total, 3),
    )


def load(file, netlist=None):
    """The runs of a file, by seed; none if it is not there, or of another netlist."""
    if not file.is_file():
        return {}
    key, *lines = file.read_text(encoding="utf-8").splitlines()
    if netlist not in (None, json.loads(key)["netlist"]):
        return {}
    runs = [Run(**json.loads(line)) for line in lines]
    for run in runs:
        run.late = [Late(**path) for path in run.late]
    return {run.seed: run for run in runs}


def save(file, netlist, runs):
    lines = [{"netlist": netlist}, *(dataclasses.asdict(runs[seed]) for seed in sorted(runs))]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
