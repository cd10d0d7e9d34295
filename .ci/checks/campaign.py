"""Long checks in parts of at most an hour on two processors: `make campaign PART=name`.

In: the name of a part, of a kind (`fuzz`: all parts that begin so), or `all`. Out: each part's output
in a file of its own and a line here, and a record of it, kept by commit: a part that has passed is
not run again at the same commit. Without a name: the parts, and which have passed.

A tree with changes has no name to keep a record by: its parts are run and not recorded.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys

from pool import Job, Pool
from programs import ROOT, TARGET

RECORDS = TARGET / "campaign"
RUNS = 500
RNIC = TARGET / "release" / "rnic"
# Which mutants a part has; the last one has all that the table may get.
MUTANTS = ("1..90", "91..180", "181..9999")
# Random traffic, hostile peers, frames that are sent, the text as it is synthesised.
KINDS = {"": [], "hostile-": ["--hostile"], "transmit-": ["--transmit"], "silicon-": ["--silicon"]}
WIDTHS = (64, 128, 512)


def parts():
    """Every part: its name and its command."""
    found = {}
    for number, some in enumerate(MUTANTS, 1):
        report = f"build/mutants-{number}.json"
        out = f"build/mutants-{number}"
        found[f"mutants-{number}"] = [RNIC, "mutants", "--only", some, "--out", out, "--json", report]
    found["proofs"] = ["make", "--no-print-directory", "formal"]
    found["resets"] = [
        "env", "FERROWARP_RESETS=1000",
        "cargo", "test", "--release", "--package", "rnic-testbench", "--test", "device", "reset::",
    ]
    for kind, options in KINDS.items():
        for width in WIDTHS:
            out = f"build/fuzz-{kind}{width}"
            runs = ["--runs", str(RUNS), "--width", str(width)]
            folder = [] if kind == "transmit-" else ["--out", out]
            found[f"fuzz-{kind}{width}"] = [RNIC, "fuzz", *options, *runs, *folder]
    return {name: [str(word) for word in command] for name, command in found.items()}


def chosen(names, wanted):
    """The parts that `wanted` names."""
    found = [name for name in names if wanted in ("all", name) or name.startswith(wanted + "-")]
    if not found:
        raise SystemExit(f"campaign: no part is called {wanted}; there are: {', '.join(names)}")
    return found


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def records():
    """The folder of this commit's records; None for a tree with changes."""
    return None if git("status", "--porcelain") else RECORDS / git("rev-parse", "HEAD")


def run(name, command, folder):
    """Runs one part and keeps its record; returns whether it passed."""
    pool = Pool(RECORDS / "logs", slots=1, say=lambda line: print(line, flush=True))
    (job,) = pool.run([Job(name, command, folder=ROOT)])
    if job.passed() and folder:
        folder.mkdir(parents=True, exist_ok=True)
        record = {
            "part": name,
            "command": " ".join(command).replace(f"{ROOT}{os.sep}", ""),
            "ended": datetime.datetime.now().isoformat(timespec="seconds"),
            "wall_s": round(job.wall_s),
            "processors": os.cpu_count(),
            "last_lines": job.text().strip().splitlines()[-5:],
        }
        (folder / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    return job.passed()


def main():
    parser = argparse.ArgumentParser(prog="campaign", description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="?", default="")
    wanted = parser.parse_args().part
    known, folder = parts(), records()
    kept = {name for name in known if folder and (folder / f"{name}.json").is_file()}
    if not wanted:
        for name in known:
            print(f"{'passed' if name in kept else '      '}  {name}")
        print("make campaign PART=NAME runs one; PART=all what has not passed at this commit")
        return 0
    names = chosen(list(known), wanted)
    if not folder:
        print("the tree has changes that are not committed: results are not kept", flush=True)
    for name in sorted(kept.intersection(names)):
        print(f"ok     kept at this commit: {name}")
    build = ["cargo", "build", "--release", "--quiet", "--package", "rnic-testbench"]
    subprocess.run(build, cwd=ROOT, check=True)
    # Reports are written there, and a fresh clone has none.
    (ROOT / "build").mkdir(exist_ok=True)
    left = [name for name in names if name not in kept]
    failed = [name for name in left if not run(name, known[name], folder)]
    for name in failed:
        print(f"FAILED {name}: {RECORDS / 'logs' / (name + '.log')}")
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
