"""What changed since the last green `make test`.

In: the files of the tree, tracked or new, and the stamp that a green run left: their contents as
they were when it began. Out: the names of files that differ, are new or are gone; without a stamp,
those that the last commit has otherwise.
"""

import functools
import hashlib
import json
import pathlib
import subprocess

from programs import ROOT, TARGET

STAMP = TARGET / "checks" / "green.json"
TEST_BENCH = "rnic-testbench"


def contents():
    """Each file of the tree, by name, as a hash of its contents."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return {
        name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest()
        for name in listed.split("\0")
        if name and (ROOT / name).is_file()
    }


def mark_green(files):
    """All checks passed with `files`."""
    STAMP.parent.mkdir(parents=True, exist_ok=True)
    STAMP.write_text(json.dumps(files, indent=0, sort_keys=True) + "\n")


def since():
    """What `since_green` compares with, in words."""
    return "the last green `make test`" if STAMP.is_file() else "the last commit"


def since_green(files):
    """Names of files that changed since; without a green run on this machine, since the commit."""
    if STAMP.is_file():
        known = json.loads(STAMP.read_text())
        return sorted(name for name in {*files, *known} if files.get(name) != known.get(name))
    command = ["git", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return sorted(entry[3:] for entry in listed.split("\0") if entry)


@functools.cache
def workspace():
    """The packages of the workspace, as cargo has them."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked", "--offline"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    return json.loads(listed)["packages"]


def manifests():
    """Names of the packages, by folder."""
    folder = lambda package: str(pathlib.Path(package["manifest_path"]).parent.relative_to(ROOT))
    return {folder(package): package["name"] for package in workspace()}


def programs():
    """Test programs of all packages, as package and name."""
    return [
        (package["name"], target["name"])
        for package in workspace()
        for target in package["targets"]
        if target["kind"] == ["test"]
    ]


def owner(file, folders):
    """The innermost of `folders` that `file` lies in."""
    inside = [folder for folder in folders if file.startswith(folder + "/")]
    return max(inside, key=len, default=None)


def packages(files, known=None):
    """Names of the packages that some of `files` belong to."""
    known = manifests() if known is None else known
    owners = {owner(file, known) for file in files} - {None}
    return sorted(known[folder] for folder in owners)


def tests(files, known=None, every=None):
    """Test programs, as package and name, with a file among `files`; of a package with another file
    there, all its programs. Of the test bench, which has those of the whole device, only the
    first."""
    known = manifests() if known is None else known
    every = programs() if every is None else every
    found = set()
    for file in files:
        folder = owner(file, known)
        rest = file[len(folder) + 1 :].split("/") if folder else []
        if len(rest) > 1 and rest[0] == "tests":
            found.add((known[folder], rest[1].removesuffix(".rs")))
        elif folder and known[folder] != TEST_BENCH:
            found.update(each for each in every if each[0] == known[folder])
    return sorted(found)


def rooms(files):
    """Rooms of the hardware with a file among `files`, as beginnings of their tests' names; empty if
    one of the files belongs to no room, or to all."""
    found = set()
    for file in files:
        if not file.startswith("hdl/rnic/"):
            continue
        parts = file.removeprefix("hdl/rnic/src/").split("/")
        if file == "hdl/rnic/Cargo.toml" or len(parts) < 2:
            return []
        found.add("::".join(parts[: 2 if len(parts) > 2 else 1]) + "::")
    return sorted(found)
