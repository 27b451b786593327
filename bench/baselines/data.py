"""The rows and weights that `hogbatch export` wrote, and hogbatch's losses and metrics, in numpy."""
import json
import math
import os

import numpy as np

from common import Impossible

TYPES = {"F32": np.float32, "I32": np.int32, "I64": np.int64}
EVALUATED_NUMBERS = 1 << 22  # outputs at once
DENSE_FEATURES = 256  # up to here, and from this density on, dense rows are faster: measured with PyTorch on
DENSE_DENSITY = 1 / 8  # covtype (54 features), w8a (300, 4 %) and MNIST (784, 19 %)


def read_safetensors(path):
    """Every tensor of a file by its name, as views of the mapped file."""
    file = np.memmap(path, mode="r")
    size = int(file[:8].view("<u8")[0])
    header = json.loads(bytes(file[8:8 + size]))
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        numbers = file[8 + size + begin:8 + size + end].view(TYPES[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors


class Split:
    """The rows of one split: dense `x`, or `offsets`, `columns` and `values`; and one kind of labels."""

    def __init__(self, name, tensors, features):
        self.name = name
        self.features = features
        for part in ("x", "offsets", "columns", "values", "classes", "label_offsets", "labels", "targets"):
            setattr(self, part, tensors.get(f"{name}.{part}"))
        self.rows = len(self.x) if self.x is not None else len(self.offsets) - 1

    def dense(self, begin=0, end=None):
        """Rows begin … end as a dense matrix."""
        end = self.rows if end is None else end
        if self.x is not None:
            return self.x[begin:end]
        out = np.zeros((end - begin, self.features), np.float32)
        offsets, columns, values = self.csr(begin, end)
        out[np.repeat(np.arange(end - begin), np.diff(offsets)), columns] = values
        return out

    def csr(self, begin, end):
        """Offsets (from 0), columns and values of rows begin … end."""
        offsets = self.offsets[begin:end + 1]
        first, last = offsets[0], offsets[-1]
        return offsets - first, self.columns[first:last], self.values[first:last]

    def label_matrix(self, outputs, begin=0, end=None, kind=np.float32):
        """1 for the labels that a row has, 0 for the others."""
        end = self.rows if end is None else end
        out = np.zeros((end - begin, outputs), kind)
        lengths = np.diff(self.label_offsets[begin:end + 1])
        labels = self.labels[self.label_offsets[begin]:self.label_offsets[end]]
        out[np.repeat(np.arange(end - begin), lengths), labels] = 1
        return out

    def shuffled_csr(self, order):
        """Offsets, columns and values of all rows in another order."""
        lengths = np.diff(self.offsets)[order]
        offsets = np.zeros(len(order) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        source = np.repeat(self.offsets[:-1][order] - offsets[:-1], lengths)
        source += np.arange(len(source))
        return offsets, self.columns[source], self.values[source]


class Problem:
    """What is to be learnt, from which weights."""

    def __init__(self, run):
        with open(os.path.join(run.export, "export.json"), encoding="utf-8") as file:
            self.facts = json.load(file)
        if self.facts["format"] != 1:
            raise ValueError(f"{run.export}/export.json has format {self.facts['format']}; these baselines read "
                             "format 1 only; use those of the hogbatch that wrote it")
        tensors = read_safetensors(os.path.join(run.export, "data.safetensors"))
        self.features, self.outputs = self.facts["features"], self.facts["outputs"]
        self.loss, self.activation, self.sparse = (self.facts[key] for key in ("loss", "activation", "sparse"))
        self.splits = {name: Split(name, tensors, self.features) for name in ("train", "valid", "test")
                       if self.facts["rows"][name] > 0}
        self.train = self.splits["train"]
        weights = read_safetensors(run.initial)
        self.layers = [(weights[f"layers.{i}.weight"], weights[f"layers.{i}.bias"])
                       for i in range(len(weights) // 2)]
        self.seed = run.seed

    def orders(self):
        """The training rows in a new random order for every epoch, for ever."""
        random = np.random.default_rng(self.seed)
        while True:
            yield random.permutation(self.train.rows)

    def labels(self, split):
        """What the loss is computed from: classes, a matrix of 0 and 1, or a column of targets."""
        if self.loss == "softmax":
            return split.classes
        if self.loss == "sigmoid":
            check_memory(4 * split.rows * self.outputs, "a matrix of all labels")
            return split.label_matrix(self.outputs)
        return split.targets.reshape(-1, 1)

    def sparse_first_layer(self, run):
        """Whether sparse rows stay sparse. Those of few features, or few zeros, are faster as dense ones."""
        if not self.sparse or run.first_layer == "dense":
            return False
        density = len(self.train.values) / (self.train.rows * self.features)
        return run.first_layer == "sparse" or (self.features > DENSE_FEATURES and density < DENSE_DENSITY)

    def dense_rows(self, split):
        check_memory(4 * split.rows * self.features, "dense rows")
        return split.dense()

    def matrix(self, split, sparse, begin=0, end=None):
        """Rows as a matrix of numpy, or of scipy if they are to stay sparse."""
        if not sparse:
            return self.dense_rows(split) if end is None else split.dense(begin, end)
        import scipy.sparse
        end = split.rows if end is None else end
        offsets, columns, values = split.csr(begin, end)
        return scipy.sparse.csr_matrix((values, columns, offsets), (end - begin, self.features))

    def evaluate(self, outputs):
        """Losses and metrics of all splits; outputs(split, begin, end) are the network's."""
        values = {}
        for name, split in self.splits.items():
            # As many training rows as hogbatch evaluates.
            most = self.facts.get("evaluated_train_rows") if name == "train" else None
            sums = measure(self, outputs, split, min(split.rows, most or split.rows))
            values.update({f"{name}_{key}": value for key, value in sums.items()})
        return values


def check_memory(needed, what):
    """Impossible if twice as much is not free: frameworks copy."""
    with open("/proc/meminfo", encoding="ascii") as file:
        free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    if 2 * needed > free:
        raise Impossible(f"{what} would take {needed / 1e9:.1f} GB, twice that with the framework's copy, and "
                         f"{free / 1e9:.1f} GB of memory are free")


def measure(problem, outputs, split, rows):
    """The mean loss over the first rows of a split, and its metrics, in double precision."""
    step = max(1, EVALUATED_NUMBERS // max(problem.outputs, 512))
    sums = {}
    for begin in range(0, rows, step):
        end = min(rows, begin + step)
        part = SUMS[problem.loss](np.asarray(outputs(split, begin, end), np.float64), split, begin, end)
        for key, value in part.items():
            sums[key] = sums.get(key, 0.0) + value
    means = {key: float(value) / rows for key, value in sums.items()}
    if problem.loss == "squared":
        means["rmse"] = math.sqrt(means["rmse"]) * problem.facts["target_deviation"]
    return means


def softmax_sums(outputs, split, begin, end):
    classes = split.classes[begin:end]
    largest = outputs.max(axis=1, keepdims=True)
    log_sums = largest[:, 0] + np.log(np.exp(outputs - largest).sum(axis=1))
    wanted = outputs[np.arange(len(outputs)), classes]
    return {"loss": (log_sums - wanted).sum(), "accuracy": (outputs.argmax(axis=1) == classes).sum()}


def sigmoid_sums(outputs, split, begin, end):
    wanted = split.label_matrix(outputs.shape[1], begin, end, np.bool_)
    terms = np.maximum(outputs, 0) + np.log1p(np.exp(-np.abs(outputs))) - np.where(wanted, outputs, 0)
    sums = {"loss": terms.mean(axis=1).sum()}
    top = np.argsort(-outputs, axis=1, kind="stable")[:, :5]
    hits = np.take_along_axis(wanted, top, axis=1)
    for k in (1, 3, 5):
        sums[f"precision_at_{k}"] = hits[:, :k].sum() / k
    return sums


def squared_sums(outputs, split, begin, end):
    squares = ((outputs[:, 0] - split.targets[begin:end]) ** 2).sum()
    return {"loss": squares, "rmse": squares}


SUMS = {"softmax": softmax_sums, "sigmoid": sigmoid_sums, "squared": squared_sums}
