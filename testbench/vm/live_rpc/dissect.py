"""What tshark says of a capture: messages of RPC over RDMA, and whether our programs say the same.

    capture --> tshark --> header in words --+
                                             +--> the same lines, as often
    --headers of our programs: sent, received +
"""

import collections
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from processes import Failed

TYPES = ["MSG", "NOMSG", "MSGP", "DONE", "ERROR"]
# READLINK and READ of NFS: tshark looks for their octets in the Send, and they are in a chunk.
IN_CHUNKS = {("nfs.procedure_v3", "5"), ("nfs.procedure_v3", "6"), ("nfs.opcode", "25")}
CHUNK_ERROR = 2


def tshark(capture, *options, seconds=120):
    """What it prints. An acknowledgement of ours may pass data that was queued before it."""
    ran = subprocess.run(["tshark", "-o", "tcp.reassemble_out_of_order:TRUE", "-r", capture,
                          *options], capture_output=True, text=True,
                         timeout=seconds)
    if ran.returncode != 0:
        raise Failed(f"tshark: {ran.stderr.strip()[-200:]}")
    return ran.stdout


def whole(capture):
    """Fails if a message is malformed to tshark, but for those whose octets are elsewhere."""
    names = ["frame.number", "nfs.procedure_v3", "nfs.opcode", "_ws.malformed"]
    fields = [word for name in names for word in ("-e", name)]
    for line in tshark(capture, "-Y", "_ws.malformed", "-T", "fields", "-E", "separator=;",
                       *fields).splitlines():
        frame, *values = line.split(";")
        found = {(name, value) for name, text in zip(names[1:3], values)
                 for value in text.split(",")}
        if not found & IN_CHUNKS:
            raise Failed(f"tshark: frame {frame} is malformed: {values}")


def headers(capture):
    """Each header: who has sent it, and its words as `rpcrdma` has them."""
    document = ElementTree.fromstring(tshark(
        capture, "-Y", "rpcordma", "-T", "pdml", "-J", "rpcordma ip ipv6"))
    for packet in document.iter("packet"):
        shown = {field.get("name"): field.get("show") for field in packet.iter("field")}
        source = shown.get("ip.src") or shown.get("ipv6.src")
        for proto in packet.iter("proto"):
            if proto.get("name") == "rpcordma":
                yield source, words(proto)


def value(element, name):
    """The number that a field of this name has."""
    found = element.find(f".//field[@name='rpcordma.{name}']")
    if found is None:
        raise Failed(f"tshark shows no {name} of a header")
    return int(found.get("show"), 0)


def segment(element):
    """`HANDLE:LENGTH:OFFSET`."""
    handle, length, offset = (value(element, f"rdma_{name}")
                              for name in ("handle", "length", "offset"))
    return f"{handle:#010x}:{length}:{offset:#x}"


def chunks(proto, name, word):
    """The write chunks of a list, each with its segments."""
    for part in proto.findall(f"./field[@name='rpcordma.{name}']/field"):
        segments = [segment(one) for one in part.findall("field[@name='']")]
        yield " ".join([word, *segments])


def words(proto):
    """A header."""
    kind = TYPES[value(proto, "msg_type")]
    said = [f"xid {value(proto, 'xid'):#010x} vers {value(proto, 'version')} "
            f"credits {value(proto, 'flow_control')} {kind}"]
    if kind == "MSGP":
        said.append(f"align {value(proto, 'rdma_align')} threshold {value(proto, 'rdma_thresh')}")
    if kind == "ERROR":
        is_chunk = value(proto, "errcode") == CHUNK_ERROR
        said.append("chunk" if is_chunk else
                    f"versions {value(proto, 'vers_low')} {value(proto, 'vers_high')}")
    for one in proto.findall("./field[@name='rpcordma.reads_count']/field"):
        said.append(f"read {value(one, 'position')} {segment(one)}")
    said += chunks(proto, "writes_count", "write")
    said += chunks(proto, "reply_count", "reply")
    return " ".join(said)


def logged(files):
    """What our programs say that they have sent, and received."""
    said = {"sent": collections.Counter(), "received": collections.Counter()}
    for file in files:
        for line in file.read_text().splitlines():
            what, header = line.split(" ", 1)
            said[what][header] += 1
    return said


def compare(found, said, may_lose):
    """Fails if what our programs say differs from what tshark sees: `found`, the same two counts.
    Where connections are cut, what was sent may have got lost."""
    for what in ("sent", "received"):
        unsaid = found[what] - said[what]
        if unsaid:
            raise Failed(f"tshark sees what our programs have not {what}: {first(unsaid)}")
        unseen = said[what] - found[what]
        if unseen and not (may_lose and what == "sent"):
            raise Failed(f"tshark does not see what our programs have {what}: {first(unseen)}")


def first(counter):
    """One of them, and how many there are."""
    return f"{next(iter(counter))}, and {counter.total() - 1} more"


def dissect(capture, own, files, *, may_lose=False, has_all=True):
    """Words for the table. `own` is the address of our end, `files` what it has said of headers;
    not `has_all`: it was killed."""
    if shutil.which("tshark") is None:
        return "tshark is not there"
    whole(capture)
    found = {"sent": collections.Counter(), "received": collections.Counter()}
    kinds = collections.Counter()
    for source, header in headers(capture):
        found["sent" if source == own else "received"][header] += 1
        kinds[header.split()[6]] += 1
    if not kinds["MSG"]:
        raise Failed(f"tshark: messages by type: {dict(kinds)}")
    text = ", ".join(f"{kinds[kind]} {kind}" for kind in TYPES if kinds[kind])
    if not has_all:
        return text
    compare(found, logged(files), may_lose)
    return f"{text}; fields of {found['sent'].total()} sent, {found['received'].total()} received"
