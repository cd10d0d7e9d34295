"""The guest: QEMU with an Ethernet device on a hub's socket, and a shell for commands.

    host                                     guest
      NUMBER.sh in the folder    --9p-->
      "NUMBER SECONDS\\n"         --ttyS1-> runs it
                                 <-9p---     NUMBER.out and .err, then NUMBER.status

With `has_host` a second Ethernet device reaches the host's TCP at 10.0.2.2, by QEMU's user
networking; with `has_shell` a third serial line, the socket `shell`, has a shell for a person.
QEMU emulates: KVM is not used. Its `-netdev stream` never connects again, so whatever is at the
other end of the socket has to stay.
"""

import re
import socket

from image import loader
from processes import Failed, Process, wait_until

ADDRESS = {4: "192.0.2.2", 6: "fd00::2"}
MEMORY_MIB = 512
BOOT_SECONDS = 120
# In the kernel's log.
FAULTS = ["BUG", "Oops", "WARNING:", "RIP:"]


class Job:
    """A command that runs in the guest."""

    def __init__(self, guest, number, seconds):
        self.number, self.folder, self.seconds = number, guest.folder, seconds
        self.guest = guest

    def printed(self):
        """What it has printed so far."""
        return self._file("out")

    def complaint(self):
        """Its last words, for a message."""
        lines = (self.printed() + self._file("err")).strip().splitlines()
        return lines[-1][-200:] if lines else "it printed nothing"

    def _file(self, kind):
        path = self.folder / f"{self.number}.{kind}"
        return path.read_text(errors="replace") if path.exists() else ""

    def status(self):
        """Its status, or None while it runs."""
        path = self.folder / f"{self.number}.status"
        return int(path.read_text()) if path.exists() else None

    def wait(self):
        """Its status; it is killed when its time is over."""
        self.guest.process.until(lambda: self.status() is not None, self.seconds + 15)
        return self.status()


class Guest:
    """A guest that has booted."""

    def __init__(self, packages, image, folder, wire, has_host=False, has_shell=False):
        self.folder, self.count, self.shell = folder / "host", 0, folder / "shell"
        self.folder.mkdir()
        root = packages / "root"
        commands = folder / "commands"
        self.console = folder / "console"
        host = ["-netdev", "user,id=host",
                "-device", "virtio-net-pci,netdev=host,romfile="] if has_host else []
        shell = ["-chardev", f"socket,id=shell,path={self.shell},server=on,wait=off",
                 "-serial", "chardev:shell"] if has_shell else []
        self.process = Process("QEMU", [
            *loader(root), root / "usr/bin/qemu-system-x86_64",
            "-L", root / "usr/share/qemu", "-L", root / "usr/share/seabios",
            "-accel", "tcg", "-machine", "q35", "-cpu", "max", "-m", MEMORY_MIB,
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-serial", f"file:{self.console}",
            "-chardev", f"socket,id=commands,path={commands},server=on,wait=off",
            "-serial", "chardev:commands", *shell,
            "-netdev", f"stream,id=net,server=off,addr.type=unix,addr.path={wire}",
            "-device", "virtio-net-pci,netdev=net,mac=52:54:00:00:02:02,romfile=", *host,
            "-fsdev", f"local,id=host,path={self.folder},security_model=none",
            "-device", "virtio-9p-pci,fsdev=host,mount_tag=host",
            "-kernel", next((root / "boot").glob("vmlinuz-*")), "-initrd", image,
            "-append", "console=ttyS0 panic=-1 quiet" + " shell" * has_shell,
        ], folder / "qemu.log", QEMU_MODULE_DIR=str(root / "usr/lib/x86_64-linux-gnu/qemu"))
        try:
            up = self.folder / "up"
            self.process.until(up.exists, BOOT_SECONDS)
            wait_until(lambda: up.read_text(), 5, "the guest")
            self.kernel = up.read_text().strip()
            self.line = socket.socket(socket.AF_UNIX)
            self.line.connect(str(commands))
        except BaseException:
            self.process.stop()
            raise
        complaints = [line for line in self.console.read_text(errors="replace").splitlines()
                      if line.startswith("failed: ")]
        if complaints:
            self.process.stop()
            raise Failed(f"the guest: {complaints[0]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()

    def start(self, command, seconds):
        """Run a command of the guest's shell."""
        self.count += 1
        (self.folder / f"{self.count}.sh").write_text(f"{command}\n")
        self.line.sendall(f"{self.count} {seconds}\n".encode())
        return Job(self, self.count, seconds)

    def run(self, command, seconds=20):
        """Run it, and return what it has printed."""
        job = self.start(command, seconds)
        if job.wait() != 0:
            raise Failed(f"in the guest: {command}: status {job.status()}: {job.complaint()}")
        return job.printed()

    def parameters(self, values):
        """Set parameters of siw; those not named get their stock values."""
        stock = {"mpa_version": 2, "mpa_crc_required": "N", "mpa_crc_strict": "N",
                 "peer_to_peer": "N", "rtr_type": RTR["any"], "keepalive_s": 0}
        lines = [f"echo {value} >/sys/module/siw/parameters/{name}"
                 for name, value in {**stock, **values}.items()]
        self.run("set -e\n" + "\n".join(lines))

    def check(self):
        """Fail if the kernel has met a fault of its own."""
        for line in self.run("dmesg").splitlines():
            if any(word in line for word in FAULTS):
                raise Failed(f"the guest's kernel: {line}")

    def objects(self):
        """How many queue pairs, regions and the like its RDMA has."""
        return self.run("rdma resource show siw0").strip()

    def held(self):
        """The same without contexts: a server that has had a client keeps the device open."""
        return re.sub(r" ctx \d+", "", self.objects())

    def wait_listening(self, port, job, seconds=20):
        """Wait until a TCP port of the guest listens."""
        listening = (f"until grep -qi ':{port:04X} 0*:0000 0A' /proc/net/tcp /proc/net/tcp6; do"
                     " usleep 50000; done")
        if self.start(listening, seconds).wait() != 0 or job.status() is not None:
            raise Failed(f"nothing listens in the guest: {job.complaint()}")


# Kinds of ready-to-receive messages that siw offers: bits of the Request, in the guest's order.
RTR = {"write": 0x0080, "read": 0x0040, "any": 0x00c0}
