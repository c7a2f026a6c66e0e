# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the lab itself: python3 tests/lab/test_lab.py [Offline|Boot].

Boot starts guests that must fail, and checks that they are seen to fail.
"""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import emulator  # noqa: E402
import initramfs  # noqa: E402
import kernels  # noqa: E402
import results  # noqa: E402
import runner  # noqa: E402
import scenario as scenarios  # noqa: E402

LOAD = {"name": "a"}


def checked(**keys):
    data = scenarios.check("test", {"kernel": "6.1", **keys})
    data["id"] = "test"
    return data


class Offline(unittest.TestCase):
    def test_bad_scenarios_are_refused(self):
        for keys, text in (
                ({"bogus": 1}, "unknown key 'bogus'"),
                ({"kernel": "2.6"}, "unknown kernel line"),
                ({"cpus": "2"}, "cpus must be of type int"),
                ({"cpus": True}, "cpus must be of type int"),
                ({"preempt": "some"}, "known: none"),
                ({"icount": True}, "icount needs cpus = 1"),
                ({"memory": "lots"}, "memory is a number"),
                ({"load": [{}]}, "name is missing"),
                ({"load": [{**LOAD, "worker_cpu": 2}]}, "not below cpus"),
                ({"load": [{**LOAD, "tap": "t"}, {**LOAD, "tap": "t"}]}, "two loads"),
                ({"expect": {"starved": True}}, "unknown key 'starved'")):
            with self.subTest(text), self.assertRaisesRegex(kernels.LabError, text):
                checked(**keys)

    def test_set_keeps_text_and_reads_numbers(self):
        data = {"load": [dict(LOAD), dict(LOAD)]}
        for setting in ("kernel=6.12", "cpus=4", "load.*.size=128", "load.1.sndbuf=4096",
                        "expect.fairness_min=0.5"):
            scenarios.apply_setting(data, setting)
        self.assertEqual(data["kernel"], "6.12")
        self.assertEqual(data["cpus"], 4)
        self.assertEqual([load["size"] for load in data["load"]], [128, 128])
        self.assertEqual(data["load"][1]["sndbuf"], "4096")
        self.assertEqual(data["expect"], {"fairness_min": 0.5})
        for setting in ("cpus", "load.2.size=1", "a.b=1", "cpus=x"):
            with self.subTest(setting), self.assertRaises(kernels.LabError):
                scenarios.apply_setting(data, setting)

    def test_scenarios_in_the_tree_are_good(self):
        paths = sorted((kernels.LAB_DIR / "scenarios").rglob("*.toml"))
        self.assertTrue(paths)
        for path in paths:
            with self.subTest(path.name):
                self.assertTrue(scenarios.read(path)["about"])

    def test_newest_complete_set_wins(self):
        line = kernels.LINES["6.1"]
        offered = {name: {"1": None} for name in kernels.package_set(line, "6.1.0-9").values()}
        offered["linux-image-6.1.0-10-amd64"] = {"2": None}
        abi, packages, version = kernels.pick_set(line, offered, lambda _: offered)
        self.assertEqual((abi, version), ("6.1.0-9", "1"))
        self.assertEqual(packages["kbuild"], "linux-kbuild-6.1")

    def test_archive_is_what_cpio_reads(self):
        cpio = initramfs.Cpio()
        cpio.add("a/b/file", b"12345", 0o755)
        cpio.device("dev/console", 5, 1)
        done = subprocess.run(["cpio", "-tv", "--quiet"], input=cpio.finish(),
                              capture_output=True, check=True)
        text = done.stdout.decode()
        self.assertRegex(text, r"-rwxr-xr-x .* 5 .* a/b/file")
        self.assertRegex(text, r"crw------- .* 5, +1 .* dev/console")

    def test_standing_still(self):
        halted, runs = ("halted", "ffff"), ("runs", "ffff")
        for looks, console, want in (
                ([[halted, halted]] * 5, "lab: step idle", True),
                ([[halted, halted]] * 5, f"lab: step idle\n{emulator.ALIVE}\n", False),
                ([[halted, halted]] * 4 + [[halted, runs]], "", False),
                ([[halted]] * 4 + [[]], "", False), ([], "", False)):
            with self.subTest(looks=looks, console=console):
                self.assertEqual(emulator.stood_still(looks, console), want)

    def test_only_warnings_are_kept(self):
        self.assertEqual(results.warnings_of("<4>[ 1] a\n<6>[ 2] b\n<12>[ 3] c\n<30>[ 4] d\n"),
                         ["[ 1] a", "[ 3] c"])

    def test_bad_options_of_the_load(self):
        program = initramfs.lab_program("vhost-load")
        for words in (["--size", "1"], ["--size", "9x"], ["--ring", "100"], ["--direction", "up"],
                      ["-name", "guest="], ["--count", "2", "--churn", "2"], ["--bogus"],
                      ["extra"], ["--tap", "x" * 16]):
            done = subprocess.run([program, *words], capture_output=True, check=False)
            with self.subTest(words):
                self.assertEqual((done.returncode, done.stdout), (1, b""))
                self.assertIn(b"load", done.stderr)


class Boot(unittest.TestCase):
    def problems(self, **keys):
        data = checked(**{"cpus": 1, "timeout_s": 60, **keys})
        with tempfile.TemporaryDirectory() as folder, \
                contextlib.redirect_stdout(io.StringIO()):
            return "\n".join(runner.run(data, pathlib.Path(folder)))

    def test_nothing_wrong(self):
        self.assertEqual(self.problems(script="true; false"), "")

    def test_panic(self):
        text = self.problems(script="echo c >/proc/sysrq-trigger")
        self.assertIn("before the script's end mark", text)
        self.assertIn("Kernel panic", text)

    def test_hang(self):
        text = self.problems(script="step loop sh -c 'while :; do :; done'", timeout_s=12)
        self.assertIn("no end mark within 12 s; CPUs: runs at ", text)
        self.assertIn("lab: step loop", text)

    def test_asleep_for_ever(self):
        text = self.problems(script="step sleep sleep 1000", timeout_s=12)
        self.assertIn("no end mark within 12 s; CPUs: halted at ", text)
        self.assertIn(emulator.ALIVE, text)

    def test_condition_that_never_holds(self):
        self.assertEqual(self.problems(script="wait_for 1 false"), "not within 1 s: false")

    def test_failing_load(self):
        text = self.problems(load=[{**LOAD, "ring": 100}])
        self.assertIn("--ring must be a power of two", text)

    def test_broken_script(self):
        self.assertEqual(self.problems(script="if then"), "the script ended with 2")

    def test_mode_that_the_kernel_does_not_have(self):
        text = self.problems(preempt="lazy", script="true")
        self.assertRegex(text, "preempt mode in force is .*, expected lazy")

    def test_expectations(self):
        text = self.problems(
            script="step a false; result v 1",
            expect={"steps": {"a": 0, "b": 0}, "values": {"v": "2"}, "fairness_min": 0.5,
                    "dmesg": "no such line", "dmesg_not": "Linux version"})
        self.assertEqual(len(text.splitlines()), 6, text)


if __name__ == "__main__":
    unittest.main()
