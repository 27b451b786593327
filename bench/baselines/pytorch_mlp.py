#!/usr/bin/env python3
"""PyTorch, written for speed.

    eager     autograd, step by step
    compile   gradients and updates of one batch as one graph of torch.compile
    hogwild   weights in shared memory, one single-threaded process a core

Rows of many features that are mostly zero meet an EmbeddingBag with sparse gradients as the first layer;
all others are dense. Data stays in memory, or on the GPU, as tensors.
"""
import sys

import common

VARIANTS = (common.Variant("eager"), common.Variant("compile", optimizers=("sgd",)), common.Variant("hogwild"))


def run_baseline(run, session):
    import pytorch_hogwild
    import pytorch_network
    from data import Problem

    problem = Problem(run)
    trainer = (pytorch_hogwild.Hogwild if run.variant == "hogwild" else pytorch_network.Trainer)(run, problem)
    session.facts = {"device": trainer.device, "first_layer": trainer.first_layer}
    session.ready()
    try:
        common.train(session, trainer, lambda: problem.evaluate(trainer.outputs), problem.orders())
    finally:
        session.child_bytes = trainer.close()


BASELINE = common.Baseline("pytorch", ("torch",), "pytorch", VARIANTS, run_baseline)

if __name__ == "__main__":
    sys.exit(common.main(BASELINE))
