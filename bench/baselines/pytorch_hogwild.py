"""PyTorch's Hogwild: processes that train one network in shared memory, without locks."""
import resource
import signal
import time

import numpy as np
import torch
import torch.multiprocessing as multiprocessing

import pytorch_network
from common import Impossible, limit_threads

CLAIM_ROWS = 256  # that a process takes at once, or one batch


def private_bytes():
    """The most memory of this process, without files and shared memory, which others count, too."""
    with open("/proc/self/status", encoding="ascii") as file:
        sizes = dict(line.split(":", 1) for line in file)
    shared = sum(int(sizes[key].split()[0]) for key in ("RssFile", "RssShmem"))
    return max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - shared) * 1024


class Worker:
    """What a process has: views of the shared tensors and an optimiser of its own."""

    def __init__(self, run, network, rows, claimed):
        pytorch_network.limit_threads(1)
        self.batch, self.network, self.rows, self.claimed = run.batch, network, rows, claimed
        self.claim = max(1, CLAIM_ROWS // run.batch) * run.batch
        self.make_step = lambda: pytorch_network.make_step(run, network)
        self.step = self.make_step()

    def train(self, end):
        while True:
            with self.claimed.get_lock():
                begin = self.claimed.value
                self.claimed.value = min(end, begin + self.claim)
            if begin >= end:
                return
            for at in range(begin, min(end, begin + self.claim), self.batch):
                self.step(*self.rows.batch(at, at + self.batch))


def work(run, network, rows, claimed, pipe):
    """The process: takes commands from the pipe until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    worker = Worker(run, network, rows, claimed)
    pipe.send(0)
    while True:
        command = pipe.recv()
        if command is None:
            return pipe.send(private_bytes())
        if command == "fresh":
            worker.step = worker.make_step()
        else:
            worker.train(command)
        pipe.send(time.process_time())


class SharedRows(pytorch_network.Rows):
    """The order of an epoch lies in shared memory as well. Sparse rows are shuffled there, too."""

    def __init__(self, problem, sparse):
        super().__init__(problem, sparse, "cpu")
        self.order = torch.arange(problem.train.rows)
        shared = [self.order, self.all_labels]
        if sparse:
            self.labels = self.all_labels.clone()
            self.offsets = torch.zeros(problem.train.rows + 1, dtype=torch.int64)
            self.columns = torch.zeros(len(problem.train.values), dtype=torch.int64)
            self.values = torch.zeros(len(problem.train.values))
            shared += [self.labels, self.offsets, self.columns, self.values]
        else:
            shared.append(self.x)
        for tensor in shared:
            tensor.share_memory_()
        self.split = problem.train if not sparse else None
        self.csr = problem.train if sparse else None

    def __getstate__(self):
        state = dict(self.__dict__)
        state["split"] = state["csr"] = None  # mapped files stay with the parent
        return state

    def shuffle(self, order):
        self.order.copy_(torch.from_numpy(order))
        if self.sparse:
            for target, part in zip((self.offsets, self.columns, self.values), self.csr.shuffled_csr(order)):
                target.copy_(torch.from_numpy(part))
            torch.index_select(self.all_labels, 0, self.order, out=self.labels)

    def batch(self, begin, end):
        if self.sparse:
            self.bounds = {begin: int(self.offsets[begin]), end: int(self.offsets[end])}
        return super().batch(begin, end)


class Hogwild(pytorch_network.Trainer):
    def __init__(self, run, problem):
        if run.device == "gpu":
            raise Impossible("Hogwild shares memory between processor cores; it has no GPU form")
        self.run, self.device, self.torch_device = run, "cpu", "cpu"
        pytorch_network.limit_threads(run.threads)  # for evaluation
        sparse = problem.sparse_first_layer(run)
        self.first_layer = "embedding" if sparse else "dense"
        self.network = pytorch_network.Network(problem, sparse, "cpu")
        for parameter in self.network.parameters:
            parameter.share_memory_()
        self.rows = SharedRows(problem, sparse)
        self.total = problem.train.rows
        self.cpu_seconds = 0.0  # of the processes
        self._start()

    def _start(self):
        context = multiprocessing.get_context("spawn")
        limit_threads(1)  # for what the processes load
        self.claimed = context.Value("q", 0)
        self.pipes, self.processes = [], []
        for _ in range(self.run.threads):
            pipe, other = context.Pipe()
            process = context.Process(target=work, daemon=True,
                                      args=(self.run, self.network, self.rows, self.claimed, other))
            process.start()
            other.close()
            self.pipes.append(pipe)
            self.processes.append(process)
        self._wait()

    def _tell(self, command):
        for pipe in self.pipes:
            pipe.send(command)
        return self._wait()

    def _wait(self):
        try:
            return [pipe.recv() for pipe in self.pipes]
        except EOFError:
            raise OSError("a process of Hogwild ended by itself") from None

    def warm_up(self):
        before = [parameter.clone() for parameter in self.network.parameters]
        self.begin_epoch(np.arange(self.total))
        batches = min(self.total // self.run.batch, 5 * len(self.pipes))
        self.train(0, batches * self.run.batch)
        for parameter, old in zip(self.network.parameters, before):
            parameter.copy_(old)
        self.cpu_seconds = sum(self._tell("fresh"))

    def train(self, begin, end):
        self.claimed.value = begin
        before, self.cpu_seconds = self.cpu_seconds, sum(self._tell(end))
        return self.cpu_seconds - before

    def close(self):
        """Ends the processes; returns the memory that they had beside the parent's."""
        try:
            for pipe in self.pipes:
                pipe.send(None)
            return sum(pipe.recv() for pipe in self.pipes)
        except (OSError, EOFError):
            return 0
        finally:
            for process in self.processes:
                process.join(5)
