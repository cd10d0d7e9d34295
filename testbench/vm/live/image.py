"""The guest's file system: busybox, modules of the kernel, siw, programs with their libraries.

In: what packages.py has unpacked. Out: `.tools/live/guest-KEY.gz`, an initramfs, whose key changes
with this file, `init` and the packages.

siw is built with its constants as parameters of the module, so that one boot serves every start-up:
a line `const bool peer_to_peer;` becomes `bool peer_to_peer;` and a `module_param` of it.
"""

import gzip
import hashlib
import pathlib
import re
import shutil
import subprocess

from packages import Missing, need

HERE = pathlib.Path(__file__).resolve().parent
# Constants of siw_main.c.
SWITCHES = ["zcopy_tx", "try_gso", "mpa_crc_required", "mpa_crc_strict", "siw_tcp_nagle",
            "peer_to_peer"]
# What is not a bool: file, text before the name, name, type of the parameter.
NUMBERS = [
    ("siw_main.c", "u_char", "mpa_version", "byte"),
    ("siw_cm.c", "static __be16", "rtr_type", "ushort"),
]
# Modules, before which those they depend on are loaded; siw is the last.
MODULES = ["virtio_pci", "virtio_net", "9p", "9pnet_virtio", "crc32c_generic", "ib_uverbs",
           "rdma_ucm"]
# Those of `make live-rpc`, which loads them itself; the last is for `ss --kill`.
NFS_MODULES = ["rpcrdma", "nfsv3", "nfsd", "tcp_diag"]
PROGRAMS = [
    "usr/bin/rping",
    "usr/bin/ib_send_bw",
    "usr/bin/ib_write_bw",
    "usr/bin/ib_read_bw",
    "bin/ip",
    "usr/bin/rdma",
    "bin/ss",
    "sbin/rpcbind",
]
# The second is what a thread that ends looks for.
LIBRARIES = [
    "usr/lib/x86_64-linux-gnu/libibverbs/libsiw-rdmav34.so",
    "lib/x86_64-linux-gnu/libgcc_s.so.1",
]
FILES = ["etc/libibverbs.d/siw.driver", "etc/netconfig"]
# Added to siw_cm.c: siw's sockets have no keepalive, and nobody else can ask them for it.
KEEPALIVE = """
static uint keepalive_s;
module_param(keepalive_s, uint, 0644);

static void set_keepalive(struct sock *sk)
{
	if (!keepalive_s)
		return;
	sock_set_keepalive(sk);
	tcp_sock_set_keepidle(sk, keepalive_s);
	tcp_sock_set_keepintvl(sk, keepalive_s);
}
"""
# Programs of this folder, and what they are linked with.
OWN = ["faulty.c", "bandwidth.c"]
OWN_LIBRARIES = ["-lrdmacm", "-libverbs"]


def key(packages):
    """Of what this file makes."""
    digest = hashlib.sha256(packages.name.encode())
    for path in (pathlib.Path(__file__), HERE / "init", *(HERE / name for name in OWN)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def replaced(text, pattern, new, name):
    """`text` with the one line that matches replaced."""
    text, count = re.subn(pattern, new, text, flags=re.M)
    if count != 1:
        raise Missing(f"siw's source has {count} lines that define {name}, where one was expected")
    return text


def with_parameters(folder):
    """Make siw's constants parameters of the module, in place."""
    header, main = folder / "siw.h", folder / "siw_main.c"
    for name in SWITCHES:
        text = replaced(main.read_text(), rf"^const (bool {name}\b[^;]*;)$",
                        rf"\1\nmodule_param({name}, bool, 0644);", name)
        main.write_text(text)
        text = replaced(header.read_text(), rf"^extern const (bool {name};)$", r"extern \1", name)
        header.write_text(text)
    for file, kind, name, parameter in NUMBERS:
        text = replaced((folder / file).read_text(), rf"^({kind} {name}\b[^;]*;)$",
                        rf"\1\nmodule_param({name}, {parameter}, 0644);", name)
        (folder / file).write_text(text)
    add_keepalive(folder / "siw_cm.c")


def add_keepalive(file):
    """Have both kinds of sockets, opened and accepted, set it where they set TCP_NODELAY."""
    text = replaced(file.read_text(), r'^(#include "siw_cm\.h"\n)',
                    lambda found: found[1] + KEEPALIVE, "the place of keepalive")
    text, count = re.subn(r"^(\t+)(tcp_sock_set_nodelay\((.*)\);)$",
                          r"\1\2\n\tset_keepalive(\3);", text, flags=re.M)
    if count != 2:
        raise Missing(f"siw's source sets up {count} kinds of sockets, where two were expected")
    file.write_text(text)


def build_siw(packages, work, log):
    """The module, built out of tree."""
    need("make", "make", "it builds siw")
    need("gcc", "gcc", "it compiles siw")
    need("strip", "binutils", "it takes debug information out of siw")
    source = work / "siw"
    shutil.copytree(packages / "siw", source)
    with_parameters(source)
    headers = next((packages / "root/usr/src").glob("linux-headers-*-amd64"))
    # It names the other half of the headers by where it would be installed.
    include = (headers / "Makefile").read_text().split()[-1]
    common = packages / "root/usr/src" / pathlib.Path(include).parent.name
    (headers / "Makefile").write_text(f"include {common}/Makefile\n")
    library = packages / "root/usr/lib/x86_64-linux-gnu"
    tools = work / "libraries"
    tools.mkdir()
    for name in ("libelf.so.1", "libz.so.1"):
        found = [library / name, packages / "root/lib/x86_64-linux-gnu" / name]
        shutil.copy(next(path for path in found if path.exists()), tools)
    command = ["make", "-C", str(headers), f"M={source}", "CONFIG_RDMA_SIW=m", "CC=gcc", "modules"]
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LD_LIBRARY_PATH": str(tools)}
    built = subprocess.run(command, stdout=log, stderr=log, env=environment)
    if built.returncode != 0:
        raise Missing(f"siw cannot be built; see {log.name}")
    subprocess.run(["strip", "-g", str(source / "siw.ko")], check=True)
    return source / "siw.ko"


def build_own(root, work, log):
    """The guest's own programs, compiled with the packages' headers and libraries alone."""
    programs = []
    for name in OWN:
        programs.append(work / pathlib.Path(name).stem)
        command = ["gcc", f"--sysroot={root}", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror",
                   "-o", str(programs[-1]), str(HERE / name), *OWN_LIBRARIES]
        if subprocess.run(command, stdout=log, stderr=log).returncode != 0:
            raise Missing(f"{name} cannot be compiled; see {log.name}")
    return programs


def depends(module):
    """The names of the modules that this one needs."""
    found = re.search(rb"\0depends=([^\0]*)\0", module.read_bytes())
    return [name for name in found.group(1).decode().split(",") if name] if found else []


def in_order(root, siw, names, order):
    """Files of the modules, each after those it needs; without those that are in `order`."""
    known = {path.stem.replace("-", "_"): path for path in root.rglob("*.ko")}
    known["siw"], before = siw, len(order)

    def add(name):
        name = name.replace("-", "_")
        if name not in known:
            raise Missing(f"the kernel's package has no module {name}")
        for other in depends(known[name]):
            add(other)
        if known[name] not in order:
            order.append(known[name])

    for name in names:
        add(name)
    return order[before:]


def copy_modules(root, siw, folder):
    """Modules, and lists of them in the order of loading: `order`, `nfs`."""
    order = []
    for kind, names in (("order", [*MODULES, "siw"]), ("nfs", NFS_MODULES)):
        loaded = in_order(root, siw, names, order)
        for module in loaded:
            shutil.copy(module, folder)
        (folder / kind).write_text("".join(f"/modules/{module.name}\n" for module in loaded))


def loader(root):
    """The command that runs a program with the libraries of the packages alone."""
    folders = [root / "lib/x86_64-linux-gnu", root / "usr/lib/x86_64-linux-gnu"]
    return [str(folders[0] / "ld-linux-x86-64.so.2"), "--library-path", ":".join(map(str, folders))]


def copy_programs(root, own, guest):
    """Programs of the guest with their libraries."""
    for name in [*PROGRAMS, *own, *LIBRARIES]:
        target = guest / name if name in LIBRARIES else guest / "bin" / pathlib.Path(name).name
        target.parent.mkdir(parents=True, exist_ok=True)
        # Its own programs have paths that are absolute.
        shutil.copy(root / name, target)
        listed = subprocess.run([*loader(root), "--list", str(root / name)],
                                capture_output=True, text=True, check=True)
        for library in re.findall(r"(/\S+/(\S+\.so\S*))", listed.stdout):
            shutil.copy(library[0], guest / "lib" / library[1])
    for name in FILES:
        (guest / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, guest / name)
    (guest / "lib64").mkdir()
    shutil.copy(loader(root)[0], guest / "lib64")


def archive(folder, busybox):
    """A folder as the kernel takes it: cpio in gzip."""
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    packed = subprocess.run([str(busybox), "cpio", "-o", "-H", "newc"], cwd=folder, check=True,
                            input="\n".join([".", *names]).encode(), capture_output=True)
    return gzip.compress(packed.stdout, compresslevel=1)


def make(packages, tools, say):
    """The image, made if it is not there."""
    image = tools / f"guest-{key(packages)}.gz"
    if image.exists():
        return image
    say("building siw and the guest's file system")
    root, work = packages / "root", tools / "work"
    shutil.rmtree(work, ignore_errors=True)
    guest = work / "guest"
    for part in ("bin", "lib", "proc", "sys", "dev", "host", "tmp", "run", "modules"):
        (guest / part).mkdir(parents=True)
    with open(tools / "image.log", "w") as log:
        siw, own = build_siw(packages, work, log), build_own(root, work, log)
    copy_modules(root, siw, guest / "modules")
    copy_programs(root, own, guest)
    busybox = root / "bin/busybox"
    shutil.copy(busybox, guest / "bin/busybox")
    shutil.copy(HERE / "init", guest / "init")
    (guest / "init").chmod(0o755)
    new = tools / "guest.new"
    new.write_bytes(archive(guest, busybox))
    new.rename(image)
    shutil.rmtree(work)
    for old in tools.glob("guest-*.gz"):
        if old != image:
            old.unlink()
    return image
