"""Headers of RPC over RDMA: what our end has logged, field by field against what tshark reads.

    --headers of our programs --> lines -----------+
                                                   +--> the same lines, as many of each
    capture --> tshark --> PDML --> the same words -+

A line is `sent` or `received`, transaction, version, credits, type, and each chunk with its
position and its segments, handle:length:offset.
"""

import collections
import subprocess
import xml.etree.ElementTree

import tshark
from processes import Failed

TYPES = ["MSG", "NOMSG", "MSGP", "DONE", "ERROR"]
CHUNKS = {"rpcordma.reads_count": "read", "rpcordma.writes_count": "write",
          "rpcordma.reply_count": "reply"}
# Fields whose words are the same for each; of an error's, those that the project sends.
WORDS = {"rpcordma.rdma_align": "align {}", "rpcordma.rdma_thresh": "threshold {}",
         "rpcordma.vers_low": "versions {}", "rpcordma.vers_high": "{}"}
ERR_CHUNK = 2
# Opcodes of Sends: with Invalidate, with Solicited Event, with both.
SEND = {3, 4, 5, 6}


def words(message):
    """The line of a message, from the fields of tshark, in their order."""
    said, kind = [], ""
    for field in message.iter("field"):
        name, text = field.get("name"), field.get("value")
        value = int(text, 16) if text and name.startswith("rpcordma.") else 0
        if name == "rpcordma.xid":
            said.append(f"xid {value:#010x}")
        elif name == "rpcordma.version":
            said.append(f"vers {value}")
        elif name == "rpcordma.flow_control":
            said.append(f"credits {value}")
        elif name == "rpcordma.msg_type":
            said.append(TYPES[value] if value < len(TYPES) else f"type {value}")
        elif name in CHUNKS:
            kind = CHUNKS[name]
        elif name == "rpcordma.position":
            said.append(f"{kind} {value}")
        elif name == "rpcordma.segment_count":
            said.append(kind)
        elif name == "rpcordma.rdma_handle":
            said.append(f"{value:#010x}")
        elif name == "rpcordma.rdma_length":
            said[-1] += f":{value}"
        elif name == "rpcordma.rdma_offset":
            said[-1] += f":{value:#x}"
        elif name == "rpcordma.errcode":
            said += ["chunk"] * (value == ERR_CHUNK)
        elif name in WORDS:
            said.append(WORDS[name].format(value))
    return " ".join(said)


def sends(capture):
    """Sends whose last segment tshark has seen, whether it dissects them further or not."""
    count = 0
    for values in tshark.fields(capture, "iwarp_rdma.opcode", "iwarp_rdma.opcode",
                                "iwarp_ddp.last_flag"):
        opcodes, lasts = (words.split(",") for words in values)
        count += sum(int(opcode, 0) in SEND and last in ("1", "True")
                     for opcode, last in zip(opcodes, lasts, strict=True))
    return count


def dissected(capture, own):
    """Lines of the capture, in order; `own` are our addresses."""
    command = [*tshark.COMMAND, "-r", capture, "-Y", "rpcordma", "-T", "pdml",
               "-J", "rpcordma ip ipv6"]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as reader:
        try:
            for _, packet in xml.etree.ElementTree.iterparse(reader.stdout):
                if packet.tag != "packet":
                    continue
                source = [field.get("show") for field in packet.iter("field")
                          if field.get("name") in ("ip.src", "ipv6.src")]
                way = "sent" if source[0] in own else "received"
                for proto in packet.findall("proto[@name='rpcordma']"):
                    lines.append(f"{way} {words(proto)}")
                packet.clear()
        except xml.etree.ElementTree.ParseError as error:
            raise Failed(f"tshark's PDML: {error}") from None
        if reader.wait(tshark.SECONDS) != 0:
            raise Failed(f"tshark: status {reader.returncode}")
    return lines


def logged(path):
    """Lines of a program of ours; one that was killed may have left a part of its last one."""
    return path.read_text().rpartition("\n")[0].splitlines()


def compare(found, lines, count, is_cut):
    """Words for the table; fails at a line that one of the two does not have.

    Of `count` Sends tshark 4.0 leaves a few undissected, where a frame has two: as many lines of
    ours may have no other. A connection that is cut may have had messages of which the other one
    has not heard.
    """
    found, lines = collections.Counter(found), collections.Counter(lines)
    for line in found - lines:
        raise Failed(f"tshark reads what our end has not logged: {line}")
    alike, missing = sum(found.values()), list((lines - found).elements())
    if not is_cut and len(missing) != count - alike:
        raise Failed(f"of {count} Sends tshark reads {alike}, and our end has logged "
                     f"{len(missing)} others: {missing[:1]}")
    return f"{alike} headers are alike" + f", {count - alike} are not read" * (count != alike)
