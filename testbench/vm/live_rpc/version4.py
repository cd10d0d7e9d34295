"""The row in which our client speaks NFSv4.0 with Linux' server: compounds."""

from our_client import FEW_SIZES, SIZES, counted, listing, there_and_back
from processes import Failed
from stage import expect

VERSION = ("--vers", 4)
# A path whose compound is longer than a Send: its call is a chunk at position 0. As a path of Linux
# it has less than 4,096 octets.
DEEP = "/".join(letter * 250 for letter in "abcdefghijklmnop")
DEEP_OCTETS = 20_000


def compounds(stage):
    """Files of many sizes there and back, two READs in a compound; names; a long path; the root."""
    stage.guest.run("rm -rf /export/*")
    sizes = FEW_SIZES if stage.row.dut == "rtl" else SIZES
    # Nothing is opened, so what is written is there.
    stage.guest.run("cd /export; " + "; ".join(f": >file{octets}" for octets in sizes)
                    + "; chmod 666 *")
    counted(stage, "files", lambda: [there_and_back(stage, octets, *VERSION) for octets in sizes])
    grown = counted(stage, "deep", lambda: deep(stage))
    if not grown["read"]:
        raise Failed("a call of more than 4,096 octets has no chunk that Linux has read")
    listing(stage, stage.row.files, *VERSION, dots=())
    names = stage.ours("nfs_copy", *VERSION, "list", handle=False)
    expect("the root has it", "many" in names.split(), True)
    refused(stage)


def deep(stage):
    """A file behind many directories."""
    data, _ = stage.data(DEEP_OCTETS)
    back = stage.folder / "deep"
    # As long a path is none that a shell's command can have in one piece.
    names = DEEP.split("/")
    walk = "; ".join(f"mkdir {name}; cd {name}" for name in names)
    stage.guest.run(f"cd /export; {walk}; cp /host/{data.name} file")
    stage.ours("nfs_copy", *VERSION, "get", f"{DEEP}/file", back)
    expect("what is deep", back.read_bytes(), data.read_bytes())


def refused(stage):
    """A name that is not there is said so."""
    with stage.start("nfs_copy", *VERSION, "get", "nobody", stage.folder / "none") as process:
        process.wait(20)
        said = process.said()
    if "NFS4ERR_NOENT" not in said:
        raise Failed(f"a file that is not there: {said}")
