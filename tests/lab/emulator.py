# SPDX-License-Identifier: GPL-2.0-or-later
"""What QEMU itself says about a guest that does not come to its end."""
import hashlib
import pathlib
import re
import socket
import tempfile
import time

MONITOR_S = 10
PROMPT = "(qemu) "
LOOKS = 5
# init says so ALIVE_S before the deadline; what is long due was not late, but never came.
ALIVE = "lab: the script still runs"
ALIVE_S = 20


def says_alive(scenario):
    """Whether the guest says ALIVE; under icount its time is not the host's."""
    return not scenario["icount"]


def monitor_path(out):
    """QEMU's monitor; a socket's path has at most 107 bytes, so it is not among the results."""
    digest = hashlib.sha256(str(out.resolve()).encode()).hexdigest()[:16]
    return pathlib.Path(tempfile.gettempdir()) / f"vw-lab-{digest}.monitor"


def cpus_of(path):
    """Where each virtual CPU is: ("halted" or "runs", instruction pointer); [] when not known."""
    text = ""
    try:
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.settimeout(MONITOR_S)
            monitor.connect(str(path))
            monitor.sendall(b"info registers -a\n")
            # A prompt comes before the answer and one behind it.
            while text.count(PROMPT) < 2 and (part := monitor.recv(65536)):
                text += part.decode(errors="replace")
    except OSError:
        pass  # what has come until then counts
    return [("halted" if halted == "1" else "runs", address) for address, halted in
            re.findall(r"^RIP=(\w+) .*HLT=(\d)", text, re.MULTILINE)]


def look(path):
    """Several looks at the CPUs, a second apart."""
    looks = []
    for i in range(LOOKS):
        if i:
            time.sleep(1)  # between two looks
        looks.append(cpus_of(path))
    return looks


def stood_still(looks, console):
    """True when the emulator lost the guest's timers, which is no fault of anything in it.

    A guest in which a program or the kernel is stuck still runs its timers, so init says that it is
    there; one that spins has a CPU that is not halted.
    """
    return ALIVE not in console and bool(looks) and all(
        cpus and all(state == "halted" for state, _ in cpus) for cpus in looks)
