#!/usr/bin/env python3
"""Fails one call of a training after the other and looks at what is left.

    tests/faults/faults.py --program build/release/hogbatch --library build/release/tests/faults/libinject.so

For each kind of call (see KINDS) the first, second, … call stack fails once, until a training passes
untouched. A training is a new one in the folder of an older run, one that is resumed, or one of a data set
that is large enough to be cached. It must not end by a signal or hang. Whatever its exit code, every file
is whole and the folder has a model: a new training keeps the older one until it has its own. If the code
is 0, model and summary are of this training; if not, it says why.
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

KINDS = ["write", "pwrite", "read", "fsync", "rename", "link", "mkdir", "flock", "open", "mmap", "thread", "memory"]
MODES = ["new", "resumed", "cached"]
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


def identity(path):
    """Differs for a file that was replaced, whatever is in it."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns


def train(program, folder, arguments, environment):
    return subprocess.run([program, "train", *arguments], cwd=folder, env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=120, check=False)


class Harness:
    def __init__(self, options, folder):
        self.program, self.library, self.folder = options.program, options.library, folder
        kill.write_rows(folder / "rows.csv")
        rows = (folder / "rows.csv").read_bytes()
        (folder / "large.csv").write_bytes(rows * (1 + (5 << 20) // len(rows)))  # enough for the cache of data
        first = train(self.program, folder, ["rows.csv", "--out", "old", *OPTIONS], {})
        assert first.returncode == 0, first.stderr

    def check_older_model(self, out):
        model = (self.folder / "old" / "model.safetensors").read_bytes()
        kept = [path for path in (out / "model.safetensors", out / "model.previous.safetensors") if path.exists()]
        assert any(path.read_bytes() == model for path in kept), "the older model is lost"

    def fail(self, kind, number, mode):
        """Fails one call. False if there are fewer calls."""
        out, mark = self.folder / "run", self.folder / "failed"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(self.folder / "old", out)
        older = {name: identity(out / name) for name in ("model.safetensors", "summary.json")}
        mark.unlink(missing_ok=True)
        arguments = ["rows.csv", "--out", "run", *OPTIONS]
        if mode == "resumed":
            arguments = ["--resume", "run", "--epochs", "4"]
        if mode == "cached":
            arguments[0] = "large.csv"
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        ended = train(self.program, self.folder, arguments,
                      {"LD_PRELOAD": self.library, "HOGBATCH_FAULT": f"{kind}:{number}",
                       "HOGBATCH_FAULT_FILE": str(mark), "HOGBATCH_FAULT_STACK": "1",
                       "XDG_CACHE_HOME": str(self.folder / "cache")})
        try:
            assert ended.returncode in (0, 1, 2), f"exit {ended.returncode}"
            check_files(out)
            if mode != "resumed":
                self.check_older_model(out)
            if ended.returncode == 0:
                for name, before in older.items():
                    assert (out / name).exists(), f"exit 0 without {name}"
                    assert identity(out / name) != before, f"exit 0 with the {name} of the older run"
                epoch = json.loads((out / "summary.json").read_text(encoding="utf-8"))["epoch"]
                assert epoch == (4 if mode == "resumed" else 2), f"exit 0 at epoch {epoch}"
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
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--first", type=int, default=1, help="begins with the n-th call")
    parser.add_argument("--stride", type=int, default=1, help="fails only every n-th call")
    parser.add_argument("--most", type=int, default=10**9, help="fails at most this many calls of a kind")
    parser.add_argument("--go-on", action="store_true", help="shows all failures, not only the first")
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
