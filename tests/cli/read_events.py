"""Reads the event file of a run with TensorBoard, and compares it with the run's metrics.jsonl."""

import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

folder = sys.argv[1]
events = EventAccumulator(folder, size_guidance={"scalars": 0})
events.Reload()
with open(folder + "/metrics.jsonl") as file:
    lines = [json.loads(line) for line in file]
evaluated = [line for line in lines if "valid_loss" in line]
reports = [line for line in lines if "valid_loss" not in line]
assert evaluated and reports


def same(tag, of, value):
    scalars = events.Scalars(tag)
    assert len(scalars) == len(of), (tag, len(scalars), len(of))
    for scalar, line in zip(scalars, of):
        assert scalar.step == line["updates"], (tag, scalar, line)
        assert abs(scalar.value - value(line)) <= 1e-6 * abs(value(line)), (tag, scalar, line)
    times = [scalar.wall_time for scalar in scalars]
    assert times == sorted(times) and times[0] > 1e9, tag


same("loss/train", evaluated, lambda line: line["train_loss"])
same("loss/valid", evaluated, lambda line: line["valid_loss"])
same("accuracy/valid", evaluated, lambda line: line["valid_accuracy"])
same("examples_per_second", reports, lambda line: line["examples_per_second"])
with_rows = [line for line in reports if "cpu.0" in line["batch_rows_by_worker"]]
same("batch_size/cpu.0", with_rows, lambda line: line["batch_rows_by_worker"]["cpu.0"])
