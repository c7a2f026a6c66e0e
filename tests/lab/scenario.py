# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading and checking scenario files (TOML). Every key is known here, with its type."""
import pathlib
import re
import tomllib

import kernels
from kernels import LabError

# key: (type, default); a default of None means "not given", REQUIRED that it must be.
REQUIRED = object()
TOP = {
    "about": (str, ""), "kernel": (str, REQUIRED), "variant": (str, "after"),
    "preempt": (str, "none"), "cpus": (int, 2), "nodes": (int, 1), "icount": (bool, False),
    "memory": (str, "512M"), "cmdline": (str, ""), "timeout_s": (int, 180),
    "worker_mode": (str, None), "modules": (list, []), "files": (list, []),
    "qemu_guest": (bool, False), "needs_vhostwatch": (bool, False), "script": (str, "run_loads"),
    "load": (list, []), "expect": (dict, {}),
}
LOAD = {
    "name": (str, REQUIRED), "tap": (str, None), "size": (int, 64), "direction": (str, "tx"),
    "duration_s": (int, 10), "cpu": (int, None), "worker_cpu": (int, None),
    "sndbuf": (str, "default"), "ring": (int, None), "fork_owner": (int, None),
    "count": (int, 1), "idle": (bool, False), "vcpus": (int, None), "vcpu_cpu": (int, None),
    "period_us": (int, None), "burst": (int, None), "yield": (bool, False), "fault": (bool, False),
}
EXPECT = {
    "preempt": (str, None), "worker_kind": (str, None), "fairness_min": (float, None),
    "fairness_max": (float, None), "packets_min": (int, None), "steps": (dict, {}),
    "values": (dict, {}), "dmesg": (str, None), "dmesg_not": (str, None),
}
# "fixed": the mode that the kernel was built with, where there is no other.
CHOICES = {
    "variant": kernels.VARIANTS, "preempt": ("none", "voluntary", "full", "lazy", "fixed"),
    "worker_mode": ("task", "kthread"), "direction": ("tx", "rx", "both"),
}


# The mode that is found may be one that cannot be asked for: unknown where debugfs is locked down.
FOUND_CHOICES = {**CHOICES, "preempt": (*CHOICES["preempt"], "unknown")}


def convert(where, key, kind, value, choices):
    if key == "script" and isinstance(value, list):
        value = "\n".join(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if key == "sndbuf" and isinstance(value, int):
        value = str(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise LabError(f"{where}: {key} must be of type {kind.__name__}")
    if key in choices and value not in choices[key]:
        raise LabError(f"{where}: {key} = {value!r}, known: {', '.join(choices[key])}")
    return value


def table(where, schema, given):
    unknown = sorted(set(given) - set(schema))
    if unknown:
        raise LabError(f"{where}: unknown key {unknown[0]!r}")
    choices = FOUND_CHOICES if schema is EXPECT else CHOICES
    out = {}
    for key, (kind, default) in schema.items():
        if key in given:
            out[key] = convert(where, key, kind, given[key], choices)
        elif default is REQUIRED:
            raise LabError(f"{where}: {key} is missing")
        else:
            out[key] = default
    return out


def parse_value(schema, key, text):
    """A value of --set: text where the key wants text (6.12 is no number), else TOML."""
    if schema.get(key, (str,))[0] is str:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as err:
        raise LabError(f"--set {key}: {text!r} is no TOML value") from err


def apply_setting(data, setting):
    """key=value; load.0.key or load.*.key for loads, expect.key for expectations."""
    name, equals, text = setting.partition("=")
    if not equals:
        raise LabError(f"--set {setting}: not key=value")
    parts = name.split(".")
    if len(parts) == 1:
        data[name] = parse_value(TOP, name, text)
    elif parts[0] == "expect" and len(parts) == 2:
        data.setdefault("expect", {})[parts[1]] = parse_value(EXPECT, parts[1], text)
    elif parts[0] == "load" and len(parts) == 3:
        loads = data.get("load", [])
        if parts[1] != "*" and (not parts[1].isdigit() or int(parts[1]) >= len(loads)):
            raise LabError(f"--set {name}: no such load")
        for load in loads if parts[1] == "*" else [loads[int(parts[1])]]:
            load[parts[2]] = parse_value(LOAD, parts[2], text)
    else:
        raise LabError(f"--set {name}: unknown key")


def check_loads(where, scenario):
    taps = set()
    for i, load in enumerate(scenario["load"]):
        if load["tap"] is None:
            load["tap"] = "vnet" if load["count"] > 1 else f"vnet{i}"
        if load["tap"] in taps:
            raise LabError(f"{where}: two loads on the tap {load['tap']}")
        taps.add(load["tap"])
        for key in ("cpu", "worker_cpu", "vcpu_cpu"):
            if load[key] is not None and load[key] >= scenario["cpus"]:
                raise LabError(f"{where}: {key} of load {load['name']} is not below cpus")


def check(where, data):
    scenario = table(where, TOP, data)
    kernels.line_of(scenario["kernel"])
    scenario["load"] = [table(f"{where}: load", LOAD, load) for load in scenario["load"]]
    scenario["expect"] = table(f"{where}: expect", EXPECT, scenario["expect"])
    check_loads(where, scenario)
    if scenario["icount"] and scenario["cpus"] != 1:
        raise LabError(f"{where}: icount needs cpus = 1 (with more a boot takes minutes)")
    if scenario["nodes"] < 1 or scenario["cpus"] % scenario["nodes"]:
        raise LabError(f"{where}: nodes must share the cpus evenly")
    if not re.fullmatch(r"\d+[MG]", scenario["memory"]):
        raise LabError(f"{where}: memory is a number with M or G")
    return scenario


def read(path, set_options=()):
    path = pathlib.Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise LabError(f"{path}: {err.strerror}") from err
    except tomllib.TOMLDecodeError as err:
        raise LabError(f"{path}: {err}") from err
    for setting in set_options:
        apply_setting(data, setting)
    scenario = check(path.name, data)
    scenario["id"] = path.stem
    return scenario
