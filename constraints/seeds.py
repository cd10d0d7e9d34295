#!/usr/bin/env python3
"""Fmax at several placement seeds, and which rooms limit it.

In: a Verilog file of `rnic emit`, and the seeds. Out: a table on stdout and as the page of
--document, and the seeds' figures in a file beside it (results.py); netlist, logs and delays (SDF)
of each seed in the folder of --out, where the best seed is named in `best`. `make seeds WIDTH=64`
runs it.

    Verilog -> yosys -> nextpnr-ecp5, once for each seed, two at a time -> Fmax, delays
            -> table of seeds; rooms of late paths at each seed

A netlist that meets the goal at one seed of five depends on luck; one that meets it at three does
not. Rooms that are late at every seed are limits of the design, rooms that are late at one are
limits of that placement. Two efforts are smaller than the whole, and their figures lower: with
--once, late arcs are not ripped up and routed again, which takes an unknown number of rounds; with
--estimate nothing is routed: minutes a seed in place of an hour (estimate.py). Harness, part and
options are those of timing.py, but for the placer: the electrostatic one (--placer static) weighs
timing less and leaves a quarter less wire, which is what it takes to route W = 128
(docs/adr/0037-seeds-of-w-128-have-another-placer.md). A seed whose figures for the same netlist and
placer are kept is not run again, and the tables are of all that are kept.

Exit status: 0 as many seeds as wanted meet the goal, 1 they do not, 2 a file or a tool is missing or
failed.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import threading

import estimate
import results
import timing
import tools

# Seeds of five that must meet the goal.
WANTED = 3
# Rows of the table of rooms.
ROOMS_SHOWN = 16
# nextpnr's placers that know about timing, and what a page says of each.
PLACERS = {"heap": "default placer", "static": "electrostatic placer"}
# How far a seed is taken, which names the folder of its results: the options of nextpnr, and what the
# page says of it.
EFFORTS = {
    "placed": (["--no-route"], "placed, estimated"),
    "once": (["--report", "report.json"], "routed once, late arcs not rerouted"),
    "routed": (timing.ROUTE_OPTIONS, "routed"),
}


def main():
    options = arguments()
    if not options.verilog.is_file():
        raise tools.Failed(f"{options.verilog}: no such file; `make emit` writes it")
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    netlist = timing.fingerprint(options.verilog, options.top, "any")
    key = netlist if options.placer == "heap" else f"{netlist} {options.placer}"
    file = options.document.with_suffix(".jsonl")
    runs = results.load(file, key)
    missing = [seed for seed in options.seeds if seed not in runs]
    if missing and not estimate.kept(out / "netlist.key", netlist):
        (out / "netlist.key").unlink(missing_ok=True)
        timing.synthesise(options.verilog, options.top, out)
        (out / "netlist.key").write_text(netlist)
    one_at_a_time = threading.Lock()

    def run(seed):
        folder = place(seed, key, options)
        with one_at_a_time:
            runs[seed] = read(seed, folder, options)
            results.save(file, key, runs)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run, missing))
    runs = [runs[seed] for seed in sorted(runs)]
    best = max(runs, key=lambda run: run.mhz)
    (out / "best").write_text(f"{best.seed}\n")
    lines = page(runs, options)
    print("\n" + "\n".join(lines))
    options.document.write_text("\n".join(lines) + "\n", encoding="utf-8")
    met = sum(run.mhz >= timing.GOAL_MHZ for run in runs)
    return 0 if met >= WANTED else 1


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog="example: %(prog)s --seeds 1 2 3 --out build/seeds-w64 --document build/w64.md "
        "build/emit-w64/rnic.v",
    )
    parser.add_argument("verilog", type=pathlib.Path, help="the Verilog, one file")
    parser.add_argument("--top", default="rnic", help="top module (default: rnic)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for all results")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: 2)")
    parser.add_argument("--placer", choices=PLACERS, default="heap", help="default: heap")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--estimate",
        action="store_const",
        const="placed",
        dest="effort",
        help="place only, and estimate",
    )
    effort.add_argument(
        "--once", action="store_const", const="once", dest="effort", help="do not reroute late arcs"
    )
    parser.set_defaults(effort="routed")
    parser.add_argument(
        "--document",
        type=pathlib.Path,
        required=True,
        help="page for the tables; the figures are kept beside it",
    )
    return parser.parse_args()


def place(seed, key, options):
    """Runs nextpnr for one seed, unless it was; returns the folder of its results."""
    folder = options.out / f"{options.effort}-{options.placer}-{seed}"
    folder.mkdir(exist_ok=True)
    if estimate.kept(folder / "key", key):
        return folder
    (folder / "key").unlink(missing_ok=True)
    (folder / "netlist.json").unlink(missing_ok=True)
    (folder / "netlist.json").hardlink_to(options.out / "netlist.json")
    more, _ = EFFORTS[options.effort]
    timing.nextpnr(seed, folder, [*more, "--placer", options.placer, "--sdf", "delays.sdf"])
    (folder / "key").write_text(key)
    return folder


def read(seed, folder, options):
    """What a seed's delays say; a routed design's Fmax is the one that nextpnr reports."""
    ends = estimate.endpoints(folder / "delays.sdf")
    mhz = None
    if options.effort != "placed":
        report = json.loads((folder / "report.json").read_text())
        mhz = min(figures["achieved"] for figures in report["fmax"].values())
    return results.run_of(seed, ends, timing.utilisation(folder / "nextpnr.log"), mhz)


def page(runs, options):
    """The tables, as Markdown."""
    goal, (_, kind) = timing.GOAL_MHZ, EFFORTS[options.effort]
    met = sum(run.mhz >= goal for run in runs)
    lines = [f"# Placement seeds of {options.verilog.parent.name}", ""]
    how = f"{timing.PART}, {PLACERS[options.placer]}, {kind}"
    lines += [f"{met} of {len(runs)} seeds meet {goal} MHz ({how}).", ""]
    lines += [f"| seed | MHz | of {goal} | late endpoints | worst rooms |", "|---|---|---|---|---|"]
    for run in runs:
        worst = max(run.late, key=lambda path: path.nanoseconds, default=None)
        lines += [
            f"| {run.seed} | {run.mhz:.1f} | {run.mhz / goal:.3f} | {len(run.late)} of {run.ends} "
            f"| {worst.rooms if worst else '-'} |"
        ]
    lines += ["", "| | used | of | |", "|---|---|---|---|"]
    for name, (used, total) in runs[0].used.items():
        lines += [f"| {name.strip()} | {used} | {total} | {100 * used / total:.0f} % |"]
    rows = collections.defaultdict(list)
    for run in runs:
        for name in {path.rooms for path in run.late}:
            times = [path.nanoseconds for path in run.late if path.rooms == name]
            rows[name].append((len(times), max(times)))
    if not rows:
        return [*lines, "", f"No path is later than {1000 / goal:.1f} ns."]
    lines += ["", f"Paths later than {1000 / goal:.1f} ns, by the rooms they pass:", ""]
    lines += ["| rooms | seeds | endpoints at most | worst |", "|---|---|---|---|"]
    by_worst = sorted(rows.items(), key=lambda row: (-len(row[1]), -max(w for _, w in row[1])))
    for name, figures in by_worst[:ROOMS_SHOWN]:
        count, worst = max(c for c, _ in figures), max(w for _, w in figures)
        lines += [f"| {name} | {len(figures)} | {count} | {worst:.2f} ns |"]
    if len(by_worst) > ROOMS_SHOWN:
        lines += ["", f"{len(by_worst) - ROOMS_SHOWN} more rows are not shown."]
    return lines


if __name__ == "__main__":
    tools.script("seeds", main)
