"""Trains on tables, exports the models and compares what onnxruntime computes with `hogbatch predict`."""
import csv
import datetime
import json
import pathlib
import random
import subprocess
import sys
import tempfile

SKIPPED = 77
try:
    import numpy as np
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}; scripts/setup test installs it")
    sys.exit(SKIPPED)

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
HEADER = ["size", "colour", "day", "share", "y"]


def rows(count, label):
    """Numbers, words and dates, some of them missing."""
    numbers = random.Random(7)
    for i in range(count):
        size = numbers.gauss(0, 3)
        colour = numbers.choice(["red", "blue", "a, \"b\"", ""] if i else ["red"])
        day = datetime.date(2020, 1, 1) + datetime.timedelta(days=numbers.randrange(1000))
        share = "" if numbers.random() < .1 else f"{numbers.random():.3f}"
        yield [f"{size:.4f}", colour, "" if i % 50 == 9 else day.isoformat(), share,
               label(size + (colour == "red"), day)]


def write(path, table):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *table])


def feeds(session, table):
    """The inputs of an exported table."""
    facts = session.get_modelmeta().custom_metadata_map
    column = {name: [row[i] for row in table] for i, name in enumerate(HEADER)}
    inputs = {}
    if names := json.loads(facts["numbers"]):
        inputs["numbers"] = np.array([[float(x or "nan") for x in column[name]] for name in names], np.float32).T
    if names := json.loads(facts["dates"]):
        epoch = datetime.date(1970, 1, 1)
        inputs["dates"] = np.array(
            [[(datetime.date.fromisoformat(x) - epoch).days if x else np.nan for x in column[name]]
             for name in names], np.float64).T
    for name in json.loads(facts["words"]):
        inputs[name] = np.array(column[name], object).reshape(-1, 1)
    return inputs


def run(folder, *arguments):
    return subprocess.run([PROGRAM, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def check(folder, name, label, options):
    table = list(rows(400, label))
    write(folder / f"{name}.csv", table)
    run(folder, "train", f"{name}.csv", "--out", name, "--hidden", "16,8", "--epochs", "3", "--devices", "cpu:1",
        *options)
    run(folder, "export", f"{name}/model.safetensors", "--onnx", f"{name}.onnx")
    session = onnxruntime.InferenceSession(folder / f"{name}.onnx", providers=["CPUExecutionProvider"])
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds(session, table))))
    lines = run(folder, "predict", f"{name}/model.safetensors", f"{name}.csv",
                *([] if name == "value" else ["--probabilities"])).splitlines()
    if "value" in outputs:
        expected = np.array([float(line) for line in lines])
        np.testing.assert_allclose(outputs["value"][:, 0], expected, rtol=1e-4, atol=1e-4)
    else:
        parsed = list(csv.reader(lines[1:]))
        expected = np.array([[float(x) for x in line[1:]] for line in parsed])
        np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)
        assert list(outputs["label"]) == [line[0] for line in parsed]
    print(f"{name}: {len(table)} rows agree")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kind = {"relu": [], "gelu": ["--activation", "gelu"], "sigmoid": ["--activation", "sigmoid"],
                "tanh": ["--activation", "tanh", "--scale", "minmax"], "ensemble": ["--ensemble", "3"]}
        for name, options in kind.items():
            check(folder, name, lambda x, day: "yes" if x > 0 else "no", options)
        check(folder, "value", lambda x, day: f"{x + day.month:.3f}", [])


main()
