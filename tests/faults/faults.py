#!/usr/bin/env python3
"""Fails one call of a command after the other and looks at what is left.

    tests/faults/faults.py --program build/release/hogbatch --library build/release/tests/faults/libinject.so

For each kind of call (see KINDS) the first, second, … call stack fails once, until a run passes untouched.
A training is a new one in the folder of an older run, one that is resumed, or one of a data set that is large
enough to be cached, mapped from the cache, or read as a stream. It must not end by a signal or hang. Whatever
its exit code, every file is whole and the folder has a model: a new training keeps the older one until it has
its own. If the code is 0, model and summary are of this training; if not, it says why. What another command
writes is whole, too: what it was before, or the same bytes as without a fault, which it is after exit code 0.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import kill  # noqa: E402

KINDS = ["write", "pwrite", "read", "fsync", "truncate", "rename", "link", "mkdir", "flock", "open", "mmap", "thread",
         "memory"]
OPTIONS = ["--hidden", "8", "--devices", "cpu:2", "--epochs", "2", "--checkpoint-every", "0.1", "--lr-schedule",
           "constant", "--optimizer", "adam"]
LARGE = ["train", "large.csv", "--out", "run", *OPTIONS]
TRAININGS = {
    "new": ["train", "rows.csv", "--out", "run", *OPTIONS],
    "resumed": ["train", "--resume", "run", "--epochs", "4"],
    "cached": LARGE,
    "mapped": LARGE,
    "stream": [*LARGE, "--stream"],
}
# What they write is always the same: a file or a folder. The second one writes what was there before.
COMMANDS = {
    "predict": (["predict", "old/model.safetensors", "rows.csv", "--devices", "cpu:2", "--out", "made"],
                ["--probabilities"]),
    "export": (["export", "rows.csv", "--out", "made", "--hidden", "8"],
               ["--split-seed", "2", "--activation", "sigmoid"]),
    "report": (["report", "old", "--out", "made"], ["old"]),
    "convert": (["data", "convert", "rows.csv", "made.svm"], ["--label", "first"]),
}
QUEUES = {
    "queue": ["queue", "jobs.toml", "--devices", "cpu:2", "--out", "run", "--quiet"],
    "sweep": ["sweep", "rows.csv", "--lr", "0.1|0.01", "--epochs", "1", "--hidden", "8", "--devices", "cpu:2",
              "--quiet", "--out", "run"],
}
MODES = [*TRAININGS, *COMMANDS, *QUEUES]
JOBS = """[defaults]
data = "rows.csv"
epochs = 1
hidden = "8"
[[job]]
name = "first"
exclusive = true
[[job]]
name = "second"
"""


def check_files(out):
    for path in out.rglob("*.safetensors"):
        try:
            kill.read_tensors(path)
        except ValueError as error:
            raise AssertionError(f"{path.name} is damaged: {error}") from error
    for path in [*out.rglob("*.json"), *out.rglob("*.jsonl")]:
        text = path.read_text(encoding="utf-8")
        for part in text.splitlines() if path.suffix == ".jsonl" else [text]:
            try:
                json.loads(part)
            except ValueError as error:
                raise AssertionError(f"{path.name} is damaged: {error}") from error


def identity(path):
    """Differs for a file that was replaced, whatever is in it."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns


def contents(path):
    """The bytes of a file, or of all files in a folder, by name."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return {file.name: file.read_bytes() for file in files if file.name != ".lock"}


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


class Harness:
    def __init__(self, options, folder):
        self.program, self.library, self.folder, self.limit = options.program, options.library, folder, options.limit
        kill.write_rows(folder / "rows.csv")
        rows = (folder / "rows.csv").read_bytes()
        (folder / "large.csv").write_bytes(rows * (1 + (5 << 20) // len(rows)))  # enough for the cache of data
        (folder / "jobs.toml").write_text(JOBS, encoding="utf-8")
        self.run_good(["train", "rows.csv", "--out", "old", *OPTIONS])
        self.known = {}  # what a command writes, and what was there before

    def run(self, arguments, environment):
        return subprocess.run([self.program, *arguments], cwd=self.folder, env={**os.environ, **environment},
                              capture_output=True, text=True, timeout=self.limit, check=False)

    def run_good(self, arguments):
        ended = self.run(arguments, {"XDG_CACHE_HOME": str(self.folder / "warm")})
        assert ended.returncode == 0, ended.stderr

    def prepare(self, mode):
        """The folder as it is before the command."""
        for name in ("run", "cache", "failed"):
            remove(self.folder / name)
        if mode in TRAININGS:
            shutil.copytree(self.folder / "old", self.folder / "run")
        if mode in ("cached", "mapped", "stream") and not (self.folder / "warm").exists():
            self.run_good([*LARGE[:-len(OPTIONS) - 1], "warm-run", *OPTIONS])
        if mode == "mapped":
            shutil.copytree(self.folder / "warm", self.folder / "cache")
        if mode in COMMANDS:
            made, before = self.made(mode), self.folder / f"before-{mode}"
            remove(made)
            if mode not in self.known:
                command, more = COMMANDS[mode]
                self.run_good(command)
                right = contents(made)
                self.run_good([*command, *more])
                self.known[mode] = right, contents(made)
                made.rename(before)
            (shutil.copytree if before.is_dir() else shutil.copy)(before, made)

    def made(self, mode):
        return self.folder / ("made.svm" if mode == "convert" else "made")

    def fail(self, kind, number, mode):
        """Fails one call. None if there are fewer calls."""
        self.prepare(mode)
        mark = self.folder / "failed"
        older = {name: identity(self.folder / "run" / name) for name in ("model.safetensors", "summary.json")
                 if mode in TRAININGS}
        command = TRAININGS.get(mode) or QUEUES.get(mode) or COMMANDS[mode][0]
        what = f"{mode}, {kind} {number}"
        try:
            ended = self.run(command, {"LD_PRELOAD": self.library, "HOGBATCH_FAULT": f"{kind}:{number}",
                                       "HOGBATCH_FAULT_FILE": str(mark), "HOGBATCH_FAULT_STACK": "1",
                                       "XDG_CACHE_HOME": str(self.folder / "cache")})
        except subprocess.TimeoutExpired as late:
            said = late.stderr.decode(errors="replace") if isinstance(late.stderr, bytes) else late.stderr
            raise AssertionError(f"{what}: no end within {self.limit} s\n{said or ''}") from late
        try:
            assert ended.returncode in (0, 1, 2), f"exit {ended.returncode}"
            if ended.returncode != 0:
                assert "hogbatch: " in ended.stderr, "no reason is given"
                assert mark.exists(), f"exit {ended.returncode} without a fault"
                assert kind != "thread" or "raise the limit" in ended.stderr, "no limit is named"
            if mode in TRAININGS:
                self.check_training(mode, ended.returncode, older)
            elif mode in COMMANDS:
                self.check_made(mode, ended)
            else:
                self.check_queue(mode, ended.returncode)
        except AssertionError as failure:
            raise AssertionError(f"{what}: {failure}\n{ended.stderr}") from failure
        return ended.returncode if mark.exists() else None

    def check_training(self, mode, code, older):
        out = self.folder / "run"
        assert list(out.glob("*.safetensors")), "the folder has no model"
        check_files(out)
        self.check_cache()
        if mode != "resumed":
            model = (self.folder / "old" / "model.safetensors").read_bytes()
            kept = [path for path in (out / "model.safetensors", out / "model.previous.safetensors") if path.exists()]
            assert any(path.read_bytes() == model for path in kept), "the older model is lost"
        if code != 0:
            return
        for name, before in older.items():
            assert (out / name).exists(), f"exit 0 without {name}"
            assert identity(out / name) != before, f"exit 0 with the {name} of the older run"
        epoch = json.loads((out / "summary.json").read_text(encoding="utf-8"))["epoch"]
        assert epoch == (4 if mode == "resumed" else 2), f"exit 0 at epoch {epoch}"

    def check_cache(self):
        for path in self.folder.glob("cache/hogbatch/data/*"):
            same = self.folder / "warm" / "hogbatch" / "data" / path.name
            if path.suffix != ".partial" and not (same.exists() and same.read_bytes() == path.read_bytes()):
                ended = self.run(["inspect", str(path)], {})
                assert ended.returncode == 0, f"the cache is damaged: {ended.stderr}"

    def check_made(self, mode, ended):
        right, before = self.known[mode]
        found = contents(self.made(mode))
        if mode == "report" and "hogbatch: old: " in ended.stderr:  # a page of what can be read
            assert found["made"].rstrip().endswith(b"</html>"), "the page is cut off"
            return
        assert ended.returncode != 0 or found == right, "exit 0, but what is written is not right"
        for name, data in found.items():
            whole = data in (right.get(name), before.get(name))
            assert whole or name.endswith(".partial"), f"{name} is damaged"
        # export.json is there if the other files belong together.
        assert set(before) - set(found) <= {"export.json"}, "a file is lost"
        assert "export.json" not in found or found in (right, before), "an export is mixed"

    def check_queue(self, mode, code):
        out = self.folder / "run"
        check_files(out)
        if code != 0:
            return
        for name in ("first", "second") if mode == "queue" else ("",):
            assert (out / name / "model.safetensors").exists(), f"exit 0 without a model {name}"
        if mode == "sweep":
            trials = (out / "trials.jsonl").read_text(encoding="utf-8").splitlines()
            assert len(trials) == 2, f"exit 0 with {len(trials)} of 2 trials"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    resolved = lambda path: str(pathlib.Path(path).resolve())  # noqa: E731
    parser.add_argument("--program", required=True, type=resolved)
    parser.add_argument("--library", required=True, type=resolved)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--first", type=int, default=1, help="begins with the n-th call")
    parser.add_argument("--stride", type=int, default=1, help="fails only every n-th call")
    parser.add_argument("--most", type=int, default=10**9, help="fails at most this many calls of a kind")
    parser.add_argument("--go-on", action="store_true", help="shows all failures, not only the first")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a run may take")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="hogbatch-faults-") as name:
        harness = Harness(options, pathlib.Path(name))
        for mode in options.modes.split(","):
            for kind in options.kinds.split(","):
                codes = []
                for number in range(options.first, options.first + options.stride * options.most, options.stride):
                    try:
                        code = harness.fail(kind, number, mode)
                    except AssertionError as failure:
                        print(failure, flush=True)
                        wrong += 1
                        if not options.go_on:
                            sys.exit(1)
                        continue
                    if code is None:
                        break
                    codes.append(code)
                print(f"{mode}: {len(codes)} {kind} faults: {codes.count(0)} survived, {codes.count(1)} exit 1, "
                      f"{codes.count(2)} exit 2", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
