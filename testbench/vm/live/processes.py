"""Processes that end with this one, however it ends."""

import ctypes
import os
import signal
import subprocess
import time

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def _die_with_parent():
    """In the child: be killed when the parent has ended, be it by SIGKILL."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Failed(Exception):
    """A run did not do what it should."""


class Process:
    """A program with its output in a file."""

    def __init__(self, name, command, output, **environment):
        self.name, self.output = name, output
        with open(output, "wb") as file:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=file,
                stderr=subprocess.STDOUT, preexec_fn=_die_with_parent,
                env={**os.environ, **environment})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def text(self):
        """What it has printed."""
        return self.output.read_text(errors="replace")

    def said(self):
        """Its last line, for a message."""
        return (self.text().strip().splitlines() or ["it printed nothing"])[-1]

    def stop(self, how=signal.SIGTERM, seconds=10):
        """End it, and wait for that."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def wait(self, seconds):
        """Its status, when it has ended by itself."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} has not ended in {seconds} s: {self.said()}") from None

    def until(self, ready, seconds):
        """Wait until `ready()`, with the process alive."""
        wait_until(lambda: ready() or self.process.poll() is not None, seconds, f"{self.name}")
        if not ready():
            raise Failed(f"{self.name} has ended: {self.said()}")


def wait_until(ready, seconds, what):
    """Wait until `ready()`."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise Failed(f"{what}: nothing in {seconds} s")
        time.sleep(0.02)
