"""Each framework beside hogbatch: from the same weights, updates with all rows reach the same losses.

Prints SKIPPED for what is not installed (scripts/baselines installs it).
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import problems

PYTHON = problems.ROOT / ".baselines" / "bin" / "python"
UPDATES, TOLERANCE = 4, 1e-4
RATES = {"classes": 0.2, "two_classes": 0.2, "labels": 0.05, "values": 0.02}


def hogbatch_losses(kind, folder, exported, file):
    out = pathlib.Path(folder) / f"{kind}-hogbatch"
    problems.hogbatch("train", file, "--test", file, *problems.NETWORK, "--init", exported / "initial-1.safetensors",
                      "--out", out, "--devices", "cpu:1", "--algorithm", "sync", "--cpu-batch",
                      problems.TRAIN_ROWS, "--lr", RATES[kind], "--lr-scaling", "none", "--lr-schedule", "constant",
                      "--epochs", UPDATES, "--eval-every", 1, "--quiet")
    return [line for line in problems.lines_of(out) if "train_loss" in line]


def compare(script, variant, kind, exported, expected, folder):
    out = pathlib.Path(folder) / f"{kind}-{script}-{variant}"
    settings = problems.run_settings(exported, out, variant=variant, batch=problems.TRAIN_ROWS, lr=RATES[kind],
                                     epochs=float(UPDATES), eval_every=1.0, device="cpu")
    done = problems.run_script(PYTHON, script, settings, folder)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr[-2000:]}"
    lines = problems.lines_of(out)
    if len(lines) != len(expected) or lines[-1]["updates"] != UPDATES:
        return f"{len(lines)} evaluations and {lines[-1]['updates']} updates"
    for line, wanted in zip(lines, expected):
        for key, value in wanted.items():
            if key.endswith("_loss") and key != "running_loss" and abs(line[key] - value) > TOLERANCE:
                return f"{key} at epoch {line['epoch']} is {line[key]}, hogbatch's {value}"
    return ""


def main(script):
    if not PYTHON.exists():
        print("SKIPPED: the frameworks are not installed; scripts/baselines installs them")
        return 0
    listed = json.loads(subprocess.run([PYTHON, problems.BASELINES / script, "--list"], capture_output=True,
                                       check=True).stdout)
    if not listed["available"]:
        print(f"SKIPPED: {listed['name']} is not installed; {listed['install']} installs it")
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in problems.TEXTS:
            exported, file = problems.export(folder, kind)
            expected = hogbatch_losses(kind, folder, exported, file)
            sparse = "sparse" if json.loads((exported / "export.json").read_text())["sparse"] else "dense"
            for variant in listed["variants"]:
                if sparse not in variant["for"]:
                    continue
                problem = compare(script, variant["name"], kind, exported, expected, folder)
                print(f"{kind} {variant['name']}: {problem or 'as hogbatch'}")
                wrong += bool(problem)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
