# SPDX-License-Identifier: GPL-2.0-or-later
"""Initramfs images of the lab: a cached base for each kernel and variant, and a second
archive for what a scenario adds. The kernel unpacks both when they are concatenated."""
import hashlib
import lzma
import os
import pathlib
import re
import shlex
import stat
import subprocess
import tempfile

import emulator
import kernels
from kernels import LabError

GUEST_DIR = kernels.LAB_DIR / "guest"
# Static programs of the guest's /bin: sources, and headers that they depend on.
PROGRAMS = {
    "vhost-load": (("vhost-load.c", "vl-dev.c", "vl-run.c", "vl-vcpu.c"), ("vhost-load.h",)),
    "move-load": (("move-load.c",), ()),
}
LOAD_FLAGS = ("-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-D_GNU_SOURCE", "-static",
              "-pthread")
BASE_MODULES = ("virtio_pci", "virtio_console", "tun", "tap", "vhost_iotlb", "vhost",
                "vhost_net")
QEMU = "/usr/bin/qemu-system-x86_64"
QEMU_FILES = ("/usr/share/seabios/bios-256k.bin", "/usr/share/qemu/kvmvapic.bin",
              "/usr/share/qemu/linuxboot_dma.bin")
QEMU_MODULES = "/usr/lib/x86_64-linux-gnu/qemu"


class Cpio:
    """A newc archive, written here so that neither root nor a staging folder is needed."""

    def __init__(self):
        self.parts = []
        self.names = set()

    def _entry(self, name, mode, data=b"", rdev=(0, 0)):
        if name in self.names:
            return
        self.names.add(name)
        raw = name.encode() + b"\0"
        fields = (len(self.names), mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(raw), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + raw
        self.parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]

    def folder(self, name):
        name = name.strip("/")
        parent = os.path.dirname(name)
        if parent:
            self.folder(parent)
        if name:
            self._entry(name, stat.S_IFDIR | 0o755)

    def add(self, name, data, mode=0o644):
        name = name.strip("/")
        self.folder(os.path.dirname(name))
        self._entry(name, stat.S_IFREG | mode, data)

    def device(self, name, major, minor):
        name = name.strip("/")
        self.folder(os.path.dirname(name))
        self._entry(name, stat.S_IFCHR | 0o600, rdev=(major, minor))

    def program(self, host, guest=None):
        """A file and, when it is a dynamic program, its loader and libraries at their paths."""
        path = pathlib.Path(host)
        if not path.is_file():
            raise LabError(f"{host}: no such file to pack")
        data = path.read_bytes()
        self.add(guest or str(path), data, 0o755 if os.access(path, os.X_OK) else 0o644)
        if data[:4] == b"\x7fELF":
            for library in shared_libraries(path):
                self.add(library, pathlib.Path(library).read_bytes(), 0o755)

    def finish(self):
        self._entry("TRAILER!!!", 0)
        return b"".join(self.parts)


def shared_libraries(path):
    done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)
    if "not found" in done.stdout:
        raise LabError(f"{path}: a shared library is missing")
    return re.findall(r"(/\S+) \(0x", done.stdout)


def dependencies(info):
    """{module name: (path, [names it needs])} from modules.dep."""
    table = {}
    rows = (info["modules"] / "modules.dep").read_text(encoding="ascii").splitlines()
    for row in rows:
        path, needed = row.split(":")
        table[module_name(path)] = (path, [module_name(need) for need in needed.split()])
    return table


def module_name(path):
    return os.path.basename(path).split(".ko")[0].replace("-", "_")


def builtin(info):
    rows = (info["modules"] / "modules.builtin").read_text(encoding="ascii").split()
    return {module_name(row) for row in rows}


def load_order(info, wanted):
    """The wanted modules with all they need, each after what it needs."""
    table = dependencies(info)
    inside = builtin(info)
    order = []

    def visit(name):
        if name in order or name in inside:
            return
        if name not in table:
            raise LabError(f"kernel {info['release']} has no module {name}")
        for need in reversed(table[name][1]):
            visit(need)
        order.append(name)

    for name in wanted:
        visit(name.replace("-", "_"))
    return [(name, info["modules"] / table[name][0]) for name in order]


def read_module(path):
    """A module as insmod of busybox takes it: not compressed."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    return kernels.run(["zstd", "-dc", path]) if path.suffix == ".zst" else data


def atomic_write(path, data, mode=0o644):
    """Several runs may fill the cache at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as handle:
        handle.write(data)
    os.chmod(handle.name, mode)
    os.replace(handle.name, path)


def base_image(info, variant, extra_modules):
    """(path of the archive, names of its modules in load order)."""
    replaced = kernels.modules(info["line"], variant)
    order = load_order(info, [*BASE_MODULES, *extra_modules])
    files = [(name, replaced.get(name, path)) for name, path in order]
    sources = [path for _, path in files]
    sources += [pathlib.Path("/bin/busybox"), GUEST_DIR / "init", pathlib.Path(__file__)]
    digest = hashlib.sha256(repr(files).encode())
    for path in sources:
        digest.update(path.read_bytes())
    path = kernels.cache_dir() / "initramfs" / f"{digest.hexdigest()[:20]}.cpio"
    if not path.exists():
        cpio = Cpio()
        cpio.device("dev/console", 5, 1)
        cpio.add("init", (GUEST_DIR / "init").read_bytes(), 0o755)
        cpio.program("/bin/busybox")
        for name, source in files:
            cpio.add(f"lab/modules/{name}.ko", read_module(source))
        atomic_write(path, cpio.finish())
    return path, dict(files)


def lab_program(name):
    """Path of a static program of the lab, built when its sources changed."""
    sources, headers = PROGRAMS[name]
    digest = hashlib.sha256(repr(LOAD_FLAGS).encode())
    for source in (*sources, *headers):
        digest.update((kernels.LAB_DIR / source).read_bytes())
    path = kernels.cache_dir() / "programs" / f"{name}-{digest.hexdigest()[:16]}"
    if not path.exists():
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder) / name
            kernels.run(["gcc", *LOAD_FLAGS, "-o", target,
                         *(kernels.LAB_DIR / source for source in sources)])
            kernels.run(["strip", target])
            atomic_write(path, target.read_bytes(), 0o755)
    return path


def module_list(scenario, files):
    """insmod lines; vhost's worker mode is a module parameter where the kernel has one."""
    rows = []
    for name, path in files.items():
        args = ""
        mode = scenario["worker_mode"]
        if name == "vhost" and mode:
            if b"parm=fork_from_owner_default:" in read_module(path):
                args = f" fork_from_owner_default={int(mode == 'task')}"
            elif mode == "task":
                raise LabError("worker_mode = \"task\": this kernel has no such choice")
        rows.append(f"{name}.ko{args}\n")
    return "".join(rows)


def load_command(load):
    words = ["vhost-load", "-name", f"guest={load['name']}", "--tap", load["tap"], "--hold"]
    for key, option in (("size", "size"), ("duration_s", "duration"), ("direction", "direction"),
                        ("sndbuf", "sndbuf"), ("ring", "ring"), ("fork_owner", "fork-owner"),
                        ("cpu", "cpu"), ("worker_cpu", "worker-cpu"), ("vcpus", "vcpus"),
                        ("vcpu_cpu", "vcpu-cpu"), ("period_us", "period"), ("burst", "burst")):
        if load[key] is not None:
            words += [f"--{option}", str(load[key])]
    if load["count"] > 1:
        words += ["--count", str(load["count"])]
    words += [f"--{flag}" for flag in ("idle", "yield", "fault") if load[flag]]
    return shlex.join(words)


def settings(scenario, mark):
    rows = [f"LAB_MARK={mark}", f"LAB_LOADS={len(scenario['load'])}"]
    if emulator.says_alive(scenario):
        rows.append(f"LAB_ALIVE_S={max(1, scenario['timeout_s'] - emulator.ALIVE_S)}")
        rows.append(f"LAB_ALIVE='{emulator.ALIVE}'")
    for i, load in enumerate(scenario["load"], 1):
        rows.append(f"LAB_READY_{i}={load['count']}")
        rows.append(f"lab_load_{i}() {{ exec {load_command(load)}; }}")
    return "\n".join(rows) + "\n"


def add_qemu(cpio):
    """Debian's QEMU, so that the owner in the guest is what it is on a real host."""
    if not os.path.exists(QEMU):
        raise LabError(f"qemu_guest needs {QEMU}: apt-get install qemu-system-x86")
    cpio.program(QEMU)
    for path in (*QEMU_FILES, f"{QEMU_MODULES}/accel-tcg-x86_64.so"):
        if os.path.exists(path):
            cpio.program(path)


def scenario_image(scenario, files, mark, vhostwatch):
    cpio = Cpio()
    cpio.add("lab/lib.sh", (GUEST_DIR / "lib.sh").read_bytes())
    cpio.add("lab/settings.sh", settings(scenario, mark).encode())
    cpio.add("lab/modules.list", module_list(scenario, files).encode())
    # Only fail, check and an explicit exit end a scenario badly, not its last command.
    script = ". /lab/settings.sh\n. /lab/lib.sh\n" + scenario["script"] + "\nexit 0\n"
    cpio.add("lab/script.sh", script.encode())
    for name in PROGRAMS:
        cpio.program(lab_program(name), f"bin/{name}")
    if vhostwatch:
        cpio.program(vhostwatch, "bin/vhostwatch")
    for entry in scenario["files"]:
        host, _, guest = entry.partition(":")
        cpio.program(kernels.REPO / host, guest or f"bin/{os.path.basename(host)}")
    if scenario["qemu_guest"]:
        add_qemu(cpio)
    return cpio.finish()
