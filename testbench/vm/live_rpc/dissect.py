"""What tshark says of a capture: messages of RPC over RDMA by their types."""

import collections
import shutil
import subprocess

import headers
from nfs import OURS
from processes import Failed

TYPES = {"0": "MSG", "1": "NOMSG", "2": "MSGP", "3": "DONE", "4": "ERROR"}
# READ and READLINK of NFSv3, READ of NFSv4: tshark looks for their octets in the Send, and they are
# in a chunk.
DATA_3, DATA_4 = {"6", "5"}, {"25"}


def dissect(capture, logs, row, seconds=120):
    """Words for the table; fails if a message is malformed, of a type that none of a row has, or
    not as our end has logged it."""
    if shutil.which("tshark") is None:
        return "tshark is not there"
    command = [*headers.TSHARK, "-r", capture, "-Y", "rpcordma || _ws.malformed", "-T", "fields",
               "-E", "separator=;"]
    for field in ("frame.number", "rpcordma.msg_type", "nfs.procedure_v3", "nfs.opcode",
                  "_ws.malformed"):
        command += ["-e", field]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    if ran.returncode != 0:
        raise Failed(f"tshark: {ran.stderr.strip()[-200:]}")
    counts = collections.Counter()
    for line in ran.stdout.splitlines():
        frame, kinds, procedures, operations, malformed = line.split(";", 4)
        is_data = DATA_3 & set(procedures.split(",")) or DATA_4 & set(operations.split(","))
        if malformed and not is_data:
            raise Failed(f"tshark: frame {frame} is malformed: {malformed}")
        counts.update(kinds.split(",") if kinds else [])
    if not counts["0"] or set(counts) - {"0", "1"}:
        raise Failed(f"tshark: messages by type: {dict(counts)}")
    said = ", ".join(f"{count} {TYPES[kind]}" for kind, count in sorted(counts.items()))
    if row.kills:
        return said
    found = headers.dissected(capture, OURS.values(), seconds)
    count = headers.sends(capture, seconds)
    return f"{said}; {headers.compare(found, logs, count, row.cuts > 0)}"
