# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of the lab: fetch Debian's packages, cut out BTF, build vhost variants.

Nothing is installed: packages are unpacked below the cache, because installing a
kernel image would rebuild this machine's own initramfs for minutes.
"""
import contextlib
import dataclasses
import fcntl
import functools
import hashlib
import json
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess

LAB_DIR = pathlib.Path(__file__).resolve().parent
REPO = LAB_DIR.parent.parent
VARIANTS = ("before", "after", "before-btf", "before-nobtf", "before-hard", "after-hard")
VHOST_MODULES = ("vhost_iotlb", "vhost", "vhost_net")
# The series that go into a variant, and which of its modules are rebuilt; the others are Debian's.
# The hard pair differs in the worker's yield alone: both have the same vhost_net.
SERIES = {"before": (("regress",), VHOST_MODULES),
          "before-hard": (("regress", "regress-hard"), VHOST_MODULES),
          "after-hard": (("regress-hard",), ("vhost_net",))}
KBUILD = """obj-m += vhost.o vhost_net.o vhost_iotlb.o
vhost_net-y := net.o
vhost_iotlb-y := iotlb.o
"""


class LabError(Exception):
    """An error the user can act on; its text is the one line that is shown."""


@dataclasses.dataclass(frozen=True)
class Line:
    """How Debian names the packages of one kernel line; {abi} is the first group of image."""
    image: str
    kbuild: str
    source: str
    prefix: str
    suite: str = ""  # where the machine's own suites do not have it
    make: tuple = ()  # more variables for the module build


LINES = {
    # Built with a gcc that Debian 12 does not have; the next one makes modules that fit.
    "5.10": Line(r"linux-image-(5\.10\.0-\d+)-amd64", "linux-kbuild-5.10",
                 "linux-source-5.10", "linux-image-5.10.0-", "bullseye-security",
                 ("CC=gcc-12",)),
    "6.1": Line(r"linux-image-(6\.1\.0-\d+)-amd64", "linux-kbuild-6.1",
                "linux-source-6.1", "linux-image-6.1.0-"),
    "6.12": Line(r"linux-image-(6\.12\.\d+\+deb12)-amd64", "linux-kbuild-{abi}",
                 "linux-source-6.12", "linux-image-6.12."),
}


def cache_dir():
    return pathlib.Path(os.environ.get("VW_CACHE") or REPO / ".cache").resolve()


def line_of(name):
    if name not in LINES:
        raise LabError(f"unknown kernel line {name!r}, known: {', '.join(LINES)}")
    return LINES[name]


def run(argv, **kwargs):
    """Run a command; its output is shown only when it fails."""
    try:
        done = subprocess.run([str(arg) for arg in argv], capture_output=True, check=False,
                              **kwargs)
    except FileNotFoundError as err:
        raise LabError(f"{argv[0]} is not installed") from err
    if done.returncode:
        text = (done.stderr + done.stdout).decode(errors="replace")
        tail = "\n".join(text.strip().splitlines()[-15:])
        raise LabError(f"{argv[0]} ended with {done.returncode}:\n{tail}")
    return done.stdout


@contextlib.contextmanager
def locked(name):
    """One process at a time may change the cache of one line."""
    path = cache_dir() / "lock" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def newer(a, b):
    return subprocess.run(["dpkg", "--compare-versions", a, "gt", b], check=False).returncode == 0


def newest(versions):
    return functools.reduce(lambda best, one: one if newer(one, best) else best, versions)


def package_set(line, abi):
    return {"image": f"linux-image-{abi}-amd64", "headers": f"linux-headers-{abi}-amd64",
            "common": f"linux-headers-{abi}-common", "kbuild": line.kbuild.format(abi=abi),
            "source": line.source}


def cached_debs():
    """{package: {version: path}} of what lies in the cache already."""
    found = {}
    for path in (cache_dir() / "deb").glob("*.deb"):
        name, version, _ = path.stem.split("_", 2)
        found.setdefault(name, {})[version.replace("%3a", ":")] = path
    return found


def security_archive():
    """Where this machine gets Debian's security updates from: a suite of another release, too."""
    rows = run(["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)",
                "Created-By: Packages"]).decode().splitlines()
    for row in rows:
        release, uri = row.split(" ", 1)
        if release.endswith("-security"):
            return uri
    raise LabError("apt knows no security suite of Debian to look for older kernels in")


def apt_options(suite):
    """For apt to see one suite only, with lists of its own below the cache."""
    if not suite:
        return []
    top = cache_dir() / "apt" / suite
    sources = top / "sources.list"
    if not sources.exists():
        (top / "lists/partial").mkdir(parents=True, exist_ok=True)
        sources.write_text(f"deb {security_archive()} {suite} main\n", encoding="ascii")
    settings = {"Dir::Etc::sourcelist": sources, "Dir::Etc::sourceparts": "-",
                "Dir::State::lists": top / "lists", "Dir::Cache::pkgcache": "",
                "Dir::Cache::srcpkgcache": "", "APT::Sandbox::User": "root"}
    return [part for key, value in settings.items() for part in ("-o", f"{key}={value}")]


def offered_versions(suite, packages):
    """{package: {version: None}} of what apt can download."""
    text = subprocess.run(["apt-cache", *apt_options(suite), "show", *packages],
                          capture_output=True, check=False)
    found = {}
    name = ""
    for row in text.stdout.decode(errors="replace").splitlines():
        if row.startswith("Package: "):
            name = row[9:]
        elif row.startswith("Version: "):
            found.setdefault(name, {})[row[9:]] = None
    return found


def common_version(names, versions):
    """The newest version that every package of a set has, or None."""
    sets = [set(versions.get(name, {})) for name in names.values()]
    both = set.intersection(*sets)
    return newest(sorted(both)) if both else None


def abi_key(abi):
    return [int(part) for part in re.findall(r"\d+", abi)]


def pick_set(line, names, versions_of):
    """Newest ABI for which all packages exist in one version: (abi, packages, version)."""
    abis = {m.group(1) for m in map(re.compile(line.image).fullmatch, names) if m}
    for abi in sorted(abis, key=abi_key, reverse=True):
        packages = package_set(line, abi)
        version = common_version(packages, versions_of(packages.values()))
        if version:
            return abi, packages, version
    return None


def apt_names(line):
    return run(["apt-cache", *apt_options(line.suite), "pkgnames", line.prefix]).decode().split()


def choose(line, update):
    """Which packages to use, and the version; the cache wins unless update is asked for."""
    cached = cached_debs()
    picked = None if update else pick_set(line, cached, lambda _: cached)
    if picked:
        return picked
    if not apt_names(line) or update:
        run(["apt-get", *apt_options(line.suite), "update"])
    picked = pick_set(line, apt_names(line), functools.partial(offered_versions, line.suite))
    if not picked:
        raise LabError(f"apt offers no complete set for {line.source}; try apt-get update")
    return picked


def download(line, packages, version):
    """Paths of the .debs, by role; downloads what the cache does not have."""
    cached = cached_debs()
    missing = [f"{name}={version}" for name in packages.values()
               if version not in cached.get(name, {})]
    if missing:
        target = cache_dir() / "deb"
        target.mkdir(parents=True, exist_ok=True)
        run(["apt-get", *apt_options(line.suite), "-q", "-o", "APT::Sandbox::User=root",
             "download", *missing], cwd=target)
        cached = cached_debs()
    return {role: cached[name][version] for role, name in packages.items()}


def unpack_source(deb, target):
    """Take only drivers/vhost out of the source tarball, which is 1.4 GB unpacked."""
    target.mkdir(parents=True)
    script = ("dpkg-deb --fsys-tarfile \"$1\""
              " | tar -xO --wildcards './usr/src/linux-source-*.tar.xz'"
              " | xz -dc | tar -x -C \"$2\" --strip-components=1 --wildcards '*/drivers/vhost'")
    run(["bash", "-o", "pipefail", "-c", script, "bash", deb, target])
    if not (target / "drivers/vhost/vhost.c").exists():
        raise LabError(f"no drivers/vhost in {deb.name}")


def info_path(name):
    return cache_dir() / "kernels" / name / "info.json"


def load_info(name):
    """Facts about an unpacked line, with paths made absolute; None when it is not there."""
    line_of(name)
    path = info_path(name)
    if not path.exists():
        return None
    info = json.loads(path.read_text(encoding="utf-8"))
    for key in ("vmlinuz", "headers", "modules", "source"):
        info[key] = path.parent / info[key]
    return info


def require_info(name):
    info = load_info(name)
    return info if info else fetch(name)


def fetch(name, update=False):
    line = line_of(name)
    with locked(name):
        abi, packages, version = choose(line, update)
        info = load_info(name)
        if info and info["version"] == version and info["abi"] == abi:
            return info
        debs = download(line, packages, version)
        top = info_path(name).parent
        shutil.rmtree(top, ignore_errors=True)
        root = top / "root"
        root.mkdir(parents=True)
        for role in ("image", "headers", "common", "kbuild"):
            run(["dpkg-deb", "-x", debs[role], root])
        unpack_source(debs["source"], top / "source")
        release = f"{abi}-amd64"
        headers = root / "usr/src" / f"linux-headers-{release}"
        makefile = headers / "Makefile"
        # Debian's Makefile includes the common headers by their installed path.
        makefile.write_text(makefile.read_text(encoding="utf-8").replace(
            "/usr/src/", f"{root}/usr/src/"), encoding="utf-8")
        run(["/sbin/depmod", "-b", root, release])
        facts = {"line": name, "abi": abi, "release": release, "version": version,
                 "vmlinuz": f"root/boot/vmlinuz-{release}", "source": "source",
                 "headers": f"root/usr/src/linux-headers-{release}",
                 "modules": f"root/lib/modules/{release}"}
        info_path(name).write_text(json.dumps(facts, indent=1), encoding="utf-8")
    return load_info(name)


def elf_sections(data):
    """{section name: bytes} of a 64-bit little-endian ELF file."""
    shoff, = struct.unpack_from("<Q", data, 0x28)
    entry, count, strings = struct.unpack_from("<HHH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQ", data, shoff + i * entry) for i in range(count)]
    base = heads[strings][4]
    found = {}
    for name, kind, _, _, offset, size in heads:
        start = base + name
        text = data[start:data.index(b"\0", start)].decode()
        found[text] = b"" if kind == 8 else data[offset:offset + size]  # 8: SHT_NOBITS
    return found


def unpack_vmlinux(path):
    """The ELF kernel inside a bzImage (boot protocol 2.08 and later tell where it lies)."""
    data = path.read_bytes()
    if data[0x202:0x206] != b"HdrS":
        raise LabError(f"{path.name} is no bzImage")
    start = (data[0x1F1] + 1) * 512 + struct.unpack_from("<I", data, 0x248)[0]
    payload = data[start:start + struct.unpack_from("<I", data, 0x24C)[0]]
    if payload.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        # kbuild appends the unpacked size, which is no part of the zstd frame.
        return run(["zstd", "-dc"], input=payload[:-4])
    raise LabError(f"{path.name}: compression is neither xz nor zstd")


def btf(name):
    """Path of the kernel's own raw BTF. objcopy damages it here, so it is copied by offset."""
    info = require_info(name)
    path = info_path(name).parent / "vmlinux.btf"
    with locked(name):
        if not path.exists():
            section = elf_sections(unpack_vmlinux(info["vmlinuz"])).get(".BTF")
            if not section:
                raise LabError(f"the kernel of {name} has no .BTF section")
            path.write_bytes(section)
    return path


def patches(name, series):
    """The patches of all of the series; an error when there are none in one of them."""
    found = []
    for part in series:
        files = sorted((REPO / "patches/linux" / name / part).glob("*.patch"))
        if not files:
            raise LabError(f"no {part} series for {name}")
        found += files
    return found


def build_key(info, variant):
    """Changes when anything that goes into a build changes."""
    digest = hashlib.sha256(f"{info['version']} {variant} {KBUILD}".encode())
    digest.update(pathlib.Path(__file__).read_bytes())
    for patch in patches(info["line"], SERIES.get(variant, SERIES["before"])[0]):
        digest.update(patch.read_bytes())
    digest.update(run(["gcc", "--version"]))
    return digest.hexdigest()


def compile_variant(info, variant, target):
    series, rebuilt = SERIES[variant]
    todo = patches(info["line"], series)
    shutil.copytree(info["source"], target)
    for patch in todo:
        run(["patch", "-p1", "-s", "-d", target, "-i", patch])
    vhost = target / "drivers/vhost"
    (vhost / "Kbuild").write_text(KBUILD, encoding="ascii")
    run(["make", f"-j{os.cpu_count()}", "-C", info["headers"], f"M={vhost}", "CONFIG_VHOST=m",
         *line_of(info["line"]).make, "modules"])
    for module in rebuilt:
        path = target / f"{module}.ko"
        shutil.copy(vhost / f"{module}.ko", path)
        run(["strip", "-g", path])


def has_btf(path):
    return ".BTF" in elf_sections(path.read_bytes())


def derive(info, variant, target):
    """before-btf and before-nobtf: the same code, with and without type data in the module."""
    source = build(info, "before")
    target.mkdir(parents=True)
    debug = source / "drivers/vhost"
    for module in VHOST_MODULES:
        path = target / f"{module}.ko"
        if variant == "before-nobtf":
            run(["objcopy", "-R", ".BTF", "-R", ".BTF.base", source / path.name, path])
        elif has_btf(source / path.name):
            shutil.copy(source / path.name, path)
        else:
            # pahole needs the debug information that the packed module no longer has.
            shutil.copy(debug / path.name, path)
            run(["pahole", "-J", "--btf_gen_floats", "--btf_base", btf(info["line"]), path])
            run(["strip", "-g", path])
        if has_btf(path) != (variant == "before-btf"):
            raise LabError(f"{path.name} of {variant}: BTF is not as asked for")


def build(info, variant):
    target = info_path(info["line"]).parent / "build" / variant
    stamp = target / "stamp"
    key = build_key(info, variant)
    if stamp.exists() and stamp.read_text(encoding="ascii") == key:
        return target
    shutil.rmtree(target, ignore_errors=True)
    if variant in SERIES:
        compile_variant(info, variant, target)
    else:
        derive(info, variant, target)
    stamp.write_text(key, encoding="ascii")
    return target


def modules(name, variant):
    """{module: path} of the rebuilt vhost modules; the others are Debian's own."""
    if variant not in VARIANTS:
        raise LabError(f"unknown variant {variant!r}, known: {', '.join(VARIANTS)}")
    info = require_info(name)
    if variant == "after":
        return {}
    if variant == "before-btf":
        btf(name)
    with locked(f"{name}.build"):
        target = build(info, variant)
    rebuilt = SERIES.get(variant, SERIES["before"])[1]
    return {module: target / f"{module}.ko" for module in rebuilt}
