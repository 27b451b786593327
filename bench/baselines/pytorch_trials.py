#!/usr/bin/env python3
"""All trials as one network in PyTorch: weights [trials, in, out], one baddbmm a layer, one backward pass.

Every trial sees the same rows, as lanes of hogbatch do. The loss of a trial is multiplied by its learning rate,
so that one subtraction updates all of them. Stops after --seconds, and says how much of an epoch that was.
"""
import time

import common
import trials


class Lanes:
    def __init__(self, torch, problem, lrs):
        from pytorch_network import ACTIVATIONS, as_tensor
        self.torch, self.lanes = torch, len(lrs)
        self.activation = ACTIVATIONS[problem.activation]
        self.lrs = torch.tensor(lrs).view(-1, 1)
        self.parameters = []
        for weights, bias in problem.layers:
            self.parameters += [as_tensor(weights, "cpu").repeat(self.lanes, 1, 1),
                                as_tensor(bias, "cpu").repeat(self.lanes, 1, 1)]
        for parameter in self.parameters:
            parameter.requires_grad_()

    def outputs(self, x):
        """[trials, rows, outputs]"""
        sums = x.expand(self.lanes, *x.shape)
        for i in range(0, len(self.parameters), 2):
            if i > 0:
                sums = self.activation(sums)
            sums = self.torch.baddbmm(self.parameters[i + 1], sums, self.parameters[i])
        return sums

    def losses(self, x, labels):
        """[trials, rows]"""
        outputs = self.outputs(x)
        wanted = labels.repeat(self.lanes)
        return self.torch.nn.functional.cross_entropy(outputs.flatten(0, 1), wanted, reduction="none").view(
            self.lanes, -1)

    def update(self, x, labels):
        loss = (self.losses(x, labels) * self.lrs).sum() / len(labels)
        gradients = self.torch.autograd.grad(loss, self.parameters)
        with self.torch.no_grad():
            self.torch._foreach_sub_(self.parameters, gradients)


def main():
    options = trials.parse(__doc__)
    import torch
    import pytorch_network

    pytorch_network.limit_threads(options.threads)
    run, problem = trials.load(options)
    rows = pytorch_network.Rows(problem, False, "cpu")
    valid = problem.splits["valid"]
    valid_x = pytorch_network.as_tensor(problem.dense_rows(valid), "cpu")
    valid_labels = pytorch_network.as_tensor(problem.labels(valid), "cpu").long()
    lanes = Lanes(torch, problem, options.lr)
    batches, orders = rows.split.rows // run.batch, problem.orders()
    start, done, training, losses = common.since_process_start(), 0, 0.0, None

    while training < options.seconds and done < batches * options.epochs:
        began = time.perf_counter()
        if done % batches == 0:
            rows.shuffle(next(orders))
        at = done % batches * run.batch
        lanes.update(*rows.batch(at, at + run.batch))
        training += time.perf_counter() - began
        done += 1
    began = time.perf_counter()
    with torch.no_grad():
        losses = sum(lanes.losses(x, y).sum(1) for x, y in zip(valid_x.split(512), valid_labels.split(512)))
    trials.report(start=start, epochs=done / batches, seconds=[training], evaluation=time.perf_counter() - began,
                  losses=(losses / valid.rows).tolist())


if __name__ == "__main__":
    main()
