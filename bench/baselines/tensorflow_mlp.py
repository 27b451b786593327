#!/usr/bin/env python3
"""TensorFlow, written for speed: many steps inside one call of a tf.function, fused updates of variables,
data in memory as tensors.

    function   dense rows
    xla        dense rows, each step compiled by XLA
    gather     sparse rows: tf.gather and a segment sum, and scatter_sub of the rows of W that a batch touches
    sparse     sparse rows: tf.sparse.sparse_dense_matmul

Sparse rows of few features may also be trained as dense ones by the first two.
"""
import os
import sys

import common

VARIANTS = (common.Variant("function"), common.Variant("xla"),
            common.Variant("gather", inputs=("sparse",), optimizers=("sgd",)),
            common.Variant("sparse", inputs=("sparse",)))


def run_baseline(run, session):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow_network
    from data import Problem

    problem = Problem(run)
    trainer = tensorflow_network.Trainer(run, problem)
    session.facts = {"device": trainer.device, "first_layer": trainer.first_layer}
    session.ready()
    common.train(session, trainer, lambda: problem.evaluate(trainer.outputs), problem.orders())


BASELINE = common.Baseline("tensorflow", ("tensorflow-cpu", "tensorflow"), "tensorflow", VARIANTS, run_baseline)

if __name__ == "__main__":
    sys.exit(common.main(BASELINE))
