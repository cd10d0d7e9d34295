"""NFS of the guest: Linux' client, Linux' server, what they say of themselves.

    mount  --> RDMA --> port 20049 of our device       MOUNT goes over TCP, through QEMU's user
           --> TCP  --> 10.0.2.2, the host             networking
    knfsd  <-- RDMA, port 20049                        /export, a tmpfs
"""

import re

from processes import Failed

RDMA_PORT = 20049
HOST = "10.0.2.2"
OURS = {4: "192.0.2.1", 6: "fd00::1"}
PREFIX = {4: 24, 6: 64}
# Of READ and WRITE.
BLOCK = 65_536
# What the kernel's log may not have, beside faults: lines of these, as they are said to go wrong.
COMPLAINTS = ["svcrdma", "rpcrdma", "siw", "nfsd:", "nfs:", "RPC:", "lockd"]
# Writes of the export's handle, flags: insecure ports, root is root, no subtree check, a number.
# There is no mountd: the kernel's caches are filled by hand, for as long as the guest lives.
KNFSD = """
set -e
for module in $(cat /modules/nfs); do insmod "$module"; done
# Without the last one the server keeps no list of clients, and cannot be told that there are none.
mkdir -p /export /mnt /var/lib/nfs/v4recovery
rpcbind
mount -t tmpfs -o size=192m,mode=777 export /export
mount -t nfsd nfsd /proc/fs/nfsd
echo '+4 -4.1 -4.2' >/proc/fs/nfsd/versions
for address in 192.0.2.1 fd00::1; do
    echo "nfsd $address 2147483647 *" >/proc/net/rpc/auth.unix.ip/channel
done
echo "* /export 2147483647 $((0x2402)) 65534 65534 64" >/proc/net/rpc/nfsd.export/channel
# The second one is the root of version 4.
for number in 40000000 00000000; do
    printf '* 1 \\\\x%s 2147483647 /export\\n' $number >/proc/net/rpc/nfsd.fh/channel
done
echo rdma 20049 >/proc/fs/nfsd/portlist
echo 4 >/proc/fs/nfsd/threads
# Nobody has state to claim again.
echo Y >/proc/fs/nfsd/v4_end_grace
exec 3<>/proc/fs/nfsd/filehandle
echo '* /export 64' >&3
cat <&3
"""
# One after another may end before the next one has connected again.
CUT = """
size() {{ set -- $(du -k {path} 2>/dev/null) 0; echo $1; }}
until [ $(size) -ge {kib} ]; do usleep 10000; done
ports='( sport = :20049 or dport = :20049 )'
until ss -tnHK state established "$ports" | grep -q .; do usleep 20000; done
"""
# Counters of a mount over RDMA in /proc/self/mountstats (xprtrdma of Linux 6.1), in order.
XPRT = ["port", "binds", "connects", "connect_s", "idle_s", "sends", "receives", "bad_xids",
        "requests", "backlog", "read_chunks", "write_chunks", "reply_chunks", "request_octets",
        "reply_octets", "pullups", "fixups", "hardway", "failed_marshals", "bad_replies",
        "long_calls", "recycled", "orphaned", "regions"]


def numbers(mountstats, what, at):
    """Those of the line of /proc/self/mountstats that begins with `what`, of the mount `at`."""
    for part in re.split(r"^device ", mountstats, flags=re.MULTILINE):
        if f" mounted on {at} with " in part:
            found = re.search(rf"^\s*{what}((?:\s+\d+)+)\s*$", part, re.MULTILINE)
            if found:
                return [int(word) for word in found.group(1).split()]
    raise Failed(f"the guest's mount at {at} has no line {what!r}")


class Nfs:
    """A guest whose modules of NFS are loaded, and whose server serves."""

    def __init__(self, guest):
        self.guest = guest
        printed = guest.run(KNFSD, 60)
        found = re.fullmatch(r"((?:\\x[0-9a-f]{2})+)|\\x([0-9a-f]+)", printed.strip())
        if not found:
            raise Failed(f"the guest's server gives no handle: {printed!r}")
        # The handle of the export.
        self.handle = printed.strip().replace("\\x", "")
        self.lines = len(self.log())

    def log(self):
        """The kernel's log."""
        return self.guest.run("dmesg").splitlines()

    def check(self, may_complain=False):
        """Fail if the kernel has met a fault, or complains of NFS since the last check."""
        self.guest.check()
        log = self.log()
        new, self.lines = log[self.lines:], len(log)
        for line in [] if may_complain else new:
            if any(word in line for word in COMPLAINTS):
                raise Failed(f"the guest's kernel: {line}")

    def mount(self, transport, family, tcp_port, at="/mnt", options=""):
        """Mount our server."""
        known = f"vers=3,nolock,rsize={BLOCK},wsize={BLOCK},mountaddr={HOST}," \
                f"mountport={tcp_port},mountproto=tcp{options}"
        if transport == "tcp":
            where, more = f"{HOST}:/", f"proto=tcp,port={tcp_port}"
        else:
            host = {4: OURS[4], 6: f"[{OURS[6]}]"}[family]
            where = f"{host}:/"
            more = f"proto={'rdma' if family == 4 else 'rdma6'},port={RDMA_PORT}"
        self.guest.run(f"mkdir -p {at} && mount -t nfs -o {known},{more} '{where}' {at}", 30)

    def unmount(self, at="/mnt"):
        """Unmount."""
        self.guest.run(f"umount {at}", 30)

    def mountstats(self, what, at):
        """The numbers of one line about a mount."""
        return numbers(self.guest.run("cat /proc/self/mountstats"), what, at)

    def xprt(self, at="/mnt"):
        """Counters of the transport of a mount over RDMA."""
        return dict(zip(XPRT, self.mountstats("xprt:\trdma", at)))

    def direct(self, at="/mnt"):
        """Octets that programs have asked for and written past the guest's cache."""
        return tuple(self.mountstats("bytes:", at)[2:4])

    def svc_rdma(self):
        """Counters of the server's transport."""
        text = self.guest.run("cd /proc/sys/sunrpc/svc_rdma && grep . rdma_stat_*")
        found = re.findall(r"rdma_stat_(\S+):(\d+)", text)
        return {name: int(value) for name, value in found}

    def cut(self, path, octets):
        """Cut the connection of RPC over RDMA when the file has so much of its octets."""
        job = self.guest.start(CUT.format(path=path, kib=octets >> 10), 60)
        if job.wait() != 0:
            raise Failed(f"nothing is cut at {octets} octets of {path}: {job.complaint()}")

    def open_connections(self):
        """Connections of RPC over RDMA that the guest's TCP has, in any state but TIME-WAIT."""
        ports = f"( sport = :{RDMA_PORT} or dport = :{RDMA_PORT} )"
        text = self.guest.run(f"ss -tnH state connected exclude time-wait '{ports}'")
        return len(text.splitlines())
