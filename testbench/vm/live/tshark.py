"""tshark, a reader of captures that is not ours. Where it is missing a row says so, and passes."""

import shutil
import subprocess

from processes import Failed

MISSING = "tshark is not there"
SECONDS = 120
# An acknowledgement of ours may pass data that is queued before it, which then is not a segment
# that comes again; and octets that come beyond a gap are not passed over.
COMMAND = ["tshark", "-o", "tcp.reassemble_out_of_order:TRUE"]


def is_there():
    """Whether this machine has it."""
    return shutil.which("tshark") is not None


def read(capture, *options, seconds=SECONDS):
    """What it prints about a capture."""
    ran = subprocess.run([*COMMAND, "-r", capture, *options], capture_output=True, text=True,
                         timeout=seconds)
    if ran.returncode != 0:
        raise Failed(f"tshark: {ran.stderr.strip()[-200:]}")
    return ran.stdout


def fields(capture, shown, *names, seconds=SECONDS):
    """For each frame that the filter `shown` lets through, the values of these fields."""
    wanted = [word for name in names for word in ("-e", name)]
    text = read(capture, "-Y", shown, "-T", "fields", "-E", "separator=;", *wanted,
                seconds=seconds)
    return [line.split(";", len(names) - 1) for line in text.splitlines()]
