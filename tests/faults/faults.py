#!/usr/bin/env python3
"""Fails one call of a training after the other and looks at what is left.

    tests/faults/faults.py --program build/release/hogbatch --library build/release/tests/faults/libinject.so

For each kind of call (write, fsync, rename, open, mmap, thread, memory) the first, second, … call stack
fails once, until a training passes untouched. A training is a new one in the folder of an older run, or
one that is resumed. It must not end by a signal or hang. Whatever its exit code, every file is whole and
the folder has a model; if the code is not 0, it says why.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import kill  # noqa: E402

KINDS = ["write", "fsync", "rename", "open", "mmap", "thread", "memory"]
OPTIONS = ["--hidden", "8", "--devices", "cpu:2", "--epochs", "2", "--checkpoint-every", "0.1", "--lr-schedule",
           "constant", "--optimizer", "adam"]


def check_files(out):
    models = [path for path in out.glob("*.safetensors")]
    assert models, "the folder has no model"
    for path in [*models, *out.glob("checkpoints/checkpoint-*.safetensors")]:
        try:
            kill.read_tensors(path)
        except ValueError as error:
            raise AssertionError(f"{path.name} is damaged: {error}") from error


def train(program, folder, arguments, environment):
    return subprocess.run([program, "train", *arguments], cwd=folder, env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=120, check=False)


class Harness:
    def __init__(self, options, folder):
        self.program, self.library, self.folder = options.program, options.library, folder
        kill.write_rows(folder / "rows.csv")
        first = train(self.program, folder, ["rows.csv", "--out", "old", *OPTIONS], {})
        assert first.returncode == 0, first.stderr

    def fail(self, kind, number, mode):
        """Fails one call. False if there are fewer calls."""
        out, mark = self.folder / "run", self.folder / "failed"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(self.folder / "old", out)
        mark.unlink(missing_ok=True)
        arguments = ["rows.csv", "--out", "run", *OPTIONS]
        if mode == "resumed":
            arguments = ["--resume", "run", "--epochs", "4"]
        ended = train(self.program, self.folder, arguments,
                      {"LD_PRELOAD": self.library, "HOGBATCH_FAULT": f"{kind}:{number}",
                       "HOGBATCH_FAULT_FILE": str(mark)})
        try:
            assert ended.returncode in (0, 1, 2), f"exit {ended.returncode}"
            check_files(out)
            if ended.returncode == 0:
                assert (out / "summary.json").exists(), "exit 0 without a summary"
                assert (out / "model.safetensors").exists(), "exit 0 without a model"
            else:
                assert "hogbatch: " in ended.stderr, "no reason is given"
                assert mark.exists(), f"exit {ended.returncode} without a fault"
                assert kind != "thread" or "raise the limit" in ended.stderr, "no limit is named"
        except AssertionError as failure:
            raise AssertionError(f"{mode}, {kind} {number}: {failure}\n{ended.stderr}") from failure
        return ended.returncode if mark.exists() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    resolved = lambda path: str(pathlib.Path(path).resolve())  # noqa: E731
    parser.add_argument("--program", required=True, type=resolved)
    parser.add_argument("--library", required=True, type=resolved)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--stride", type=int, default=1, help="fails only every n-th call")
    parser.add_argument("--most", type=int, default=10**9, help="fails at most this many calls of a kind")
    parser.add_argument("--go-on", action="store_true", help="shows all failures, not only the first")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="hogbatch-faults-") as name:
        harness = Harness(options, pathlib.Path(name))
        for mode in ("new", "resumed"):
            for kind in options.kinds.split(","):
                codes = []
                for number in range(1, options.stride * options.most + 1, options.stride):
                    try:
                        code = harness.fail(kind, number, mode)
                    except (AssertionError, subprocess.TimeoutExpired) as failure:
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
