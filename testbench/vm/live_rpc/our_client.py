"""Rows in which our programs talk to Linux' server."""

import re
import signal

from processes import Failed, wait_until
from stage import SECONDS, expect

SIZES = [0, 1, 3, 4, 5, 1023, 1024, 1025, 4095, 4096, 4097, 12_345, 65_536, 131_072]
FEW_SIZES = [0, 5, 4097, 12_345]
# Of symbolic links; Linux has no longer ones.
LINK_OCTETS = [1, 1000, 1024, 4095]
# `nfs_copy` copies in blocks, and shorter data is inline.
BLOCK = 65_536
WRITE_CHUNK_OCTETS = 1024
READ_CHUNK_OCTETS = 1025
# Counters that say that something ran out.
SHORTAGES = ["rq_starve", "sq_starve", "rq_prod", "sq_prod"]


def counted(stage, what, run):
    """Run it: how far the counters of Linux' transport have come."""
    before = stage.nfs.svc_rdma()
    run()
    after = stage.nfs.svc_rdma()
    grown = {name: after[name] - before[name] for name in after}
    for name in SHORTAGES:
        expect(f"rdma_stat_{name}", grown[name], 0)
    stage.facts[what] = "/".join(str(grown[name]) for name in ("recv", "read", "write"))
    return grown


def pings(stage):
    """NULLs, then calls and replies that are too long for a Send."""
    row, calls = stage.row, 20
    grown = counted(stage, "NULLs", lambda: stage.ours("rpc_ping", "-C", row.calls))
    expect("calls that Linux has received", grown["recv"], row.calls)
    for kind, counter in (("long-call", "read"), ("long-reply", "write")):
        grown = counted(stage, f"{kind}s", lambda kind=kind: stage.ours(
            "rpc_ping", "-C", calls, "--wire-type", kind))
        if grown[counter] < calls:
            raise Failed(f"{calls} of {kind}: rdma_stat_{counter} has grown by {grown[counter]}")


def files(stage):
    """Files of many sizes to the server and back, and a directory's listing."""
    stage.guest.run("rm -rf /export/*")
    sizes = FEW_SIZES if stage.row.dut == "rtl" else SIZES
    grown = counted(stage, "files", lambda: [there_and_back(stage, octets) for octets in sizes])
    expect("read chunks that Linux has read", grown["read"], blocks(sizes, WRITE_CHUNK_OCTETS))
    expect("chunks that Linux has written", grown["write"], blocks(sizes, READ_CHUNK_OCTETS))
    listing(stage, stage.row.files)
    for octets in LINK_OCTETS:
        link(stage, octets)


def link(stage, octets):
    """A symbolic link: the path goes to the server, and comes back."""
    path, name = "p" * octets, f"link{octets}"
    stage.ours("nfs_copy", "link", path, name)
    expect(f"the server's link of {octets}", stage.guest.run(f"readlink /export/{name}").strip(),
           path)
    expect(f"the link of {octets}", stage.ours("nfs_copy", "readlink", name).strip(), path)


def blocks(sizes, least):
    """READs or WRITEs of `nfs_copy` that have a chunk."""
    return sum(-(-octets // BLOCK) for octets in sizes if octets >= least)


def there_and_back(stage, octets, *options):
    """One file."""
    data, digest = stage.data(octets)
    back = stage.folder / f"back{octets}"
    told = stage.ours("nfs_copy", *options, "put", data, f"file{octets}")
    expect(f"SHA-256 told of {octets} octets", re.search(r"SHA-256 (\w+)", told).group(1), digest)
    theirs = stage.guest.run(f"sha256sum </export/file{octets}").split()[0]
    expect(f"the server's SHA-256 of {octets} octets", theirs, digest)
    stage.ours("nfs_copy", *options, "get", f"file{octets}", back)
    if back.read_bytes() != data.read_bytes():
        raise Failed(f"{octets} octets come back as others")


def listing(stage, count, *options, dots=(".", "..")):
    """A directory's names."""
    stage.guest.run(f"""mkdir /export/many && cd /export/many && for i in $(seq {count}); do
        echo >name-$i; done; ln -s elsewhere link""", SECONDS)
    lines = stage.ours("nfs_copy", *options, "list", "many").splitlines()
    names = sorted(line.split()[3] for line in lines)
    expect("names", names, sorted([*dots, "link", *(f"name-{i + 1}" for i in range(count))]))


def cut(stage):
    """A copy whose connection is cut."""
    row = stage.row
    stage.guest.run("rm -rf /export/*")
    data, digest = stage.data(row.octets)
    with stage.start("nfs_copy", "put", data, "file") as process:
        for number in range(row.cuts):
            octets = row.octets * (number + 1) // (row.cuts + 1)
            stage.nfs.cut("/export/file", octets)
        if process.wait(SECONDS) != 0:
            raise Failed(f"nfs_copy: {process.said()}")
    theirs = stage.guest.run("sha256sum </export/file").split()[0]
    expect("the server's SHA-256", theirs, digest)
    back = stage.folder / "back"
    stage.ours("nfs_copy", "get", "file", back)
    if back.read_bytes() != data.read_bytes():
        raise Failed("the octets come back as others")


def watch(stage, octets):
    """Wait until so much is stored."""
    stage.finish(stage.shell(f"""
        until [ "$(du -k /export/file 2>/dev/null | cut -f 1)" -ge {octets >> 10} ] 2>/dev/null; do
            usleep 10000; done""", 40))


def killed(stage):
    """Our client is killed in mid-copy: the next one can copy, and Linux keeps nothing of it."""
    row = stage.row
    stage.guest.run("rm -rf /export/*")
    data, _ = stage.data(row.octets)
    with stage.start("nfs_copy", "put", data, "file") as process:
        watch(stage, row.octets // 4)
        process.stop(signal.SIGKILL)
    expect("status of the client that was killed", process.process.returncode, -signal.SIGKILL)
    there_and_back(stage, 131_072)
    wait_until(lambda: stage.nfs.open_connections() == 0, 30, "connections that stay")
