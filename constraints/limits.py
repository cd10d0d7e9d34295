#!/usr/bin/env python3
"""Where late paths begin, at each seed of each width.

In: the figures of seeds, as `make seeds` keeps them (results.py). Out: a table on stdout, and
between the two marks of the page of --document. `make limits` runs it.

    late paths of a seed -> root: the block where the path begins, and where it ends
            -> endpoints a root, for each seed; worst path of a root

A cut is made at a root, whatever rooms the path passes after it; seeds.py counts by those rooms.

Exit status: 0 the table is written, 2 a file is missing or has no marks.
"""

import argparse
import pathlib
import re
import statistics

import results
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
    ("transmit: heads of frames", r"transmit\.heads"),
    ("transmit: ends of frames", r"transmit\.(ends|writer)"),
    ("transmit: finisher", r"transmit\.finisher"),
    ("tcp: table bus", r"tcp\.acceptance\.tables"),
    ("stream: returned spans and pages", r"stream\."),
    ("tcp: walk along ranges", r"tcp\.acceptance\.walk"),
    ("tcp: segment at hand", r"tcp\.acceptance"),
    ("packet: free pages, to tcp's reserve", r"packet\..*>tcp\.acceptance\.reserve"),
    ("packet: memory and pool", r"packet.*>packet\."),
    ("ddp: commit of a record, verdicts", r"ddp.*>(ddp|placement)"),
    ("reset: state of its sequence", r"reset_sequencer"),
    ("registers and counters", r"csr"),
    ("reads: what is due", r"reads"),
    ("loopback and the frames that transmit sends", r"loopback|transmit"),
]
OTHERS = "others"
# Pins of a register that do not carry its data: clock enable and set or reset.
GATED = ("CE", "LSR")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog="example: %(prog)s docs/timing/w64-once.jsonl docs/timing/w128-once.jsonl",
    )
    parser.add_argument("results", type=pathlib.Path, nargs="+", help="figures of a width's seeds")
    parser.add_argument("--document", type=pathlib.Path, help="also write the table to this page")
    options = parser.parse_args()
    table = "\n".join(lines(options.results)) + "\n"
    print(table)
    if options.document:
        write(options.document, table)
    return 0


def lines(files):
    """The table, as Markdown: a row a root, worst first, and a column a seed; then what is true of
    all late paths of a seed."""
    seeds = [(title(file, run), run) for file in files for run in runs(file)]
    rows = {}
    for column, (_, run) in enumerate(seeds):
        for path in run.late:
            row = rows.setdefault(root(path), ([0] * len(seeds), []))
            row[0][column] += 1
            row[1].append(path.nanoseconds)
    yield f"| path | {' | '.join(name for name, _ in seeds)} | worst, ns |"
    yield "|---" * (len(seeds) + 2) + "|"
    by_worst = sorted(rows.items(), key=lambda row: (row[0] == OTHERS, -max(row[1][1])))
    for name, (counts, totals) in by_worst:
        yield f"| {name} | {' | '.join(map(str, counts))} | {max(totals):.2f} |"
    for name, figure in SUMMARY:
        yield f"| {name} | {' | '.join(figure(run) for _, run in seeds)} | |"


def runs(file):
    found = results.load(file)
    if not found:
        raise tools.Failed(f"{file}: no figures of a seed; `make seeds` writes them")
    return [found[seed] for seed in sorted(found)]


def median(values):
    return statistics.median(values) if values else 0


def share(values):
    return sum(values) / len(values) if values else 0


# What the last rows say of a seed: its late paths, and its MHz.
SUMMARY = [
    ("**all**", lambda run: f"{len(run.late):,}"),
    ("gates, median", lambda run: f"{median([path.gates for path in run.late]):.0f}"),
    ("of it wires, median", lambda run: f"{median([path.wires for path in run.late]):.0%}"),
    (
        "end at an enable or a reset",
        lambda run: f"{share([path.pin in GATED for path in run.late]):.0%}",
    ),
    ("MHz", lambda run: f"{run.mhz:.1f}"),
]


def title(file, run):
    """Of seed 1 of w64-once.jsonl: w64 once 1."""
    return f"{file.stem.replace('-', ' ')} {run.seed}"


def root(path):
    """The name of the root of a path."""
    ends = f"{path.start}>{path.end}"
    return next((name for name, form in ROOTS if re.match(form, ends)), OTHERS)


def write(page, table):
    text = page.read_text(encoding="utf-8")
    marks = [f"<!-- late endpoints: {mark} -->" for mark in ("begin", "end")]
    before, begin, rest = text.partition(f"{marks[0]}\n")
    _, end, after = rest.partition(f"{marks[1]}\n")
    if not (begin and end):
        raise tools.Failed(f"{page}: its table needs the lines {marks[0]} and {marks[1]}")
    page.write_text(f"{before}{begin}{table}{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    tools.script("limits", main)
