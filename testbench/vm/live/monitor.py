"""What a program of ours has in use, asked at its monitor (`--monitor`; `rnic_driver::monitor`).

A client sends one line and gets one line, a JSON object.
"""

import json
import socket
import time

from processes import Failed

SECONDS = 5


def ask(path, what):
    """An answer."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(SECONDS)
        client.connect(str(path))
        client.sendall(f"ferrowarp-monitor/1 {what}\n".encode())
        with client.makefile() as answer:
            return json.loads(answer.readline())[what.split()[0]]


def in_use(path):
    """Connections, regions, free pages of packet memory, and what each shared pool has in use."""
    info = ask(path, "info")
    counts = {name: info[name] for name in
              ("connections_open", "regions_registered", "free_pages")}
    return counts | {name: pool["used"] for name, pool in info["pools"].items()}


def expect(path, before, seconds):
    """Wait until as much is in use as before."""
    end = time.monotonic() + seconds
    while (found := in_use(path)) != before:
        if time.monotonic() > end:
            raise Failed(f"our end was to have {before} in use again, and has {found}")
        time.sleep(0.02)
