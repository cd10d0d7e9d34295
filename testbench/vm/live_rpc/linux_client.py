"""Rows in which Linux mounts our server."""

import hashlib
import time

import monitor
from processes import Failed, wait_until
from stage import FREED_SECONDS, HERE, expect, facts, in_guest, places

# Memory regions that Linux' client allots at a time: those of a call of 1 MiB, and two.
ALLOTMENT = 4
# Octets of a block: neither pages nor a multiple of four.
BLOCK = 12_345
# Waits until so much of a copy has been written.
WATCH = """
size() { stat -c %s /mnt/data 2>/dev/null || echo 0; }
until [ "$(size)" -ge "$OCTETS" ]; do usleep 10000; done
"""
# A copy in blocks there and back, none of them through the guest's cache.
COPY = """
rm -f /tmp/back
dd if="$DATA" of=/mnt/data bs=12345 oflag=direct 2>&1 || exit
echo 3 >/proc/sys/vm/drop_caches
dd if=/mnt/data of=/tmp/back bs=12345 iflag=direct 2>&1 || exit
echo "fact read $(sha256sum </tmp/back | cut -d ' ' -f 1)"
rm /tmp/back
"""


def whole(stage):
    """Everything of the exercise, and what the mount's counters say then."""
    row = stage.row
    with stage.server() as (port, _):
        stage.nfs.mount(row.transport, row.family, port)
        data, digest = stage.data(row.octets)
        script = (HERE / "exercise.sh").read_text()
        begun = time.monotonic()
        job = stage.shell(script, row.seconds, AT="/mnt/at", DATA=in_guest(data), COUNT=row.files)
        found = facts(stage.finish(job))
        stage.facts["exercise s"] = f"{time.monotonic() - begun:.1f}"
        lines = "".join(f"{number}\n" for number in range(1, row.files + 1))
        expect("the exercise", found, {
            "read": digest, "size": str(row.octets), "made": str(row.files),
            "renamed": str(row.files), "content": hashlib.sha256(lines.encode()).hexdigest(),
            "left": "0", "link": "right"})
        direct(stage)
        if row.transport == "rdma":
            across(stage, port, "at/data", digest)
            judge(stage)
        stage.nfs.unmount()


def direct(stage):
    """A file went there and back in blocks, past the guest's cache."""
    octets = stage.row.octets
    # What `dd` asks for: the last block is short, and after it there is none.
    asked = (octets // BLOCK + 2) * BLOCK
    expect("octets read and written past the cache", stage.nfs.direct(), (asked, octets))


def across(stage, port, name, digest):
    """The same file over TCP, in which no region of the device has a part."""
    stage.nfs.mount("tcp", 4, port, "/tcp")
    text = stage.guest.run(f"sha256sum </tcp/{name}", 30)
    stage.nfs.unmount("/tcp")
    expect("SHA-256 over TCP", text.split()[0], digest)


def judge(stage, connects=1):
    """Counters of the mount."""
    xprt = stage.nfs.xprt()
    kinds = ["read_chunks", "write_chunks", "reply_chunks"]
    stage.facts.update({kind.replace("_", " "): xprt[kind] for kind in kinds})
    for kind in kinds:
        if not xprt[kind]:
            raise Failed(f"the mount has no {kind.replace('_', ' ')}")
    expect("bad replies", xprt["bad_replies"], 0)
    expect("replies that nobody waits for", xprt["bad_xids"], 0)
    expect("connections of the mount", xprt["connects"], connects)
    # Linux' client allots regions as it connects, and again when it has none; the call that has
    # asked then counts as a failed marshal, and goes a little later.
    expect("regions", xprt["regions"], ALLOTMENT * (connects + xprt["failed_marshals"]))
    stage.facts["failed marshals"] = xprt["failed_marshals"]
    stage.facts["regions"] = xprt["regions"]


def copy(stage):
    """One file there and back."""
    row = stage.row
    with stage.server() as (port, _):
        stage.nfs.mount("rdma", row.family, port)
        data, digest = stage.data(row.octets)
        found = facts(stage.finish(stage.shell(COPY, row.seconds, DATA=in_guest(data))))
        expect("SHA-256", found["read"], digest)
        direct(stage)
        across(stage, port, "data", digest)
        stage.guest.run("ls /mnt")
        judge(stage)
        stage.nfs.unmount()


def cut(stage):
    """A copy whose connection is cut: Linux' client connects again and sends its calls again."""
    row = stage.row
    with stage.server() as (port, server):
        stage.nfs.mount("rdma", row.family, port)
        data, digest = stage.data(row.octets)
        job = stage.shell(COPY, row.seconds, DATA=in_guest(data))
        for path, count in (("/mnt/data", row.cuts - row.read_cuts), ("/tmp/back", row.read_cuts)):
            for octets in places(row.octets, count):
                stage.nfs.cut(path, octets)
        found = facts(stage.finish(job))
        expect("SHA-256", found.get("read"), digest)
        direct(stage)
        across(stage, port, "data", digest)
        stage.guest.run("ls /mnt")
        judge(stage, row.cuts + 1)
        stage.nfs.unmount()
        wait_until(lambda: server.text().count("has gone") == row.cuts + 1, 20,
                   "clients that are gone")
        expect("clients that came", server.text().count("has connected"), row.cuts + 1)


def killed(stage):
    """Our server is killed in mid-copy; the next one on the same device has other files."""
    row, idle, clean = stage.row, stage.guest.held(), stage.found()
    with stage.server() as (port, server):
        stage.nfs.mount("rdma", row.family, port)
        data, digest = stage.data(row.octets)
        job = stage.shell(COPY, row.seconds, DATA=in_guest(data))
        stage.finish(stage.shell(WATCH, 40, OCTETS=row.octets // 4))
        # What is compared below tells a connection from none.
        expect("whether a client has nothing in use", monitor.in_use(stage.monitor) == clean, False)
        stage.kill(server)
    expect("what the next program has in use", stage.found(), clean)
    begun = time.monotonic()
    with stage.server() as (port, server):
        status = job.wait()
        stage.facts["client's answer s"] = f"{time.monotonic() - begun:.1f}"
        if status == 0 or "Stale" not in job.printed():
            raise Failed(f"the copy of a server that is gone: status {status}: {job.complaint()}")
        stage.nfs.unmount()
        gone(server)
        stage.nfs.mount("rdma", row.family, port)
        found = facts(stage.finish(stage.shell(COPY, row.seconds, DATA=in_guest(data))))
        expect("SHA-256", found["read"], digest)
        direct(stage)
        stage.nfs.unmount()
        # None of the first life, none of the second.
        wait_until(lambda: stage.nfs.open_connections() == 0, 30, "connections that stay")
        gone(server)
        # The server keeps the receives of one client for the next one (rnic_rpcrdma::Server).
        left = clean | {"regions_registered": clean["regions_registered"] + 1}
        monitor.expect(stage.monitor, left, FREED_SECONDS)
    stage.frees(idle)


def gone(server):
    """Wait until each client that has come is gone."""
    wait_until(lambda: "has connected" in server.text()
               and server.text().count("has gone") == server.text().count("has connected"),
               FREED_SECONDS, "clients that are gone")
