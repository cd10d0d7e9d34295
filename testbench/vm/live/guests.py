"""The hub that stays, and a guest that is booted again when a row has failed."""

import time

from machine import Guest
from processes import Process


class Guests:
    """One guest at a time: `wires` are the hub's ports, the guest's and the one for others.

    `lines` are more of what `Guest` has.
    """

    def __init__(self, programs, folder, packages, image, log, **lines):
        self.folder, self.made, self.log = folder, (packages, image), log
        self.lines, self.programs = lines, programs
        self.wires, self.boots, self.guest = (folder / "guest", folder / "wire"), 0, None
        ports = [word for wire in self.wires for word in ("--port", f"unix:{wire}")]
        self.hub = Process("rnic hub", [programs / "rnic", "hub", *ports], folder / "hub.log")

    def __enter__(self):
        try:
            self.hub.until(lambda: all(wire.exists() for wire in self.wires), 10)
        except BaseException:
            self.hub.stop()
            raise
        return self

    def __exit__(self, *_):
        self.drop()
        self.hub.stop()

    def drop(self):
        """Do without this guest."""
        if self.guest:
            self.guest.process.stop()
        self.guest = None

    def booted(self):
        """A guest; the first one if it can be."""
        if self.guest is None:
            self.boots += 1
            folder = self.folder / f"boot{self.boots}"
            folder.mkdir()
            begun = time.monotonic()
            self.guest = Guest(*self.made, folder, self.wires[0], **self.lines)
            seconds = time.monotonic() - begun
            self.log.note(f"Linux {self.guest.kernel} is up in {seconds:.1f} s")
        return self.guest
