"""The guest's own shell, for a person: Linux' RDMA programs, against ours in another terminal.

    this terminal --> SHELL socket --> QEMU, third serial line --> sh, on /dev/ttyS2
                  <--              <--                         <--

In: octets of standard input, each as it is typed where that is a terminal, so that Ctrl-C reaches
the program in the guest. Out: what the guest prints. It ends when the guest's shell has ended.

Environment and status are those of `make live`.
"""

import contextlib
import os
import selectors
import shutil
import socket
import sys
import termios
import tty

import verb
from guests import Guests
from machine import ADDRESS
from report import Log
from verb import PROGRAMS, ROOT

FOLDER = ROOT / "build" / "guest"
LOG = Log("guest", FOLDER / "log")
CHUNK = 4096
PROMPT = b"# "
ASK_SECONDS = 0.3
# What Ctrl-D types.
END_OF_TRANSMISSION = b"\x04"


def greeting(kernel, rping, wire):
    """What to type, and where."""
    return f"""\
Linux {kernel} with siw at {ADDRESS[4]} and {ADDRESS[6]}. In another terminal, for instance:
    {rping} sim:model,unix-connect:{wire} -s --own 192.0.2.1/24
and here:
    rping -c -a 192.0.2.1 -C 10 -v
Ctrl-D ends the guest.
"""


@contextlib.contextmanager
def raw(terminal):
    """Each key as it comes; nothing if it is no terminal."""
    if not os.isatty(terminal):
        yield
        return
    before = termios.tcgetattr(terminal)
    try:
        tty.setraw(terminal)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def prompt(line):
    """Wait for the shell's prompt. What comes to a serial line before it is open is lost."""
    line.settimeout(ASK_SECONDS)
    seen = b""
    while PROMPT not in seen:
        line.sendall(b"\n")
        with contextlib.suppress(TimeoutError):
            seen += line.recv(CHUNK)
    # A prompt for each line that it was asked with.
    with contextlib.suppress(TimeoutError):
        while octets := line.recv(CHUNK):
            seen += octets
    line.settimeout(None)
    return seen.splitlines()[-1]


def talk(line, source, sink):
    """Carry octets from the file `source` to the guest and back to `sink`, until the guest ends."""
    with selectors.DefaultSelector() as selector:
        selector.register(line, selectors.EVENT_READ)
        selector.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is line:
                    octets = line.recv(CHUNK)
                    if not octets:
                        return
                    os.write(sink, octets)
                    continue
                octets = os.read(source, CHUNK)
                if not octets:
                    selector.unregister(source)
                line.sendall(octets or END_OF_TRANSMISSION)


def main(_):
    """Boot, say what can be typed, and talk."""
    verb.expect(("rnic", "rping", "bandwidth"), "guest")
    parts = verb.parts(LOG)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Guests(PROGRAMS, FOLDER, *parts, LOG, has_shell=True) as guests:
        guest = guests.booted()
        paths = (os.path.relpath(path) for path in (PROGRAMS / "rping", guests.wires[1]))
        print(greeting(guest.kernel, *paths), end="", flush=True)
        with socket.socket(socket.AF_UNIX) as line, raw(sys.stdin.fileno()):
            line.connect(str(guest.shell))
            os.write(sys.stdout.fileno(), prompt(line))
            talk(line, sys.stdin.fileno(), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    verb.end_with(main, "guest")
