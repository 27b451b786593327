#!/usr/bin/env python3
"""Sparse training beside PyTorch's EmbeddingBag, interleaved, as a ratio of medians.

    scripts/setup bench && .deps/bin/python bench/sparse_vs_pytorch.py build/release/bench/bench_sparse

Both train 20,958 -> 512 -> 512 -> 2 (relu) with plain SGD on made-up rows of 113 non-zeros, 16 rows per
update, on all cores. PyTorch gets its fastest form of a sparse first layer: EmbeddingBag with sparse
gradients.
"""
import json
import statistics
import subprocess
import sys
import time

import torch

FEATURES, NONZEROS, ROWS, WIDTH = 20958, 113, 16, 512
ROUNDS, SECONDS = 3, 5.0


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.EmbeddingBag(FEATURES, WIDTH, mode="sum", sparse=True)
        self.bias = torch.nn.Parameter(torch.zeros(WIDTH))
        self.second = torch.nn.Linear(WIDTH, WIDTH)
        self.third = torch.nn.Linear(WIDTH, 2)

    def forward(self, columns, values):
        hidden = torch.relu(self.first(columns, per_sample_weights=values) + self.bias)
        return self.third(torch.relu(self.second(hidden)))


def pytorch_rate():
    torch.manual_seed(1)
    network = Network()
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)
    batches = [
        (
            torch.randint(0, FEATURES, (ROWS, NONZEROS)),
            torch.rand(ROWS, NONZEROS),
            torch.randint(0, 2, (ROWS,)),
        )
        for _ in range(200)
    ]
    examples, start = 0, None
    while start is None or time.perf_counter() - start < SECONDS:
        for columns, values, classes in batches:
            optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(network(columns, values), classes).backward()
            optimizer.step()
            examples += ROWS
        if start is None:  # the first pass warms up
            examples, start = 0, time.perf_counter()
    return examples / (time.perf_counter() - start)


def hogbatch_rate(program):
    output = subprocess.run([program, "--benchmark_format=json"], check=True, capture_output=True)
    return json.loads(output.stdout)["benchmarks"][0]["train"]


def main():
    program = sys.argv[1]
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(hogbatch_rate(program))
        theirs.append(pytorch_rate())
        print(f"hogbatch {ours[-1]:,.0f} examples/s, PyTorch {torch.__version__} {theirs[-1]:,.0f}")
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"hogbatch / PyTorch EmbeddingBag: {ratio:.2f}")


if __name__ == "__main__":
    main()
