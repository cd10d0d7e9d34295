"""Rows in which our programs talk to Linux' server."""

import itertools
import re

import counters
import headers
from processes import Failed, wait_until
from stage import SECONDS, expect, places

SIZES = [0, 1, 3, 4, 5, 1023, 1024, 1025, 4095, 4096, 4097, 12_345, 65_536, 131_072]
FEW_SIZES = [0, 5, 4097, 12_345]
# Octets of paths; each name of the deep one has 250.
LINKS = [1, 1000, 2000]
DEPTH = 20
# `nfs_copy` copies in blocks, and shorter data is inline.
BLOCK = 65_536
WRITE_CHUNK_OCTETS = 1024
READ_CHUNK_OCTETS = 1025
# Counters that say that something ran out.
SHORTAGES = ["rq_starve", "sq_starve", "rq_prod", "sq_prod"]


def counted(stage, what, run, pieces=counters.pieces_3):
    """Run it: how far the counters of Linux' transport have come, as our log of headers has it."""
    logs = len(stage.headers)
    before = stage.nfs.svc_rdma()
    run()
    after = stage.nfs.svc_rdma()
    grown = {name: after[name] - before[name] for name in after}
    for name in SHORTAGES:
        expect(f"rdma_stat_{name}", grown[name], 0)
    counts = counters.expected(itertools.chain(*map(headers.logged, stage.headers[logs:])), pieces)
    expect(f"rdma_stat of {what}", {name: grown[name] for name in counts}, counts)
    stage.facts[what] = "/".join(map(str, counts.values()))
    return counts


def pings(stage):
    """NULLs, then calls and replies that are too long for a Send."""
    row, calls = stage.row, 20
    counts = counted(stage, "NULLs", lambda: stage.ours("rpc_ping", "-C", row.calls))
    expect("what NULLs have cost Linux", counts, {"recv": row.calls, "read": 0, "write": 0})
    # A long reply is that of a listing.
    for kind, read, write in (("long-call", 1, 0), ("long-reply", 0, counters.pieces_3(0))):
        counts = counted(stage, f"{kind}s", lambda kind=kind: stage.ours(
            "rpc_ping", "-C", calls, "--wire-type", kind))
        expect(f"what {calls} of {kind} have cost Linux", counts,
               {"recv": calls, "read": calls * read, "write": calls * write})


def files(stage):
    """Files of many sizes to the server and back, and a directory's listing."""
    stage.guest.run("rm -rf /export/*")
    sizes = FEW_SIZES if stage.row.dut == "rtl" else SIZES
    grown = counted(stage, "files", lambda: [there_and_back(stage, octets) for octets in sizes])
    expect("read chunks that Linux has read", grown["read"], blocks(sizes, WRITE_CHUNK_OCTETS))
    expect("chunks that Linux has written", grown["write"], blocks(sizes, READ_CHUNK_OCTETS))
    listing(stage, stage.row.files)


def blocks(sizes, least):
    """READs or WRITEs of `nfs_copy` that have a chunk."""
    return sum(-(-octets // BLOCK) for octets in sizes if octets >= least)


def there_and_back(stage, octets):
    """One file."""
    data, digest = stage.data(octets)
    back = stage.folder / f"back{octets}"
    printed = stage.ours("nfs_copy", "put", data, f"file{octets}")
    named = re.search(r"SHA-256 (\w+)", printed).group(1)
    expect(f"SHA-256 printed of {octets} octets", named, digest)
    theirs = stage.guest.run(f"sha256sum </export/file{octets}").split()[0]
    expect(f"the server's SHA-256 of {octets} octets", theirs, digest)
    stage.ours("nfs_copy", "get", f"file{octets}", back)
    if back.read_bytes() != data.read_bytes():
        raise Failed(f"{octets} octets come back as others")


def listing(stage, count, *options):
    """Names of a directory, and of one that has none."""
    pieces = counters.pieces_4 if options else counters.pieces_3
    stage.guest.run(f"""mkdir /export/many && cd /export/many && for i in $(seq {count}); do
        echo >name-$i; done; ln -s elsewhere link; mkdir /export/empty""", SECONDS)
    # Version 4 has no names for these two.
    dots = [] if options else [".", ".."]
    for folder, others in (("many", ["link", *(f"name-{i + 1}" for i in range(count))]),
                           ("empty", [])):
        told = []
        counts = counted(stage, f"list {folder}", lambda folder=folder, told=told: told.append(
            stage.ours("nfs_copy", *options, "list", folder)), pieces)
        names = sorted(line.split()[3] for line in told[0].splitlines())
        expect(f"names of {folder}", names, sorted([*dots, *others]))
        expect("whether Linux has used the reply chunk", counts["write"] > 0, True)


def links(stage):
    """Symbolic links: one made at either end is read at the other; the longest is a chunk."""
    stage.guest.run("rm -rf /export/*")
    for octets in LINKS:
        path = ("path-" * octets)[:octets]
        grown = counted(stage, f"link {octets}", lambda path=path: stage.ours(
            "nfs_copy", "link", path, f"ours{len(path)}"))
        expect("read chunks", grown["read"], int(octets >= WRITE_CHUNK_OCTETS))
        theirs = stage.guest.run(f"readlink /export/ours{octets}").strip()
        expect(f"a path of {octets} octets", theirs, path)
        stage.guest.run(f"ln -s {path} /export/theirs{octets}")
        grown = counted(stage, f"readlink {octets}", lambda octets=octets: expect(
            "a path", stage.ours("nfs_copy", "readlink", f"theirs{octets}").strip(), path))
        expect("chunks written", grown["write"], 1)


def version_4(stage):
    """Compounds: files by two READs or a WRITE each, a long path, a long listing."""
    stage.guest.run("rm -rf /export/*")
    for octets in [*SIZES, 200_000]:
        data, digest = stage.data(octets)
        stage.guest.run(f"touch /export/file{octets}; chmod 666 /export/file{octets}")
        back = stage.folder / f"back{octets}"
        grown = counted(stage, f"put {octets}", lambda data=data, octets=octets: stage.ours(
            "nfs_copy", "--vers", 4, "put", data, f"file{octets}"))
        expect("read chunks", grown["read"], blocks([octets], WRITE_CHUNK_OCTETS))
        theirs = stage.guest.run(f"sha256sum </export/file{octets}").split()[0]
        expect(f"the server's SHA-256 of {octets} octets", theirs, digest)
        grown = counted(stage, f"get {octets}", lambda back=back, octets=octets: stage.ours(
            "nfs_copy", "--vers", 4, "get", f"file{octets}", back))
        # Of two READs a compound the second one may have less than it has asked for.
        if grown["write"] < blocks([octets], 1):
            raise Failed(f"get of {octets} octets: {grown['write']} write chunks")
        if back.read_bytes() != data.read_bytes():
            raise Failed(f"{octets} octets come back as others")
    stage.facts.clear()
    deep(stage)
    listing(stage, stage.row.files, "--vers", 4)


def deep(stage):
    """A path of which one compound of more than a Send looks all names up."""
    names = [f"{depth:02}-" + "x" * 247 for depth in range(DEPTH)]
    # From below, as tools of the guest have no paths of this length.
    inner = zip(names[::-1], names[-2::-1])
    stage.guest.run(f"set -e; cd /export; mkdir {names[-1]}; echo deep >{names[-1]}/file\n"
                    + "".join(f"mkdir {name}; mv {other} {name}/\n" for other, name in inner))
    path, back = "/".join([*names, "file"]), stage.folder / "deep"
    grown = counted(stage, "deep", lambda: stage.ours(
        "nfs_copy", "--vers", 4, "get", path, back))
    # Two compounds: the long call for the handle, and the READ.
    expect("what the deepest file has cost Linux", grown, {"recv": 2, "read": 1, "write": 1})
    expect("the deepest file", back.read_text(), "deep\n")
    stage.guest.run("set -e; cd /export\n" + "".join(
        f"mv {name}/{other} .; rmdir {name}\n" for name, other in zip(names, names[1:])))


def cut(stage):
    """A copy whose connection is cut."""
    row = stage.row
    stage.guest.run("rm -rf /export/*")
    data, digest = stage.data(row.octets)
    with stage.start("nfs_copy", "put", data, "file") as process:
        for octets in places(row.octets, row.cuts - row.read_cuts):
            stage.nfs.cut("/export/file", octets)
        ends_well(process, row)
    theirs = stage.guest.run("sha256sum </export/file").split()[0]
    expect("the server's SHA-256", theirs, digest)
    back = stage.folder / "back"
    with stage.start("nfs_copy", "get", "file", back) as process:
        for octets in places(row.octets, row.read_cuts):
            process.until(lambda octets=octets: read(stage.headers[-1]) >= octets, row.seconds)
            stage.nfs.cut("/export/file", 0)
        ends_well(process, row)
    if back.read_bytes() != data.read_bytes():
        raise Failed("the octets come back as others")


def ends_well(process, row):
    """A copy that was cut is whole in the end."""
    if process.wait(row.seconds) != 0:
        raise Failed(f"nfs_copy: {process.said()}")


def read(log):
    """Octets that replies have brought by write chunks so far."""
    lines = headers.logged(log) if log.exists() else []
    return sum(octets for line in lines if line.startswith("received ")
               for kind, octets in counters.segments(line) if kind == "write")


def watch(stage, octets):
    """Wait until so much is stored."""
    stage.finish(stage.shell(f"""
        until [ "$(du -k /export/file 2>/dev/null | cut -f 1)" -ge {octets >> 10} ] 2>/dev/null; do
            usleep 10000; done""", 40))


def killed(stage):
    """Our client is killed in mid-copy: the next one can copy, and Linux keeps nothing of it."""
    row, idle, clean = stage.row, stage.guest.held(), stage.found()
    stage.guest.run("rm -rf /export/*")
    data, _ = stage.data(row.octets)
    with stage.start("nfs_copy", "put", data, "file") as process:
        watch(stage, row.octets // 4)
        expect("whether the guest has nothing of a client", stage.guest.held() == idle, False)
        stage.kill(process)
    expect("what the next program has in use", stage.found(), clean)
    there_and_back(stage, 131_072)
    expect("what the one after the next client has in use", stage.found(), clean)
    wait_until(lambda: stage.nfs.open_connections() == 0, 30, "connections that stay")
    stage.frees(idle)
