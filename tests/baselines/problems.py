"""Small data sets of every kind, written as files and exported by hogbatch."""
import json
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASELINES = ROOT / "bench" / "baselines"
PROGRAM = os.environ.get("HOGBATCH_PROGRAM", str(ROOT / "build" / "release" / "hogbatch"))
sys.path.insert(0, str(BASELINES))
ROWS = 300  # of which a tenth is for validation
TRAIN_ROWS = 270


def _features(random_numbers, count, share):
    return {i: random_numbers.uniform(-1, 1) for i in range(count) if random_numbers.random() < share}


def _libsvm(labels_of, features, share):
    numbers = random.Random(1)
    lines = []
    for _ in range(ROWS):
        row = _features(numbers, features, share)
        pairs = " ".join(f"{i + 1}:{value:.3f}" for i, value in sorted(row.items()))
        lines.append(f"{labels_of(numbers, row)} {pairs}\n")
    return "".join(lines)


def _csv(label_of):
    numbers = random.Random(2)
    lines = []
    for _ in range(ROWS):
        row = [numbers.uniform(-3, 3) for _ in range(5)]
        lines.append(",".join(f"{value:.3f}" for value in row) + f",{label_of(row)}\n")
    return "".join(lines)


def _some_labels(numbers, row):
    labels = {i % 7 for i in row if numbers.random() < 0.3} | {len(row) % 7}
    return ",".join(map(str, sorted(labels)))


TEXTS = {  # dense or sparse, and one of each loss
    "classes": lambda: _csv(lambda row: "a" if row[0] * row[1] > 0 else ("b" if row[2] > 0 else "c")),
    "two_classes": lambda: _libsvm(lambda _, row: int(row.get(0, 0) > row.get(1, 0)), 400, 0.03),
    "labels": lambda: _libsvm(_some_labels, 300, 0.05),
    "values": lambda: _csv(lambda row: f"{row[0] - 2 * row[1] * row[2]:.4f}"),
}


def hogbatch(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"hogbatch {arguments}: {done.stderr}"
    return done.stdout


NETWORK = ("--hidden", "16,8", "--activation", "tanh")


def export(folder, kind):
    """Writes and exports a data set; returns the folder of the export and the file."""
    data = pathlib.Path(folder) / f"{kind}.txt"
    data.write_text(TEXTS[kind](), encoding="ascii")
    out = pathlib.Path(folder) / kind
    hogbatch("export", data, "--out", out, "--test", data, *NETWORK)
    return out, data


def run_settings(exported, out, **changes):
    return {"export": str(exported), "initial": str(exported / "initial-1.safetensors"), "out": str(out),
            "variant": "", "batch": 64, "lr": 0.1, "epochs": 1.0, "threads": 1, **changes}


def run_script(python, script, settings, folder):
    path = pathlib.Path(folder) / "run.json"
    path.write_text(json.dumps({"format": 1, **settings}), encoding="utf-8")
    return subprocess.run([str(python), str(BASELINES / script), str(path)], capture_output=True, text=True,
                          check=False)


def lines_of(run_folder):
    text = (pathlib.Path(run_folder) / "metrics.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]
