"""Rows in which a connection's options meet: each pair of two options' values is in one of them.

But two pairs: as client we never have a revision 1 that Linux' rping bears (rows.py, NO_READS), nor
a Read as first FPDU, as siw prefers a Write.
"""

from rows import CLIENT_DELAY_US, RTR, Row

PINGS = 100
# Whose role is ours, IP's version, octets of a ping, whether there are CRCs, and the start-up: its
# revision, or in revision 2 the ready-to-receive message.
RUNS = (
    ("client", 6, 64, False, "revision 2"),
    ("client", 4, 65535, True, "revision 2"),
    ("client", 6, 4096, True, "write"),
    ("client", 6, 65535, False, "write"),
    ("server", 4, 64, False, "revision 1"),
    ("server", 4, 4096, True, "revision 1"),
    ("server", 6, 65535, False, "revision 1"),
    ("server", 6, 4096, False, "revision 2"),
    ("server", 4, 64, True, "read"),
    ("server", 6, 4096, True, "read"),
    ("server", 6, 65535, False, "read"),
    ("server", 4, 64, False, "write"),
)
# Of them on RTL, too.
ON_RTL = (("client", 6, 4096, True, "write"), ("server", 4, 64, False, "write"))
FIRST = {"write": "empty Write", "read": "empty Read Request"}


def row(run, dut):
    """One of them."""
    ours, family, octets, crc, start = run
    revision = 1 if start == "revision 1" else 2
    siw, options = {"mpa_version": revision, "mpa_crc_required": int(crc)}, []
    if start in FIRST and ours == "server":
        siw |= {"peer_to_peer": 1, "rtr_type": RTR[start]}
    elif start in FIRST:
        options.append("--peer-to-peer")
    if not crc:
        options.append("--no-crc")
    if revision == 1:
        options += ["--revision", "1"]
    on_rtl = ", RTL" if dut == "rtl" else ""
    name = (f"{ours}{on_rtl}, {PINGS} pings of {octets} octets, IPv{family}, {start},"
            f" {'CRC' if crc else 'no CRC'}")
    return Row(name, ours, revision, crc, FIRST.get(start, "Send"), siw, tuple(options), family,
               delay_us=CLIENT_DELAY_US if ours == "client" else 0, pings=PINGS, octets=octets,
               dut=dut)


def rows():
    """All of them."""
    return [*(row(run, "model") for run in RUNS), *(row(run, "rtl") for run in ON_RTL)]
