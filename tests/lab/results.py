# SPDX-License-Identifier: GPL-2.0-or-later
"""From the guest's /results to results.json, and whether it is what the scenario expects."""
import json
import re

from kernels import LabError


def text_of(folder, name, default=""):
    path = folder / name
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else default


def number_of(folder, name):
    text = text_of(folder, name).strip()
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def read_loads(folder, count):
    """The JSON object of every VM, in the order of the scenario's loads."""
    found = []
    for i in range(1, count + 1):
        for row in text_of(folder, f"load-{i}.out").splitlines():
            if not row.startswith("{"):
                continue
            try:
                found.append(json.loads(row))
            except json.JSONDecodeError as err:
                raise LabError(f"load {i} printed a broken JSON object: {err}") from err
    return found


def read_steps(folder):
    steps = {}
    for path in sorted(folder.glob("step-*.out")):
        name = path.name[5:-4]
        steps[name] = {"rc": number_of(folder, f"step-{name}.rc"),
                       "stdout_bytes": path.stat().st_size,
                       "stderr_bytes": (folder / f"step-{name}.err").stat().st_size}
    return steps


def read_values(folder):
    rows = (row.partition("\t") for row in text_of(folder, "values").splitlines())
    return {name: value for name, _, value in rows}


def warnings_of(text):
    """Kernel log lines of level warning or worse (<4> and below; the facility is above 3 bits)."""
    rows = re.findall(r"^<(\d+)>(.*)$", text, re.M)
    return [row for level, row in rows if int(level) & 7 <= 4]


def fairness_of(loads):
    packets = [load["packets"] for load in loads if not load["idle"]]
    return min(packets) / max(packets) if packets and max(packets) else None


def collect(scenario, folder, facts):
    loads = read_loads(folder, len(scenario["load"]))
    return {
        "scenario": scenario,
        **facts,
        "release": text_of(folder, "release").strip(),
        "preempt": text_of(folder, "preempt").strip(),
        "loads": loads,
        "fairness": fairness_of(loads),
        "steps": read_steps(folder),
        "values": read_values(folder),
        "script_rc": number_of(folder, "script.rc"),
        "failed": text_of(folder, "failed").strip().splitlines(),
        "dmesg_warnings": warnings_of(text_of(folder, "dmesg")),
    }


def problems_with_loads(expect, results):
    fairness = results["fairness"]
    if expect["fairness_min"] is not None and (fairness is None or
                                               fairness < expect["fairness_min"]):
        yield f"fairness {fairness}, expected at least {expect['fairness_min']}"
    if expect["fairness_max"] is not None and (fairness is None or
                                               fairness > expect["fairness_max"]):
        yield f"fairness {fairness}, expected at most {expect['fairness_max']}"
    for load in results["loads"]:
        kind = load["worker"]["kind"]
        if expect["worker_kind"] and kind != expect["worker_kind"]:
            yield f"worker of {load['name']} is a {kind}, expected {expect['worker_kind']}"
        if expect["packets_min"] is not None and load["packets"] < expect["packets_min"]:
            yield f"{load['name']}: {load['packets']} packets, fewer than {expect['packets_min']}"


def problems(scenario, results, dmesg):
    """One line for everything that is not as it should be."""
    expect = scenario["expect"]
    yield from results["failed"]
    if results["script_rc"] != 0 and not results["failed"]:
        yield f"the script ended with {results['script_rc']}"
    wanted = expect["preempt"] or scenario["preempt"]
    if results["preempt"] != wanted:
        yield f"preempt mode in force is {results['preempt']}, expected {wanted}"
    yield from problems_with_loads(expect, results)
    for name, rc in expect["steps"].items():
        found = results["steps"].get(name, {}).get("rc")
        if found != rc:
            yield f"step {name} ended with {found}, expected {rc}"
    for name, value in expect["values"].items():
        found = results["values"].get(name)
        if found != str(value):
            yield f"value {name} is {found!r}, expected {str(value)!r}"
    if expect["dmesg"] and not re.search(expect["dmesg"], dmesg):
        yield f"the kernel log has no line like {expect['dmesg']!r}"
    if expect["dmesg_not"] and re.search(expect["dmesg_not"], dmesg):
        yield f"the kernel log has a line like {expect['dmesg_not']!r}"


def summary(results):
    for load in results["loads"]:
        after = load["worker"]["after"] or {}
        yield (f"  {load['name']}: {load['packets']} packets in "
               f"{load['duration_ns'] / 1e9:.1f} s, worker {load['worker']['kind']} "
               f"run {after.get('run_ns', 0) / 1e9:.2f} s wait {after.get('wait_ns', 0) / 1e9:.2f}"
               f" s, switches {after.get('voluntary')} + {after.get('involuntary')}")
