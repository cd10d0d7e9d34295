#!/usr/bin/env python3
"""Where late paths begin, at each seed of each width.

In: the delays (SDF) of seeds, as `make seeds` leaves them. Out: a table on stdout, and between the
two marks of the page of --document that have the name of --table. `make limits` runs it.

    delays of a seed -> late endpoints -> root: the block where the path begins, and where it ends
            -> endpoints a root, for each seed; worst path of a root

A cut is made at a root, whatever rooms the path passes behind it; seeds.py counts by those rooms.

Exit status: 0 the table is written, 2 a file is missing or has no marks.
"""

import argparse
import pathlib
import re
import statistics

import estimate
import tools

# The first that fits a path, which is written as its first block and its last.
ROOTS = [
    ("fpdu: CRC and marker remover to packer", r"fpdu\.(crc32c|remover).*>fpdu\."),
    (
        "fpdu: splitter's window, and whether its job may end",
        r"(ooo_completion|fpdu\.splitter).*>fpdu\.splitter",
    ),
    ("placement: entries and commands", r"placement\."),
    ("TLP mux: grants", r"pcie\.mux"),
    ("transmit: ends of frames", r"transmit\.(ends|writer)"),
    ("transmit: finisher", r"transmit\.finisher"),
    ("tcp: table bus", r"tcp\.acceptance\.tables"),
    ("stream: returned spans and pages", r"stream\."),
    ("tcp: walk along ranges", r"tcp\.acceptance\.walk"),
    ("packet: free pages, to tcp's reserve", r"packet\..*>tcp\.acceptance\.reserve"),
    ("packet: memory and pool", r"packet.*>packet\."),
    ("ddp: commit of a record, verdicts", r"ddp.*>(ddp|placement)"),
    ("reset to the rooms", r"reset_sequencer"),
    ("registers and counters", r"csr"),
    ("reads: what is due", r"reads"),
    ("loopback and the frames that transmit sends", r"loopback|transmit"),
]
OTHERS = "others"
# What yosys adds to the name of a register or RAM.
CELL = re.compile(r"_TRELLIS.*|\$.*|_LUT4.*|_CCU2C.*|_PFUMX.*|_L6MUX.*")
# Pins of a register that do not carry its data: clock enable and set or reset.
GATED = ("CE", "LSR")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog="example: %(prog)s build/seeds-w64/placed-1/delays.sdf",
    )
    parser.add_argument("delays", type=pathlib.Path, nargs="+", help="delays.sdf of a seed")
    parser.add_argument("--document", type=pathlib.Path, help="also write the table to this page")
    parser.add_argument("--table", default="placed", help="its name there (default: placed)")
    options = parser.parse_args()
    table = "\n".join(lines(options.delays)) + "\n"
    print(table)
    if options.document:
        write(options.document, options.table, table)
    return 0


def lines(files):
    """The table, as Markdown: a row a root, worst first, and a column a seed; then what is true of
    all late paths of a seed."""
    seeds, rows = [], {}
    for column, file in enumerate(files):
        if not file.is_file():
            raise tools.Failed(f"{file}: no such file; `make seeds` writes it")
        ends = estimate.endpoints(file)
        late = [end for end in ends if end[0] > estimate.PERIOD]
        seeds.append((1e6 / ends[0][0], late))
        for total, hops in late:
            row = rows.setdefault(root(hops), ([0] * len(files), []))
            row[0][column] += 1
            row[1].append(total / 1000)
    titles = [title(file.parent) for file in files]
    yield f"| path | {' | '.join(titles)} | worst, ns |"
    yield "|---" * (len(files) + 2) + "|"
    by_worst = sorted(rows.items(), key=lambda row: (row[0] == OTHERS, -max(row[1][1])))
    for name, (counts, totals) in by_worst:
        yield f"| {name} | {' | '.join(map(str, counts))} | {max(totals):.2f} |"
    for name, figure in SUMMARY:
        yield f"| {name} | {' | '.join(figure(mhz, late) for mhz, late in seeds)} | |"


def gates(hops):
    return sum(kind == "cell" for _, _, kind in hops) - 1


def in_wires(total, hops):
    return sum(delay for _, delay, kind in hops if kind == "wire") / total


def median(values):
    return statistics.median(values) if values else 0


def share(values):
    return sum(values) / len(values) if values else 0


# What the last rows say of a seed: its MHz, and its late paths.
SUMMARY = [
    ("**all**", lambda mhz, late: f"{len(late):,}"),
    ("gates, median", lambda mhz, late: f"{median([gates(hops) for _, hops in late]):.0f}"),
    ("of it wires, median", lambda mhz, late: f"{median([in_wires(*end) for end in late]):.0%}"),
    (
        "end at an enable or a reset",
        lambda mhz, late: f"{share([estimate.pin_of(hops[-1][0]) in GATED for _, hops in late]):.0%}",
    ),
    ("MHz", lambda mhz, late: f"{mhz:.1f}"),
]


def title(folder):
    """Of build/seeds-w64/placed-1: w64 placed 1."""
    return f"{folder.parent.name.rpartition('-')[2]} {folder.name.replace('-', ' ')}"


def root(hops):
    """The name of the root of a path."""
    ends = f"{block(hops[0][0])}>{block(hops[-1][0])}"
    return next((name for name, form in ROOTS if re.match(form, ends)), OTHERS)


def block(pin):
    return CELL.sub("", pin.rpartition("/")[0].removeprefix("core."))


def write(page, name, table):
    text = page.read_text(encoding="utf-8")
    marks = [f"<!-- late endpoints, {name}: {mark} -->" for mark in ("begin", "end")]
    before, begin, rest = text.partition(f"{marks[0]}\n")
    _, end, after = rest.partition(f"{marks[1]}\n")
    if not (begin and end):
        raise tools.Failed(f"{page}: its table needs the lines {marks[0]} and {marks[1]}")
    page.write_text(f"{before}{begin}{table}{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    tools.script("limits", main)
