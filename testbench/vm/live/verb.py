"""What the verbs that talk to a guest share: the table of their rows, and how they end.

In: rows with a name and a kind of device, and a class whose `tried(row)` gives a row's cells and
what was wrong with it. Out: packages and their versions, a table, and the status of the verb.
"""

import contextlib
import os
import pathlib
import platform
import shutil
import signal
import sys
import tempfile
import time

import image
import packages
from processes import Failed, Process
from report import table

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOLS = ROOT / ".tools" / "live"
# Where cargo has built ours.
PROGRAMS = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release"
# The verilated library is built when it is first wanted.
LIBRARY_SECONDS = 900


def chosen(rows, words):
    """The rows with one of these words in their names, or all."""
    found = [row for row in rows if not words or any(word in row.name for word in words)]
    if not found:
        raise packages.Missing(f"no row has {' or '.join(words)} in its name")
    return found


def expect(names, verb):
    """Refuses a machine that cannot run the guest, or that has not built our programs."""
    if platform.machine() != "x86_64":
        raise packages.Missing("the guest's programs are of x86_64, this machine is not")
    for name in names:
        if not (PROGRAMS / name).exists():
            raise packages.Missing(f"{PROGRAMS / name} is missing; make {verb} builds it")


def warm(programs, folder):
    """Have the verilated library built before anything waits for it."""
    socket = folder / "warm"
    command = [programs / "rnic", "serve", "--vfio-user", socket, "--dut", "rtl"]
    with Process("rnic serve --dut rtl", command, folder / "warm.log") as serve:
        serve.until(socket.exists, LIBRARY_SECONDS)


def parts(log):
    """What a guest is made of: Debian's packages and the image; fetched and built if need be."""
    fetched = packages.fetch(TOOLS, log.say)
    return fetched, image.make(fetched, TOOLS, log.say)


@contextlib.contextmanager
def guests(kind, captures, log, **lines):
    """A bench of this kind and a folder for it; when it is done, what it was made of is printed."""
    fetched, guest_image = parts(log)
    shutil.rmtree(captures, ignore_errors=True)
    captures.mkdir(parents=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"{log.verb}-") as name:
        folder = pathlib.Path(name)
        with kind(PROGRAMS, folder, fetched, guest_image, log, **lines) as bench:
            yield bench, folder
    print((fetched / "versions").read_text(), end="")
    print(f"{bench.boots} boots, {time.monotonic() - begun:.0f} s in all")


def play(bench, folder, rows, head, log):
    """All rows: the lines of the table, and how many have failed."""
    if any(row.dut == "rtl" for row in rows):
        log.say("the verilated library")
        warm(bench.programs, folder)
    lines, failed = [head], 0
    for row in rows:
        line, problem = bench.tried(row)
        lines.append(line)
        failed += bool(problem)
    return lines, failed


def report(lines, failed, verb):
    """Print the table and the last line; the verb's status."""
    print(table(lines))
    print(f"{verb}: {len(lines) - 1 - failed} passed, {failed} failed")
    return int(failed > 0)


def end_with(main, verb):
    """Run the verb, and end this program with its status."""
    # Ends what is running, as any error does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main(sys.argv[1:]))
    except packages.Missing as missing:
        print(f"{verb}: {missing}", file=sys.stderr)
        sys.exit(2)
    except Failed as failed:
        print(f"{verb}: failed: {failed}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
