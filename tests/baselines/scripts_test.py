"""The scripts without the frameworks: they compile, list what they can do, and say what is missing."""
import json
import py_compile
import subprocess
import sys
import tempfile
import unittest

import problems

SCRIPTS = ("tensorflow_mlp.py", "pytorch_mlp.py", "sklearn_mlp.py", "keras_fit.py")


class Scripts(unittest.TestCase):
    def test_all_compile(self):
        files = sorted(problems.BASELINES.glob("*.py"))
        self.assertGreaterEqual(len(files), 6)
        with tempfile.TemporaryDirectory() as folder:
            for file in files:
                py_compile.compile(str(file), cfile=f"{folder}/{file.name}c", doraise=True)

    def test_list_needs_no_framework(self):
        for script in SCRIPTS:
            done = subprocess.run([sys.executable, "-S", "-s", str(problems.BASELINES / script), "--list"],
                                  capture_output=True, text=True, check=True)
            listed = json.loads(done.stdout)
            self.assertFalse(listed["available"])
            self.assertIsNone(listed["version"])
            self.assertTrue(listed["install"].startswith("scripts/baselines "))
            for variant in listed["variants"]:
                self.assertTrue(variant["name"] and variant["losses"] and variant["optimizers"])
                self.assertLessEqual(set(variant["for"]), {"dense", "sparse"})

    def test_a_missing_framework_is_named_with_its_command(self):
        with tempfile.TemporaryDirectory() as folder:
            settings = {"export": folder, "initial": "", "out": folder, "variant": "", "batch": 1, "lr": 1}
            path = f"{folder}/run.json"
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"format": 1, **settings}, file)
            for script in SCRIPTS:
                done = subprocess.run([sys.executable, "-S", "-s", str(problems.BASELINES / script), path],
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr, r"^\w+: \w+ is not installed; scripts/baselines \w+ installs it\n$")

    def test_a_bad_run_file_is_one_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            for text in ('{"format": 2}', '{"format": 1, "colour": 3}', "[", '{"format": 1}'):
                path = f"{folder}/run.json"
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                done = subprocess.run([sys.executable, str(problems.BASELINES / "sklearn_mlp.py"), path],
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
