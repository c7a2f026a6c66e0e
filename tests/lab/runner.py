# SPDX-License-Identifier: GPL-2.0-or-later
"""Boot one scenario in QEMU and bring its results back."""
import json
import pathlib
import secrets
import shutil
import subprocess
import sys
import tarfile
import time

import emulator
import initramfs
import kernels
import results
from kernels import LabError

CONSOLE_TAIL = 40
POLL_S = 0.1
# After the end mark everything is on the host; a reboot that takes longer is of no interest.
REBOOT_GRACE_S = 10


class StoodStill(Exception):
    """The emulator lost the guest's timers."""


def kernel_command_line(scenario):
    # panic=-1 with -no-reboot: a panic ends QEMU at once instead of waiting for the deadline.
    words = ["console=ttyS0", "loglevel=5", "panic=-1"]
    if scenario["preempt"] != "fixed":
        words.append(f"preempt={scenario['preempt']}")
    if scenario["cmdline"]:
        words.append(scenario["cmdline"])
    return " ".join(words)


def node_options(scenario):
    """NUMA nodes with their shares of CPUs and memory; none for one node."""
    nodes, memory = scenario["nodes"], scenario["memory"]
    if nodes == 1:
        return []
    size = int(memory[:-1]) * (1024 if memory[-1] == "G" else 1) // nodes
    cpus = scenario["cpus"] // nodes
    words = ["-m", f"{size * nodes}M"]
    for node in range(nodes):
        words += ["-object", f"memory-backend-ram,id=mem{node},size={size}M", "-numa",
                  f"node,nodeid={node},memdev=mem{node},"
                  f"cpus={node * cpus}-{(node + 1) * cpus - 1}"]
    return words


def qemu_command(scenario, vmlinuz, initrd, out):
    if scenario["icount"]:
        # Guest time is the count of executed instructions: the machine's load does not show.
        accel = ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"]
    else:
        accel = ["-accel", "tcg,thread=multi"]
    return ["qemu-system-x86_64", *accel, "-smp", str(scenario["cpus"]), "-m",
            scenario["memory"], "-cpu", "max", "-nodefaults", "-nic", "none", "-display", "none",
            "-no-reboot", "-serial", f"file:{out}/console.log",
            "-monitor", f"unix:{emulator.monitor_path(out)},server=on,wait=off",
            "-device", "virtio-serial-pci", "-chardev", f"file,id=lab,path={out}/results.tar",
            "-device", "virtserialport,chardev=lab,name=lab",
            *node_options(scenario), "-kernel", str(vmlinuz), "-initrd", str(initrd),
            "-append", kernel_command_line(scenario)]


def console_text(out):
    path = out / "console.log"
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def stop(process):
    if process.poll() is None:
        process.kill()
    process.wait()


def wait_for_end(process, out, mark, scenario):
    """None when the guest reached its end mark, else why not."""
    timeout_s = scenario["timeout_s"]
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        ended = process.poll() is not None
        if f"LAB-END-{mark}" in console_text(out):
            grace = time.monotonic() + REBOOT_GRACE_S
            while process.poll() is None and time.monotonic() < grace:
                time.sleep(POLL_S)
            return None
        if ended:
            return f"QEMU ended with {process.returncode} before the script's end mark"
        time.sleep(POLL_S)
    looks = emulator.look(emulator.monitor_path(out))
    if emulator.says_alive(scenario) and emulator.stood_still(looks, console_text(out)):
        raise StoodStill
    cpus = ", ".join(f"{state} at {address}" for state, address in looks[-1]) or "unknown"
    return f"no end mark within {timeout_s} s; CPUs: {cpus}"


def boot_once(command, out, mark, scenario):
    for name in ("console.log", "results.tar"):
        (out / name).unlink(missing_ok=True)
    with open(out / "qemu.err", "wb") as errors:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors,
                                       stderr=errors)
        except FileNotFoundError as err:
            raise LabError("qemu-system-x86_64 is not installed") from err
        try:
            return wait_for_end(process, out, mark, scenario)
        finally:
            stop(process)
            emulator.monitor_path(out).unlink(missing_ok=True)


def boot(scenario, info, initrd, out, mark):
    """None, or the problem.  A guest that stood still is booted once more.

    That is said on stderr, for callers keep what the runner prints in a log.
    """
    command = qemu_command(scenario, info["vmlinuz"], initrd, out)
    for again in (False, True):
        try:
            return boot_once(command, out, mark, scenario)
        except StoodStill:
            print(f"{scenario['id']}: all CPUs halted and no timer came: "
                  f"{'twice' if again else 'booted again'}", file=sys.stderr)
    return "the guest stood still twice"


def unpack_results(out):
    """The guest's /results as out/guest; only plain files, by their last name."""
    folder = out / "guest"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        with tarfile.open(out / "results.tar") as archive:
            for member in archive:
                if member.isfile():
                    name = pathlib.PurePosixPath(member.name).name
                    (folder / name).write_bytes(archive.extractfile(member).read())
    except (OSError, tarfile.TarError) as err:
        raise LabError(f"results did not arrive whole: {err}") from err
    (out / "results.tar").unlink()
    return folder


def write_initrd(scenario, info, out, mark, vhostwatch):
    base, files = initramfs.base_image(info, scenario["variant"], scenario["modules"])
    initrd = out / "initrd"
    with open(initrd, "wb") as handle:
        handle.write(base.read_bytes())
        handle.write(initramfs.scenario_image(scenario, files, mark, vhostwatch))
    return initrd


def find_vhostwatch(scenario, given):
    path = pathlib.Path(given) if given else kernels.REPO / "build/vhostwatch-static"
    if path.is_file():
        return path
    if given or scenario["needs_vhostwatch"]:
        raise LabError(f"{path} is not there")
    return None


def run(scenario, out, vhostwatch=None):
    """Problems found (empty: passed). Writes out/results.json when the guest reached its end."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").unlink(missing_ok=True)
    info = kernels.require_info(scenario["kernel"])
    mark = secrets.token_hex(8)
    program = find_vhostwatch(scenario, vhostwatch)
    initrd = write_initrd(scenario, info, out, mark, program)
    started = time.monotonic()
    problem = boot(scenario, info, initrd, out, mark)
    initrd.unlink()
    if problem:
        console = console_text(out).splitlines()
        tail = console[-CONSOLE_TAIL:]
        # The call trace behind it may be longer than the tail.
        panic = [row for row in console if "Kernel panic" in row][:1]
        errors = (out / "qemu.err").read_text(encoding="utf-8", errors="replace").splitlines()
        return [problem, *panic, *(f"qemu: {row}" for row in errors[-5:]),
                f"last {len(tail)} console lines:", *tail]
    folder = unpack_results(out)
    facts = {"package_version": info["version"], "wall_s": round(time.monotonic() - started, 1),
             "cmdline": kernel_command_line(scenario), "vhostwatch": bool(program)}
    collected = results.collect(scenario, folder, facts)
    dmesg = results.text_of(folder, "dmesg")
    collected["problems"] = list(results.problems(scenario, collected, dmesg))
    (out / "results.json").write_text(json.dumps(collected, indent=1) + "\n", encoding="utf-8")
    print(f"{scenario['id']}: {collected['release']} {scenario['variant']}, preempt "
          f"{collected['preempt']}, {collected['wall_s']} s")
    for row in results.summary(collected):
        print(row)
    return collected["problems"]
