#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab: real vhost workers in a QEMU guest without KVM. See README.md beside this file."""
import argparse
import pathlib
import sys
import tempfile

# No __pycache__ in the tree: the lab is run from checkouts that must stay clean.
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import initramfs  # noqa: E402
import kernels  # noqa: E402
import runner  # noqa: E402
import scenario as scenarios  # noqa: E402


def do_fetch(args):
    for line in args.lines or kernels.LINES:
        info = kernels.fetch(line, args.update)
        print(f"{line}: {info['release']} {info['version']}")
    return 0


def do_modules(args):
    built = kernels.modules(args.line, args.variant)
    for path in built.values():
        print(path)
    if not built:
        print(f"{args.variant}: the modules of the image, nothing to build")
    return 0


def do_btf(args):
    for line in args.lines:
        print(kernels.btf(line))
    return 0


def do_load(_args):
    print(initramfs.lab_program("vhost-load"))
    return 0


def out_folder(args, scenario):
    if args.out:
        top = pathlib.Path(args.out)
        return top / scenario["id"] if len(args.scenarios) > 1 else top
    base = kernels.REPO / "build/lab"
    base.mkdir(parents=True, exist_ok=True)
    return pathlib.Path(tempfile.mkdtemp(prefix=f"{scenario['id']}.", dir=base))


def run_one(args, path):
    """True when the scenario passed."""
    name = pathlib.Path(path).stem
    try:
        scenario = scenarios.read(path, args.set)
        out = out_folder(args, scenario).resolve()
        problems = runner.run(scenario, out, args.vhostwatch)
    except kernels.LabError as err:
        problems = str(err).splitlines()
        out = None
    print(f"{name}: {'FAILED' if problems else 'passed'}" + (f", {out}" if out else ""))
    for row in problems:
        print(f"  {row}")
    sys.stdout.flush()
    return not problems


def do_run(args):
    passed = sum(run_one(args, path) for path in args.scenarios)
    failed = len(args.scenarios) - passed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fetch = commands.add_parser("fetch", help="download and unpack kernels")
    fetch.add_argument("lines", nargs="*", metavar="LINE")
    fetch.add_argument("--update", action="store_true", help="look for newer packages")
    fetch.set_defaults(call=do_fetch)
    modules = commands.add_parser("modules", help="build the vhost modules of a variant")
    modules.add_argument("line", metavar="LINE")
    modules.add_argument("variant", choices=kernels.VARIANTS)
    modules.set_defaults(call=do_modules)
    btf = commands.add_parser("btf", help="write the kernel's raw BTF")
    btf.add_argument("lines", nargs="+", metavar="LINE")
    btf.set_defaults(call=do_btf)
    load = commands.add_parser("vhost-load", help="build the load program, print its path")
    load.set_defaults(call=do_load)
    run = commands.add_parser("run", help="run scenarios, one after another")
    run.add_argument("scenarios", nargs="+", metavar="SCENARIO.toml")
    run.add_argument("--out", metavar="DIR", help="where results go")
    run.add_argument("--vhostwatch", metavar="PATH", help="the program to put into the guest")
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                     help="change a scenario key (load.0.size, load.*.size, expect.preempt)")
    run.set_defaults(call=do_run)
    return parser.parse_args(argv)


def main():
    args = parse(sys.argv[1:])
    try:
        return args.call(args)
    except kernels.LabError as err:
        print(f"lab: {err}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
