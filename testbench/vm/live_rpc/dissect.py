"""What tshark says of a capture: messages of RPC over RDMA by their types."""

import collections
import shutil
import subprocess

from processes import Failed

TYPES = {"0": "MSG", "1": "NOMSG", "2": "MSGP", "3": "DONE", "4": "ERROR"}
# Of NFS: tshark looks for the octets of a READ in the Send, and they are in a chunk.
READ = "6"


def dissect(capture, seconds=120):
    """Words for the table; fails if a message is malformed, or of a type that none of a row has."""
    if shutil.which("tshark") is None:
        return "tshark is not there"
    command = ["tshark", "-r", capture, "-Y", "rpcordma || _ws.malformed", "-T", "fields",
               "-E", "separator=;"]
    for field in ("frame.number", "rpcordma.msg_type", "nfs.procedure_v3", "_ws.malformed"):
        command += ["-e", field]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    if ran.returncode != 0:
        raise Failed(f"tshark: {ran.stderr.strip()[-200:]}")
    counts = collections.Counter()
    for line in ran.stdout.splitlines():
        frame, kinds, procedures, malformed = line.split(";", 3)
        if malformed and READ not in procedures.split(","):
            raise Failed(f"tshark: frame {frame} is malformed: {malformed}")
        counts.update(kinds.split(",") if kinds else [])
    if not counts["0"] or set(counts) - {"0", "1"}:
        raise Failed(f"tshark: messages by type: {dict(counts)}")
    return ", ".join(f"{count} {TYPES[kind]}" for kind, count in sorted(counts.items()))
