#!/usr/bin/env python3
"""Runs the program on mutated files of every kind that it reads.

    tests/hostile/mutations.py build/release/hogbatch --count 10000 [--kinds model,csv] [--first 0] [--seed 1]

Each run must end by itself with exit code 0, 1 or 2, with a sentence unless it is 0, within the limits of
time and memory below. The same seed gives the same files. A file that fails is kept, and its name printed.
"""
import argparse
import bz2
import gzip
import lzma
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

from mutate import mutate, mutate_cache, mutate_tensors

MOST_SECONDS = 20  # a run takes some hundredths of a second
GOOD_SECONDS = 250  # OpenCL may compile all kernels
MOST_MEGABYTES = 700  # with what the program takes without any file, under a sanitizer more
LIBSVM = b"".join(b"%d 1:%d 2:0.5 4:%d\n" % (1 if i % 2 else -1, i % 7, i % 2) for i in range(12))
CSV = b"a,b,c,y\n" + b"".join(b"%d,0.5,%d,%s\n" % (i % 5, -i, b"yes" if i % 2 else b"no") for i in range(12))
JSON_LINES = b"".join(b'{"a": %d, "b": 0.5, "c": %d, "y": "%s"}\n' % (i % 5, -i, b"yes" if i % 2 else b"no")
                      for i in range(12))
IDX = b"\0\0\x08\x02" + struct.pack(">II", 12, 3) + bytes(range(36))
IDX_LABELS = b"\0\0\x08\x01" + struct.pack(">I", 12) + bytes(i % 2 for i in range(12))
SMALL = ["--hidden", "2", "--quiet", "--out", "o"]
TRAIN = ["--devices", "cpu:1", *SMALL]
JOBS = b"""[defaults]
data = "csv"
epochs = 1
hidden = "2"

[[job]]
name = "small"
optimizer = "adam"
priority = 1

[[job]]
name = "large"
hidden = [3, 2]
arrives = 0.01
exclusive = true
"""
OPENCL = ["--devices", "opencl:0"]


def zstd(data):
    """A frame with one block that is stored as it is; Python cannot compress this way yet."""
    size = struct.pack("<I", len(data))
    block = struct.pack("<I", len(data) << 3 | 1)[:3]
    return b"\x28\xb5\x2f\xfd\xa0" + size + block + data


def kill_unless(ended, child, seconds):
    """A hang guard. It counts seconds one by one, so that those in which all of this is stopped do not count."""
    for _ in range(seconds):
        if ended.wait(1):
            return
    child.kill()


class Runner:
    def __init__(self, program, folder):
        self.program = os.path.abspath(program)
        self.folder = folder
        self.environment = dict(os.environ, HOGBATCH_PLUGINS=folder, HOGBATCH_BASELINES=folder, XDG_CACHE_HOME=folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run(self, arguments, most_seconds=MOST_SECONDS):
        """Exit status as of wait4, seconds in all and of processor time, megabytes, what was said."""
        with open(self.path("said"), "w+b") as said:
            began = time.monotonic()
            child = subprocess.Popen([self.program, *arguments], cwd=self.folder, env=self.environment,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
            ended = threading.Event()
            threading.Thread(target=kill_unless, args=(ended, child, most_seconds), daemon=True).start()
            _, status, usage = os.wait4(child.pid, 0)
            ended.set()
            child.returncode = status
            seconds = time.monotonic() - began
            processor = usage.ru_utime + usage.ru_stime
            said.seek(0)
            return status, seconds, processor, usage.ru_maxrss / 1024, said.read().decode(errors="replace")

    def prepare(self):
        """The good files that others are made from."""
        self.write("svm", LIBSVM)
        self.write("csv", CSV)
        for data in ("svm", "csv"):
            self.train_for_a_moment(data, "run-" + data)
            shutil.copy(self.path(f"run-{data}/model.safetensors"), self.path(data + "-model"))
        self.checkpoint = self.checkpoint_of("run-svm")
        # Data sets of less than 4 MB are not cached.
        self.write("large", b"".join(row + b" " * 400000 + b"\n" for row in LIBSVM.splitlines()))
        self.run_good(["train", "large", "--epochs", "1", *TRAIN])
        self.cached = self.only_file("hogbatch/data", "")
        self.good_cache = self.read(self.cached)

    def train_for_a_moment(self, data, out, *more):
        self.run_good(["train", data, *TRAIN[:-1], out, "--epochs", "1000000", "--max-time", "0.6s",
                       "--checkpoint-every", "0.1", *more])

    def checkpoint_of(self, run):
        names = os.listdir(self.path(run + "/checkpoints"))
        return os.path.join(run, "checkpoints", max(names, key=lambda name: int(re.sub(r"\D", "", name))))

    def only_file(self, folder, begin):
        found = [name for name in os.listdir(self.path(folder)) if name.startswith(begin)]
        return os.path.join(folder, found[0]) if len(found) == 1 else sys.exit(f"{folder}: no {begin}…: {found}")

    def has_opencl(self):
        """Looks for a device, with the plug-ins of the program from here on."""
        self.environment.pop("HOGBATCH_PLUGINS", None)
        return self.run(["eval", "svm-model", "svm", *OPENCL], GOOD_SECONDS)[0] == 0

    def run_good(self, command):
        status, *_, said = self.run(command, GOOD_SECONDS)
        if status != 0:
            sys.exit(f"hogbatch {' '.join(command)} fails with good files: {said}")


def text(good, name, model):
    def kind(runner, chance):
        runner.write("bad", mutate(good, chance))
        return chance.choice([["train", "bad", "--epochs", "1", *TRAIN], ["eval", model, "bad"],
                              ["predict", model, "bad"]]), "bad"
    return name, kind


def packed(good, name, pack):
    def kind(runner, chance):
        whole = chance.random() < 0.7
        runner.write("bad", mutate(pack(good), chance) if whole else pack(mutate(good, chance)))
        return ["train", "bad", "--epochs", "1", *TRAIN], "bad"
    return name, kind


def idx(runner, chance):
    images = chance.random() < 0.7
    runner.write("bad", mutate(IDX, chance) if images else IDX)
    runner.write("labels", IDX_LABELS if images else mutate(IDX_LABELS, chance))
    return ["train", "bad", "--labels", "labels", "--epochs", "1", *TRAIN], "bad" if images else "labels"


def model(runner, chance):
    data = chance.choice(["svm", "csv"])
    runner.write("bad", mutate_tensors(runner.read(data + "-model"), chance))
    command = chance.choice([["eval", "bad", data], ["predict", "bad", data, "--probabilities"],
                             ["train", data, "--epochs", "1", *TRAIN, "--init", "bad"]])
    return command, "bad"


WAYS = {"svm": [], "sync": ["--algorithm", "sync"], "adaptive": ["--algorithm", "adaptive"],
        "adam": ["--optimizer", "adam"], "momentum": ["--momentum", "0.9"]}  # to train


def ensemble(runner, chance):
    copy_of_good(runner, "several", ["train", "svm", "--hidden", "2", "--epochs", "1", "--ensemble", "2"])
    runner.write("bad", mutate_tensors(runner.read("several/model.safetensors"), chance))
    return chance.choice([["eval", "bad", "svm"], ["predict", "bad", "svm"], ["inspect", "bad"]]), "bad"


def checkpoint(runner, chance):
    shutil.rmtree(runner.path("resumed"), ignore_errors=True)
    os.makedirs(runner.path("resumed/checkpoints"))
    way = chance.choice(list(WAYS))
    if not os.path.exists(runner.path("run-" + way)):
        runner.train_for_a_moment("svm", "run-" + way, *WAYS[way])
    name = "resumed/checkpoints/checkpoint-1.safetensors"
    runner.write(name, mutate_tensors(runner.read(runner.checkpoint_of("run-" + way)), chance))
    length = chance.choice([["--epochs", "1"], ["--max-time", "0.7s"]])
    return ["train", "--resume", "resumed", *length, "--quiet"], name


def records(runner, chance):
    shutil.rmtree(runner.path("shown"), ignore_errors=True)
    os.makedirs(runner.path("shown"))
    changed = chance.choice(["metrics.jsonl", "summary.json", "options.json"])
    for name in ("metrics.jsonl", "summary.json", "options.json"):
        good = runner.read("run-csv/" + name)
        runner.write("shown/" + name, mutate(good, chance) if name == changed else good)
    return ["report", "shown"], "shown/" + changed


def config(runner, chance):
    runner.write("bad", mutate(runner.read("run-csv/config.toml"), chance))
    return ["train", "--config", "bad", "--epochs", "1", *TRAIN], "bad"


def jobs(runner, chance):
    shutil.rmtree(runner.path("queue"), ignore_errors=True)
    runner.write("bad", mutate(JOBS, chance))
    return ["queue", "bad", "--devices", "cpu:1", "--quiet", "--out", "queue"], "bad"


def copy_of_good(runner, name, command):
    """A folder that a good run wrote, fresh each time."""
    good = runner.path("good-" + name)
    if not os.path.exists(good):
        runner.run_good([*command, "--devices", "cpu:1", "--quiet", "--out", good])
    shutil.rmtree(runner.path(name), ignore_errors=True)
    shutil.copytree(good, runner.path(name))


def queue_record(runner, chance):
    runner.write("jobs.toml", JOBS)
    copy_of_good(runner, "queued", ["queue", "jobs.toml"])
    runner.write("queued/queue.json", mutate(runner.read("queued/queue.json"), chance))
    return ["queue", "--resume", "queued", "--devices", "cpu:1", "--quiet"], "queued/queue.json"


def kept_jobs(runner, chance):
    runner.write("jobs.toml", JOBS)
    copy_of_good(runner, "queued", ["queue", "jobs.toml"])
    name = "queued/.jobs/000001.toml"
    runner.write(name, mutate(runner.read(name), chance))
    return ["queue", "--resume", "queued", "--devices", "cpu:1", "--quiet"], name


def events(runner, chance):
    copy_of_good(runner, "shown", ["train", "svm", "--hidden", "2", "--epochs", "2", "--tensorboard"])
    name = runner.only_file("shown", "events.out.tfevents")
    runner.write(name, mutate(runner.read(name), chance))
    return ["train", "--resume", "shown", "--epochs", "3", "--tensorboard", "--quiet"], name


def comparison(runner, chance):
    command = ["compare", "csv", "--against", "none", "--throughput", "--quick", "--budget", "2", "--batches", "16",
               "--rounds", "1", "--hidden", "2", "--threads", "1", "--out", "compared"]
    if not os.path.exists(runner.path("good-compared")):
        runner.run_good(command)
        os.rename(runner.path("compared"), runner.path("good-compared"))
    shutil.rmtree(runner.path("compared"), ignore_errors=True)
    shutil.copytree(runner.path("good-compared"), runner.path("compared"))
    name = "compared/" + chance.choice(["compare.json", "compare.json", "export/export.json"])
    runner.write(name, mutate(runner.read(name), chance))
    return command, name


def sweep_record(runner, chance):
    copy_of_good(runner, "swept", ["sweep", "csv", "--lr", "0.1|0.2", "--epochs", "1", "--hidden", "2"])
    name = "swept/" + chance.choice(["sweep.json", "trials.jsonl"])
    runner.write(name, mutate(runner.read(name), chance))
    return ["sweep", "--resume", "swept", "--max-time", "0.7s", "--quiet"], name


def inspect(runner, chance):
    good = chance.choice(["csv-model", runner.checkpoint, runner.cached])
    change = mutate_cache if good == runner.cached else mutate_tensors
    runner.write("bad", change(runner.good_cache if good == runner.cached else runner.read(good), chance))
    return ["inspect", "bad", *chance.choice([[], ["--json"]])], "bad"


def data(runner, chance):
    runner.write("bad", mutate(chance.choice([LIBSVM, CSV, JSON_LINES]), chance))
    convert = ["convert", "bad", "converted." + chance.choice(["csv", "svm", "jsonl"])]
    return ["data", *chance.choice([["info", "bad"], convert, ["split", "bad"]])], "bad"


def data_cache(runner, chance):
    runner.write(runner.cached, mutate_cache(runner.good_cache, chance))
    return ["train", "large", "--epochs", "1", *TRAIN], runner.cached


def cache_of(runner, folder, begin, train):
    """A file that `train` leaves, and what is in it."""
    if not hasattr(runner, "kept"):
        runner.run_good(train)
        name = runner.only_file(folder, begin)
        runner.kept = name, runner.read(name)
    return runner.kept


def stream_cache(runner, chance):
    train = ["train", "large", "--epochs", "1", "--stream", *TRAIN]
    name, good = cache_of(runner, "hogbatch/data", "stream-", train)
    runner.write(name, mutate_cache(good, chance))
    return train, name


def opencl_cache(runner, chance):
    command = ["eval", "svm-model", "svm", *OPENCL]
    name, good = cache_of(runner, "hogbatch", "opencl-", command)
    runner.write(name, mutate_cache(good, chance))
    return command, name


def calibration(runner, chance):
    train = ["train", "svm", "--epochs", "1", *SMALL, "--devices", "cpu:1,opencl:0"]
    name, good = cache_of(runner, "hogbatch", "calibration.json", train)
    runner.write(name, mutate(good, chance))
    return train, name


KINDS = dict([text(JSON_LINES, "jsonl", "csv-model"), ("config", config),
              packed(CSV, "bzip2", bz2.compress), packed(CSV, "zstd", zstd), ("jobs", jobs), ("data_cache", data_cache),
              text(LIBSVM, "libsvm", "svm-model"), text(CSV, "csv", "csv-model"), ("idx", idx),
              packed(LIBSVM, "gzip", lambda data: gzip.compress(data, mtime=0)), packed(CSV, "xz", lzma.compress),
              ("model", model), ("checkpoint", checkpoint), ("records", records), ("inspect", inspect), ("data", data),
              ("queue_record", queue_record), ("sweep_record", sweep_record), ("kept_jobs", kept_jobs),
              ("ensemble", ensemble), ("events", events), ("comparison", comparison), ("stream_cache", stream_cache),
              ("opencl_cache", opencl_cache), ("calibration", calibration)])
NEED_OPENCL = ("opencl_cache", "calibration")


def verdict(status, seconds, _, megabytes, said):
    """Why a run is wrong; empty if it is not."""
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)} after {seconds:.1f} s"
    code = os.WEXITSTATUS(status)
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if code != 0 and not said.startswith("hogbatch: "):
        return f"exit code {code} without a sentence"
    if "internal error" in said or "json.exception" in said:
        return "not a sentence for users: " + said.strip()
    if megabytes > MOST_MEGABYTES:
        return f"{megabytes:.0f} MB"
    return ""


def run_kind(name, runner, numbers, seed):
    if name in NEED_OPENCL and not runner.has_opencl():
        print(f"{name}: there is no OpenCL device here; left out")
        return 0
    codes, slowest, busiest, largest, failures = {}, 0, 0, 0, 0
    for i in numbers:
        command, file = KINDS[name](runner, random.Random(f"{seed}/{name}/{i}"))
        result = runner.run(command)
        status, seconds, processor, megabytes, said = result
        wrong = verdict(*result)
        if wrong:
            failures += 1
            kept = os.path.join(tempfile.gettempdir(), f"hogbatch-{name}-{seed}-{i}")
            shutil.copy(runner.path(file), kept)
            print(f"{name} {i}: {wrong}; hogbatch {' '.join(command)} with {file} as {kept}: {said[:300]}")
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else "signal"
        codes[code] = codes.get(code, 0) + 1
        slowest, busiest, largest = max(slowest, seconds), max(busiest, processor), max(largest, megabytes)
    ends = ", ".join(f"{codes[code]} with {code}" for code in sorted(codes, key=str))
    print(f"{name}: {len(numbers)} runs, {failures} wrong; exit codes: {ends}; at most {slowest:.2f} s, "
          f"{busiest:.2f} s of processor time, {largest:.0f} MB", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=100, help="files of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first file, to go on with a run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix="hogbatch-mutations-") as folder:
        runner = Runner(options.program, folder)
        runner.prepare()
        numbers = range(options.first, options.first + options.count)
        failures = sum(run_kind(name, runner, numbers, options.seed) for name in options.kinds.split(","))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
