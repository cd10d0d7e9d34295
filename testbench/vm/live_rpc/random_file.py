"""Rows of exerciser.c: random operations on a file that Linux has mounted, against a copy.

    SEED=7 make live-rpc ROWS="random"       another list of operations
"""

import os
import re
import subprocess

from linux_client import across, judge
from packages import need
from processes import Failed
from stage import HERE, expect, facts, in_guest

SOURCE = HERE / "exerciser.c"
SEED = int(os.environ.get("SEED", "1"), 0)
# Of a second list, whose last operation finds an octet changed: what the exerciser must notice.
SPOILT_OPERATIONS = 20
NOTICED = rf"seed {SEED}, operation \d+, .*: octet \d+ is [0-9a-f]{{2}}, not [0-9a-f]{{2}}$"


def program(stage):
    """The exerciser, in the guest."""
    need("gcc", "gcc", "it compiles the exerciser of files")
    path = stage.guest.folder / "exerciser"
    if not path.exists():
        made = subprocess.run(["gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-static",
                               "-o", path, SOURCE], capture_output=True, text=True)
        if made.returncode != 0:
            raise Failed(f"{SOURCE.name} cannot be compiled: {made.stderr.strip()[-200:]}")
        stage.guest.run(f"cp {in_guest(path)} /bin/exerciser")


def start(stage, path, seed, *more):
    """Operations on a file: a job."""
    words = " ".join(map(str, (path, seed, *more)))
    return stage.shell(f"exec exerciser {words}", stage.row.seconds)


def ended(job, operations):
    """What it has counted; fails if there was a difference."""
    if job.wait() != 0:
        said = job.printed().strip().splitlines() or ["it printed nothing"]
        raise Failed(f"status {job.status()}: {said[-1]}")
    found = facts(job.printed())
    expect("operations", found["operations"], str(operations))
    return found


def notices(stage, path):
    """An exerciser that finds no fault must be one that can."""
    job = start(stage, path, SEED, SPOILT_OPERATIONS, SPOILT_OPERATIONS)
    if job.wait() != 1 or not re.search(NOTICED, job.printed(), re.MULTILINE):
        raise Failed(f"an octet was changed: status {job.status()}: {job.complaint()}")


def one_file(stage):
    """A list of operations over a mount, and what the mount's counters say then."""
    row = stage.row
    program(stage)
    with stage.server() as (port, _):
        stage.nfs.mount(row.transport, row.family, port)
        found = ended(start(stage, "/mnt/random", SEED, row.operations), row.operations)
        stage.facts.update({"seed": SEED, "operations": row.operations, "octets": found["size"]})
        notices(stage, "/mnt/spoilt")
        if row.transport == "rdma":
            across(stage, port, "random", stage.guest.run("sha256sum </mnt/random").split()[0])
            stage.guest.run("ls /mnt")
            judge(stage)
        stage.nfs.unmount()


def two_mounts(stage):
    """Two mounts whose files are written at once: Linux has one connection for both."""
    row, seeds = stage.row, {"/mnt": SEED, "/two": SEED + 1}
    program(stage)
    with stage.server() as (port, _):
        for at in seeds:
            stage.nfs.mount(row.transport, row.family, port, at, ",nosharecache")
        jobs = [start(stage, f"{at}/random{seed}", seed, row.operations)
                for at, seed in seeds.items()]
        for job in jobs:
            ended(job, row.operations)
        # What one has written the other one has, too.
        sums = {at: stage.guest.run(f"cd {at} && sha256sum random*") for at in seeds}
        expect("files of the second mount", sums["/two"], sums["/mnt"])
        for digest, name in (line.split() for line in sums["/mnt"].splitlines()):
            across(stage, port, name, digest)
        judge(stage)
        for at in seeds:
            stage.nfs.unmount(at)
