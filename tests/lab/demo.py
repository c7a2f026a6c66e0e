#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make demo: the main job on a real kernel in a virtual machine, before and after the fix.

Two guests' vhost workers share one CPU.  On the kernel without the yield one of them takes it all; vhostwatch
says so while it lasts.  On Debian's own kernel the two share, and it finds nothing.
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import kernels  # noqa: E402
import results  # noqa: E402
import runner  # noqa: E402
import scenario as scenarios  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
HALVES = (
    ("before", "A kernel whose vhost worker does not yield (Linux 6.1, preempt=none, the yield "
               "taken out of vhost.ko)"),
    ("after", "The same kernel with Debian's own vhost.ko, which yields after each piece of work"),
)


def show(out, step):
    """What a person would have seen on the terminal of the machine."""
    text = results.text_of(out / "guest", f"step-{step}.out")
    for line in text.splitlines():
        print(f"    {line}")


def half(name, title, folder):
    """Runs one half; True when it went as it should."""
    print(f"\n=== {title}\n", flush=True)
    scenario = scenarios.read(HERE / "scenarios" / f"demo-{name}.toml")
    out = folder / name
    out.mkdir()
    problems = runner.run(scenario, out)
    print("\n  $ vhostwatch watch -d 8 -i 2")
    show(out, "watch")
    print("\n  $ vhostwatch check -d 3")
    show(out, "check")
    print(f"    (exit code {results.text_of(out / 'guest', 'step-check.rc').strip()})")
    text = results.text_of(out / "guest", "step-watch.out")
    if ("non_yielding_worker" in text) != (name == "before"):
        problems.append("a finding was expected" if name == "before" else "no finding was expected")
    for problem in problems:
        print(f"  problem: {problem}")
    return not problems


def main():
    print("Booting Debian kernels in QEMU (no KVM needed); the first time they are downloaded, "
          "about 350 MB.", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            good = [half(name, title, pathlib.Path(folder)) for name, title in HALVES]
        except kernels.LabError as err:
            print(f"demo: {err}", file=sys.stderr)
            return 1
    print("\nThe demo went as it should." if all(good) else "\nThe demo FAILED.")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
