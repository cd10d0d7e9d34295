"""Debian's packages, unpacked without installing them: QEMU, a kernel, what runs in the guest.

In: a mirror that this machine's apt knows. Out: a folder of `.tools/live`, whose name changes with
this file:

    root/       everything unpacked: QEMU, programs of the guest and their libraries, kernel headers
    siw/        the source of the software iWARP driver, which Debian does not build
    versions    lines `package version`

Nothing is installed, and root is not needed. apt gets a state of its own, in which no package is
installed, so each that is needed comes along.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess

SUITE = "bookworm"
KERNEL = "6.1"
KEYS = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
FREE_MIB = 1500
# With what they depend on.
PROGRAMS = [
    "qemu-system-x86",
    "rdmacm-utils",
    "ibverbs-providers",
    "perftest",
    "iproute2",
    # What a program of the guest's is compiled with.
    "librdmacm-dev",
    "libc6-dev",
    # lockd of the kernel's NFS server does not start without it.
    "rpcbind",
    # A tool of the kernel's build needs it.
    "libelf1",
]
# What is in the table of versions.
NAMED = ["linux-image", "rdmacm-utils", "perftest", "qemu-system-x86", "busybox-static",
         "rpcbind"]
# Of the kernel's package: itself, and the modules of these folders.
KERNEL_FOLDERS = ["drivers/infiniband", "drivers/net", "drivers/virtio", "net", "fs", "lib",
                  "crypto"]
KERNEL_FILES = ["*/vmlinuz-*", *(f"*/kernel/{folder}/*" for folder in KERNEL_FOLDERS)]
SIW = "drivers/infiniband/sw/siw"


class Missing(Exception):
    """Something that this machine does not have."""


def need(command, package, use):
    """Fail unless the command is there."""
    if shutil.which(command) is None:
        raise Missing(f"'{command}' is missing; {use} (Debian package: {package})")


def key():
    """Of what this file makes."""
    return hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()[:12]


def mirror():
    """Where Debian's packages are: DEBIAN_MIRROR, or what apt of this machine knows."""
    known = os.environ.get("DEBIAN_MIRROR")
    if not known:
        targets = ["Created-By: Packages", "Origin: Debian", "Label: Debian"]
        command = ["apt-get", "indextargets", "--format", "$(SITE)", *targets]
        listed = subprocess.run(command, capture_output=True, text=True)
        known = (listed.stdout.split() or [""])[0]
    if not known:
        raise Missing("apt of this machine knows no Debian mirror; name one in DEBIAN_MIRROR")
    return known


class Apt:
    """apt with a state of its own."""

    def __init__(self, folder, site, log):
        self.folder, self.log = folder, log
        for part in ("root", "lists/partial", "archives/partial"):
            (folder / part).mkdir(parents=True)
        (folder / "status").touch()
        source = f"deb [arch=amd64 signed-by={KEYS}] {site} {SUITE} main\n"
        (folder / "sources.list").write_text(source)
        (folder / "apt.conf").write_text(f'''
Dir::Etc::SourceList "{folder}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State "{folder}";
Dir::State::Lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}";
Dir::Cache::archives "{folder}/archives";
APT::Architecture "amd64";
APT::Architectures {{ "amd64"; }};
APT::Sandbox::User "";
APT::Install-Recommends "false";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
''')

    def run(self, *command):
        """A command of apt; its output."""
        environment = {**os.environ, "APT_CONFIG": str(self.folder / "apt.conf")}
        ran = subprocess.run(command, capture_output=True, text=True, env=environment,
                             cwd=self.folder / "archives")
        self.log.write(f"{' '.join(command)}\n{ran.stdout}{ran.stderr}")
        if ran.returncode != 0:
            last = (ran.stderr.strip().splitlines() or ["no message"])[-1]
            raise Missing(f"the packages of {SUITE} cannot be fetched: {last}; see {self.log.name}."
                          " Check the network, or name another mirror in DEBIAN_MIRROR.")
        return ran.stdout

    def depends(self, package):
        """The first package that this one needs."""
        lines = self.run("apt-cache", "depends", "--important", package).splitlines()
        return next(line.split()[-1] for line in lines if "Depends:" in line)

    def version(self, package):
        """The version that the suite has."""
        shown = self.run("apt-cache", "show", "--no-all-versions", package).splitlines()
        return next(line.split()[1] for line in shown if line.startswith("Version:"))


def download(apt):
    """Everything into the folder's archives."""
    apt.run("apt-get", "-q", "update")
    image, headers = (apt.depends(f"linux-{part}-amd64") for part in ("image", "headers"))
    if not image.startswith(f"linux-image-{KERNEL}."):
        raise Missing(f"{SUITE} has {image}, where Linux {KERNEL} was expected")
    version = apt.version(image)
    apt.run("apt-get", "-q", "-y", "--download-only", "install", *PROGRAMS)
    exact = [image, headers, headers.replace("-amd64", "-common"), f"linux-source-{KERNEL}"]
    apt.run("apt-get", "-q", "download", "busybox-static", f"linux-kbuild-{KERNEL}",
            *(f"{package}={version}" for package in exact))


def unpack(folder, log):
    """The archives into `root`, the source of the driver into `siw`."""
    def shell(line):
        ran = subprocess.run(["bash", "-c", "set -e; " + line], stdout=log, stderr=log, cwd=folder)
        if ran.returncode != 0:
            raise Missing(f"a package cannot be unpacked; see {log.name}")

    for package in sorted((folder / "archives").glob("*.deb")):
        if package.name.startswith("linux-source"):
            # Closes the pipe when it has what it wants, which those before it complain of.
            name = f"linux-source-{KERNEL}"
            shell(f"dpkg-deb --fsys-tarfile {package} | tar -xO ./usr/src/{name}.tar.xz"
                  f" | xz -dc | tar -x --occurrence=1 {name}/{SIW}")
            (folder / name / SIW).rename(folder / "siw")
            shutil.rmtree(folder / name)
        elif package.name.startswith("linux-image"):
            files = " ".join(f"'{pattern}'" for pattern in KERNEL_FILES)
            shell(f"dpkg-deb --fsys-tarfile {package} | tar -x -C root --wildcards {files}")
        else:
            shell(f"dpkg-deb -x {package} root")


def versions(folder):
    """Lines of the packages that are named."""
    lines = []
    for package in sorted((folder / "archives").glob("*.deb")):
        name, version, _ = package.name.split("_")
        if name.startswith(tuple(NAMED)):
            lines.append(f"{name} {version.replace('%3a', ':')}")
    return "\n".join(lines) + "\n"


def fetch(tools, say):
    """The folder with everything, made if it is not there."""
    folder = tools / f"packages-{key()}"
    if folder.is_dir():
        return folder
    need("apt-get", "apt", "it fetches QEMU, a kernel and programs, which are Debian packages")
    need("dpkg-deb", "dpkg", "it unpacks Debian packages")
    need("xz", "xz-utils", "it unpacks the kernel's source")
    if not KEYS.exists():
        raise Missing(f"{KEYS} is missing; it is what Debian's packages are checked with"
                      " (Debian package: debian-archive-keyring)")
    tools.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(tools).free >> 20
    if free < FREE_MIB:
        raise Missing(f"{tools} has {free} MiB of free disk, unpacking packages takes {FREE_MIB}")
    site = mirror()
    say(f"fetching the packages of {SUITE} into {tools}, once")
    new = tools / "new"
    shutil.rmtree(new, ignore_errors=True)
    with open(tools / "packages.log", "w") as log:
        download(Apt(new, site, log))
        unpack(new, log)
    (new / "versions").write_text(versions(new))
    for part in ("archives", "lists"):
        shutil.rmtree(new / part)
    new.rename(folder)
    # Of former editions; what is kept is by content.
    for old in tools.glob("packages-*"):
        if old != folder:
            shutil.rmtree(old)
    return folder
