#!/usr/bin/env python3
"""What hardening costs: two builds in turns, in processor time.

    cmake --preset release -B build/plain -DHOGBATCH_HARDEN=OFF
    cmake --build build/plain --target hogbatch bench_parse
    bench/hardening.py build/release build/plain --seconds 150 [--what training|parsing]

A round runs one build between two runs of the other, which then change places, so that a machine that becomes
slower or faster favours neither. Prints the median of hardened / plain over all rounds, its quartiles, and the
same for the two runs of one build, which is the noise.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time

TRAIN = ["train", "--devices", "cpu:1", "--hidden", "512,512", "--algorithm", "hogbatch", "--eval-every", "100",
         "--no-cache", "--quiet", "--out", "run"]
EPOCHS = {1: 1, 64: 2}  # by batch size


def processor_seconds(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def training(build, folder):
    return {f"training, batch size {size}": processor_seconds(
        [build + "/hogbatch", *TRAIN, "--cpu-batch", str(size), "--epochs", str(epochs)], folder)
            for size, epochs in EPOCHS.items()}


def parsing(build, folder):
    command = [build + "/bench/bench_parse", "--benchmark_filter=(parse|csv)/.*one_thread",
               "--benchmark_min_time=0.15", "--benchmark_format=json"]
    result = subprocess.run(command, check=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return {one["name"]: one["cpu_time"] for one in json.loads(result.stdout)["benchmarks"]}


def spread(ratios):
    ratios = sorted(ratios)
    quarter = len(ratios) // 4
    return f"{statistics.median(ratios):.3f} ({ratios[quarter]:.3f} to {ratios[-1 - quarter]:.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hardened", type=os.path.abspath)
    parser.add_argument("plain", type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--what", choices=["training", "parsing"], default="training")
    options = parser.parse_args()
    run = {"training": training, "parsing": parsing}[options.what]
    rounds = []
    with tempfile.TemporaryDirectory(prefix="hogbatch-hardening-") as folder:
        run(options.hardened, folder)  # what is read is in memory now
        end = time.monotonic() + options.seconds
        while len(rounds) < 2 or time.monotonic() < end:
            outer, inner = options.hardened, options.plain
            if len(rounds) % 2 == 1:
                outer, inner = inner, outer
            rounds.append((outer, run(outer, folder), run(inner, folder), run(outer, folder)))
    for name in rounds[0][1]:
        ratios, same = [], []
        for outer, first, middle, last in rounds:
            ratio = (first[name] + last[name]) / 2 / middle[name]
            ratios.append(ratio if outer == options.hardened else 1 / ratio)
            same.append(last[name] / first[name])
        print(f"{name}: {len(rounds)} rounds, hardened / plain {spread(ratios)}; one build twice {spread(same)}")


if __name__ == "__main__":
    main()
