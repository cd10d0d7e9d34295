"""What is run."""

import dataclasses
from typing import Callable

import linux_client
import our_client
import random_file

MIB = 1 << 20
# siw does not notice what comes between its Reply and its taking over of the socket (docs/live.md):
# a client of ours waits for as long as a wire of some length would have it wait.
CLIENT_DELAY_US = 4000


@dataclasses.dataclass
class Row:
    """One run."""

    name: str
    run: Callable
    transport: str = "rdma"
    family: int = 4
    dut: str = "model"
    octets: int = MIB
    files: int = 100
    calls: int = 1000
    operations: int = 2000
    cuts: int = 0
    # Of these, while the file is read back; the others while it is written.
    read_cuts: int = 0
    # Options of our server.
    server: tuple = ()
    # Of one script in the guest.
    seconds: int = 120
    delay_us: int = 0
    # Neither a guest nor its device: both ends are ours. Then whether frames are lost.
    alone: bool = False
    lossy: bool = False
    # Linux may say that a connection is lost.
    may_complain: bool = False
    # A program is killed, and its log of headers may have lost its end.
    kills: bool = False


def rows():
    """All rows, in order."""
    theirs, ours = "Linux' client", "our client"
    delay = {"delay_us": CLIENT_DELAY_US}
    torn = {"cuts": 3, "read_cuts": 1, "may_complain": True, "octets": 16 * MIB}
    yield Row("both ends ours", None, alone=True)
    yield Row("both ends ours, 1 % lost, markers", None, alone=True, lossy=True)
    yield Row(f"{theirs}, RDMA", linux_client.whole, octets=8 * MIB, files=1000)
    yield Row(f"{theirs}, TCP", linux_client.whole, "tcp", octets=8 * MIB, files=1000)
    yield Row(f"{theirs}, random, RDMA", random_file.one_file)
    yield Row(f"{theirs}, random, TCP", random_file.one_file, "tcp")
    yield Row(f"{ours}, calls", our_client.pings, **delay)
    yield Row(f"{ours}, files", our_client.files, files=1000, **delay)
    yield Row(f"{ours}, links", our_client.links, **delay)
    yield Row(f"{ours}, NFSv4.0", our_client.version_4, files=1000, **delay)
    yield Row(f"{theirs}, 3 cuts", linux_client.cut, **torn)
    yield Row(f"{ours}, 3 cuts", our_client.cut, **delay, **torn)
    yield Row(f"{theirs}, IPv6", linux_client.copy, family=6)
    yield Row(f"{ours}, IPv6", our_client.files, family=6, files=100, **delay)
    yield Row("nfs_server killed", linux_client.killed, octets=8 * MIB, may_complain=True,
              kills=True)
    yield Row("nfs_copy killed", our_client.killed, octets=8 * MIB, may_complain=True, kills=True,
              **delay)
    yield Row(f"{theirs}, RTL", linux_client.whole, dut="rtl", files=1000, seconds=400)
    yield Row(f"{theirs}, random, RTL", random_file.one_file, dut="rtl", operations=100)
    yield Row(f"{ours}, calls, RTL", our_client.pings, dut="rtl", calls=100, **delay)
    yield Row(f"{ours}, files, RTL", our_client.files, dut="rtl", files=100, **delay)


def long_rows():
    """Rows of `make live-rpc-long`: many cuts, two mounts at once, everything over IPv6."""
    theirs, ours = "Linux' client", "our client"
    delay = {"delay_us": CLIENT_DELAY_US}
    torn = {"cuts": 20, "read_cuts": 7, "may_complain": True, "octets": 64 * MIB, "seconds": 400}
    yield Row(f"{theirs}, 20 cuts", linux_client.cut, server=("--memory", 128), **torn)
    yield Row(f"{ours}, 20 cuts", our_client.cut, **delay, **torn)
    yield Row(f"{theirs}, two mounts", random_file.two_mounts)
    for row in rows():
        is_other = row.alone or row.family != 4 or row.transport != "rdma" or row.dut != "model"
        if not is_other:
            yield dataclasses.replace(row, name=f"{row.name}, all over IPv6", family=6)
