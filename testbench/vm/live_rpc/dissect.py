"""What tshark says of a capture: messages of RPC over RDMA by their types."""

import collections
import itertools

import apart
import headers
import tails
import tshark
from nfs import OURS
from processes import Failed

TYPES = {"0": "MSG", "1": "NOMSG", "2": "MSGP", "3": "DONE", "4": "ERROR"}
# READ and READLINK of NFSv3, READ of NFSv4: tshark looks for their octets in the Send, and they are
# in a chunk.
DATA_3, DATA_4 = {"6", "5"}, {"25"}


def dissect(capture, logs, row, killed):
    """Words for the table; fails if a message is malformed, of a type that none of a row has, or
    not as our end has logged it; `killed` is which log that of a killed program is."""
    if not tshark.is_there():
        return tshark.MISSING
    capture = apart.copy(capture)
    counts = collections.Counter()
    names = ("frame.number", "rpcordma.msg_type", "nfs.procedure_v3", "nfs.opcode",
             "_ws.malformed")
    for values in tshark.fields(capture, "rpcordma || _ws.malformed", *names):
        frame, kinds, procedures, operations, malformed = values
        is_data = DATA_3 & set(procedures.split(",")) or DATA_4 & set(operations.split(","))
        if malformed and not is_data:
            raise Failed(f"tshark: frame {frame} is malformed: {malformed}")
        counts.update(kinds.split(",") if kinds else [])
    if not counts["0"] or set(counts) - {"0", "1"}:
        raise Failed(f"tshark: messages by type: {dict(counts)}")
    said = ", ".join(f"{count} {TYPES[kind]}" for kind, count in sorted(counts.items()))
    found, count = headers.dissected(capture, OURS.values()), headers.sends(capture)
    if row.kills:
        return f"{said}; {tails.compare(found, logs, killed, count)}"
    lines = itertools.chain(*logs)
    return f"{said}; {headers.compare(found, lines, count, row.cuts > 0)}"
