# SPDX-License-Identifier: GPL-2.0-or-later
"""What an acceptance case gets to see: one boot's results, and what vhostwatch printed in it."""
import json

import results

MS = 1000000
SECOND = 1000 * MS
SEVERITIES = ("info", "warning", "critical")
HOG = "non_yielding_worker"


class Failed(Exception):
    """The program did not do what the case asks for."""


class NotStaged(Exception):
    """The guest did not come to the situation that the case is about; worth another boot."""


CASES = {}


def case(name, scenario, *settings, subset="long"):
    """Registers a case: its boot is the scenario file with the settings; subset: ci or long."""
    def register(call):
        CASES[name] = {"name": name, "scenario": scenario, "settings": settings,
                       "subset": subset, "call": call}
        return call
    return register


def need(condition, text):
    if not condition:
        raise Failed(text)


def staged(condition, text):
    if not condition:
        raise NotStaged(text)


def short(finding):
    """A finding in a line of a report."""
    culprit = finding["culprit"] or {}
    return (f"{finding['kind']} {finding['severity']} {finding['status']} culprit "
            f"{culprit.get('comm')}/{culprit.get('tid')} {finding['duration_ns'] / MS:.0f} ms "
            f"cause {finding['cause']} victims "
            + ",".join(f"{v['comm']}/{v['wait_ns'] / MS:.0f}ms" for v in finding["victims"])
            + f" evidence {json.dumps(finding['evidence'])}")


class Boot:
    """The results of one guest."""

    def __init__(self, folder):
        self.folder = folder / "guest"
        self.results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        self.values = self.results["values"]

    def text(self, step, suffix="out"):
        return results.text_of(self.folder, f"step-{step}.{suffix}")

    def rc(self, step):
        return results.number_of(self.folder, f"step-{step}.rc")

    def number(self, name):
        need(self.values.get(name, "").isdigit(), f"value {name} is {self.values.get(name)!r}")
        return int(self.values[name])

    def lines(self, step, cut=False):
        """The JSON objects of a step; @cut: it was killed, so its last line may be a part."""
        rows = self.text(step).splitlines()
        found = []
        for i, row in enumerate(rows):
            try:
                found.append(json.loads(row))
            except json.JSONDecodeError as err:
                if not cut or i + 1 < len(rows):
                    raise Failed(f"{step}: line {i + 1} is no JSON: {row[:80]!r}") from err
        need(found and found[0]["type"] == "header", f"{step}: no header line first")
        if not cut:
            need(found[-1]["type"] == "summary", f"{step}: no summary line last")
        return found

    def findings(self, step, least="info", cut=False):
        floor = SEVERITIES.index(least)
        return [row for row in self.lines(step, cut) if row["type"] == "finding"
                and SEVERITIES.index(row["severity"]) >= floor]

    def workers(self, step):
        return [row for row in self.lines(step) if row["type"] == "worker"]

    def summary(self, step):
        return self.lines(step)[-1]

    def load(self, name):
        for load in self.results["loads"]:
            if load["name"] == name:
                return load
        raise Failed(f"load {name} printed no result")


def episodes(findings):
    """Records of one finding each, in the order of their first record."""
    found = {}
    for row in findings:
        culprit = row["culprit"]["tid"] if row["culprit"] else None
        found.setdefault((row["kind"], row["start_ns"], culprit), []).append(row)
    return list(found.values())


def longest(findings, kind):
    """The records of the longest episode of a kind."""
    rows = [e for e in episodes(findings) if e[0]["kind"] == kind]
    need(rows, f"no {kind}; found: " + ("; ".join(short(e[-1]) for e in episodes(findings))
                                        or "nothing"))
    return max(rows, key=lambda e: e[-1]["duration_ns"])


def victim_of(finding, tid):
    for victim in finding["victims"]:
        if victim["tid"] == tid:
            return victim
    raise Failed(f"task {tid} is not among the victims of {short(finding)}")


def printed_ms(records):
    """How late the records were printed: longest and median, milliseconds."""
    late = sorted(row["printed_after_ns"] / MS for row in records)
    return {"printed_after_ms_max": round(late[-1], 1),
            "printed_after_ms_median": round(late[len(late) // 2], 1)}


def hog_and_loser(boot):
    """(load that had the CPU, load that waited), as the packets say, not as vhostwatch does."""
    first, second = boot.load("web01"), boot.load("web02")
    windows = [sum(load["windows"][1:4]) for load in (first, second)]
    staged(max(windows) > 1000 and min(windows) < 0.02 * max(windows),
           f"packets of seconds 2 to 4 are {windows[0]} and {windows[1]}: nobody starved")
    return (first, second) if windows[0] > windows[1] else (second, first)
