#!/usr/bin/env python3
"""Kills trainings with SIGKILL at random instants and resumes them until they end.

    tests/kill.py --program build/release/hogbatch --kills 1000 --seed 1
    tests/kill.py --program build/release/hogbatch --kills 100 --queue

About half of the instants lie in a checkpoint that is being written. After every kill:
- every file of the run can be read, and the checksums of checkpoints are right,
- at most the interval between checkpoints plus 2 s of training are lost,
- the run resumes from its newest checkpoint.
Every run ends in the end, with every row trained as often as asked. A synchronous run ends with the
bits of a run that was not killed. Fails if any of this does not hold.

With --queue a run is a queue of two jobs. Both end, and the exclusive one with the bits of a queue
that was not killed.
"""
import argparse
import ctypes
import ctypes.util
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROWS, FEATURES = 2000, 20
INTERVAL = 0.1  # seconds between checkpoints


def write_rows(path):
    numbers = random.Random(5)
    with open(path, "w", encoding="ascii") as file:
        for _ in range(ROWS):
            row = [numbers.gauss(0, 1) for _ in range(FEATURES)]
            label = int(sum(row[:5]) + row[5] * row[6] > 0)
            file.write(",".join(f"{x:.4f}" for x in row) + f",{label}\n")


def xxh3():
    """The checksum of checkpoints; None without the library."""
    name = ctypes.util.find_library("xxhash")
    if not name:
        return None
    function = ctypes.CDLL(name).XXH3_64bits
    function.restype = ctypes.c_uint64
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return function


CHECKSUM = xxh3()


def read_tensors(path):
    """The metadata of a file of tensors. ValueError if it is damaged."""
    data = path.read_bytes()
    if len(data) < 8:
        raise ValueError("no header")
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    body = data[8 + size:]
    ends = [tensor["data_offsets"][1] for tensor in header.values()]
    if max(ends, default=0) != len(body):
        raise ValueError(f"{len(body)} bytes of {max(ends, default=0)}")
    for name, tensor in header.items():
        wanted = metadata.get("checksum." + name)
        if wanted and CHECKSUM:
            part = body[slice(*tensor["data_offsets"])]
            if f"{CHECKSUM(part, len(part)):016x}" != wanted:
                raise ValueError(f"checksum of {name}")
    return metadata


class Run:
    """One training and its kills."""

    tells_resume = True

    def __init__(self, options, folder, algorithm):
        self.program, self.epochs = options.program, options.epochs
        self.folder, self.algorithm = folder, algorithm
        self.out = folder / algorithm
        shutil.rmtree(self.out, ignore_errors=True)

    def start(self):
        command = [self.program, "train", "rows.csv", "--out", self.out.name, "--resume", "auto",
                   "--algorithm", self.algorithm, "--hidden", "192,192", "--optimizer", "adam",
                   "--devices", "cpu:2", "--cpu-batch", "16", "--epochs", str(self.epochs),
                   "--lr-schedule", "constant", "--report-every", "0.02",
                   "--checkpoint-every", str(INTERVAL), "--eval-every", "5"]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def is_writing(self, process):
        """Whether a checkpoint is being written. It has no name before it is whole, unless the file system
        needs one."""
        folder = str(self.out / "checkpoints")
        try:
            for descriptor in os.scandir(f"/proc/{process.pid}/fd"):
                name = os.readlink(descriptor.path)
                if name.startswith(folder) and name.endswith((" (deleted)", ".partial")):
                    return True
        except OSError:  # it has just been closed, or the run has ended
            pass
        return False

    def checkpoints(self):
        files = self.out.glob("checkpoints/checkpoint-*.safetensors")
        return sorted(files, key=lambda path: int(path.stem.split("-")[1]))

    def check_files(self):
        """Seconds of training that are not in the newest checkpoint."""
        state = {}
        for path in [*self.out.glob("*.safetensors"), *self.checkpoints()]:
            try:
                metadata = read_tensors(path)
            except ValueError as error:
                raise AssertionError(f"{path} is unreadable: {error}") from error
            state = json.loads(metadata["control"]) if "control" in metadata else state
        reached = 0
        metrics = self.out / "metrics.jsonl"
        for line in metrics.read_text(encoding="utf-8").splitlines() if metrics.exists() else []:
            reached = json.loads(line)["seconds"]
        for path in self.out.glob("*.json"):
            json.loads(path.read_text(encoding="utf-8"))
        return max(0.0, reached - state["meter"]["seconds"] if state else reached)


    def model(self):
        """The bytes of the model if they are always the same."""
        return (self.out / "model.safetensors").read_bytes() if self.algorithm == "sync" else None

    def check_end(self):
        summary = json.loads((self.out / "summary.json").read_text(encoding="utf-8"))
        rows = summary["examples"] / self.epochs
        assert rows == int(rows) and 0.8 * ROWS < rows <= ROWS, summary["examples"]
        assert summary["stopped_because"] == "epochs", summary["stopped_because"]


class Queue(Run):
    """Two jobs in one queue."""

    tells_resume = False

    def __init__(self, options, folder):
        super().__init__(options, folder, "queue")
        self.jobs = [Run(options, self.out, name) for name in ("shared", "exact")]
        (folder / "jobs").write_text(f"""[defaults]
data = "rows.csv"
hidden = "192,192"
optimizer = "adam"
cpu-batch = 16
epochs = {self.epochs}
lr-schedule = "constant"
report-every = 0.02
eval-every = 5
[[job]]
name = "shared"
[[job]]
name = "exact"
exclusive = true
""", encoding="utf-8")

    def start(self):
        recorded = (self.out / "queue.json").exists()
        which = ["--resume", self.out.name] if recorded else ["jobs", "--out", self.out.name]
        command = [self.program, "queue", *which, "--scheduler", "las", "--short-job", "0.1", "--devices", "cpu:2",
                   "--checkpoint-every", str(INTERVAL)]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def partial(self):
        return [path for job in self.jobs for path in job.partial()]

    def checkpoints(self):
        return [path for job in self.jobs for path in job.checkpoints()]

    def check_files(self):
        return max(job.check_files() for job in self.jobs)

    def model(self):
        return (self.jobs[1].out / "model.safetensors").read_bytes()

    def check_end(self):
        queue = json.loads((self.out / "queue.json").read_text(encoding="utf-8"))
        ends = [(job["name"], job["state"], job["epoch"]) for job in queue["jobs"]]
        assert ends == [("shared", "done", self.epochs), ("exact", "done", self.epochs)], ends
        for job in self.jobs:
            job.check_end()


def wait_to_kill(process, run, numbers):
    """Waits for the instant to kill at; False if the run ended before."""
    end = time.monotonic() + numbers.uniform(0.02, 0.7)
    inside = numbers.random() < 0.6
    while process.poll() is None:
        if inside and run.is_writing(process):
            time.sleep(numbers.uniform(0, 0.003))
            return process.poll() is None
        if time.monotonic() > (end + 1 if inside else end):
            return True
        time.sleep(0.0005)
    return False


def check_end(process, run, whole):
    err = process.communicate()[1]
    assert process.returncode == 0, f"exit {process.returncode}: {err}"
    assert "taking the one before" not in err, err
    run.check_end()
    assert run.model() in (None, whole), "a run ended with other bits than the unbroken one"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queue", action="store_true", help="kill queues of two jobs")
    options = parser.parse_args()
    numbers = random.Random(options.seed)
    kills = inside = runs = resumed = 0
    lost = []
    with tempfile.TemporaryDirectory(prefix="hogbatch-kill-") as name:
        folder = pathlib.Path(name).resolve()
        write_rows(folder / "rows.csv")

        def make(kind):
            return Queue(options, folder) if options.queue else Run(options, folder, kind)
        unbroken = make("sync")
        unbroken.start().communicate()
        whole = unbroken.model()
        # The last run is killed no more once there were enough kills, and ends.
        while kills < options.kills:
            run = make("sync" if runs % 2 == 0 else "hogbatch")
            while True:
                had = bool(run.checkpoints())
                process = run.start()
                if kills >= options.kills or not wait_to_kill(process, run, numbers):
                    break
                process.send_signal(signal.SIGSTOP)
                inside += run.is_writing(process)
                process.kill()
                out, err = process.communicate()
                assert "taking the one before" not in err, err
                resumed += had and ("resumed " in out or not run.tells_resume)
                kills += 1
                lost.append(run.check_files())
            check_end(process, run, whole)
            runs += 1
    share = inside / max(1, kills)
    print(f"{kills} kills, {inside} of them ({share:.0%}) in a checkpoint being written; {resumed} resumed runs "
          f"were killed again; {runs} runs, all ended; no unreadable file; training lost: median "
          f"{sorted(lost)[len(lost) // 2]:.2f} s, at most {max(lost):.2f} s (allowed {INTERVAL + 2:.1f} s)")
    assert max(lost) <= INTERVAL + 2, f"{max(lost):.2f} s of training were lost"
    assert kills < 100 or share >= 0.3, "too few kills in a checkpoint"


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failure:
        print(f"kill.py: {failure}", file=sys.stderr)
        sys.exit(1)
