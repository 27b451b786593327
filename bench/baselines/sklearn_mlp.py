#!/usr/bin/env python3
"""scikit-learn's MLPClassifier and MLPRegressor by partial_fit, with the rows of many batches in each call.

    partial_fit   the one variant

They take what MLPClassifier takes: no gelu. With two classes it would have one output instead of two, which
is another network; so it gets a third class whose bias is so low that it neither occurs nor learns.
"""
import sys

import common

VARIANTS = (common.Variant("partial_fit"),)
ACTIVATIONS = {"relu": "relu", "sigmoid": "logistic", "tanh": "tanh"}
NEVER = -1e4  # exp(NEVER) is 0


class Trainer:
    def __init__(self, run, problem):
        import numpy as np
        if problem.activation not in ACTIVATIONS:
            raise common.Impossible(f"MLPClassifier has no activation {problem.activation}")
        if run.device == "gpu":
            raise common.Impossible("scikit-learn has no GPU form")
        self.np, self.run, self.problem = np, run, problem
        self.sparse = problem.sparse_first_layer(run)
        self.device, self.first_layer = "cpu", "sparse" if self.sparse else "dense"
        self.x = problem.matrix(problem.train, self.sparse)
        labels = problem.labels(problem.train)
        self.labels = labels.ravel() if problem.loss == "squared" else np.array(labels)
        self.extra = problem.loss == "softmax" and problem.outputs == 2
        self.restart()

    def restart(self):
        """A fresh estimator with the initial weights."""
        from sklearn.neural_network import MLPClassifier, MLPRegressor
        run, problem, np = self.run, self.problem, self.np
        # The squared loss of scikit-learn is half of hogbatch's, and so is its gradient; Adam does not mind.
        half = problem.loss == "squared" and run.optimizer == "sgd"
        lr = 2 * run.lr if half else run.lr
        make = MLPRegressor if problem.loss == "squared" else MLPClassifier
        self.net = make(hidden_layer_sizes=[len(bias) for _, bias in problem.layers[:-1]],
                        activation=ACTIVATIONS[problem.activation], solver=run.optimizer, alpha=0.0,
                        batch_size=run.batch, learning_rate_init=lr, momentum=run.momentum,
                        nesterovs_momentum=False, shuffle=False, random_state=run.seed)
        self.classes = {}
        if problem.loss == "softmax":
            self.classes = {"classes": np.arange(problem.outputs + self.extra)}
        elif problem.loss == "sigmoid":
            self.classes = {"classes": np.arange(problem.outputs)}
        self.net.partial_fit(self.x[:1], self.labels[:1], **self.classes)  # makes the arrays
        for (weights, bias), to_weights, to_bias in zip(problem.layers, self.net.coefs_, self.net.intercepts_):
            to_weights[:, :weights.shape[1]] = weights
            to_bias[:len(bias)] = bias
        if self.extra:
            self.net.coefs_[-1][:, -1] = 0
            self.net.intercepts_[-1][-1] = NEVER
        self._reset_optimizer()

    def _reset_optimizer(self):
        optimizer = self.net._optimizer
        for name in ("velocities", "ms", "vs"):
            for array in getattr(optimizer, name, []):
                array[...] = 0
        if hasattr(optimizer, "t"):
            optimizer.t = 0
        self.net.t_ = 0

    def warm_up(self):
        self.begin_epoch(self.np.arange(self.problem.train.rows))
        self.train(0, self.run.batch)
        self.restart()

    def begin_epoch(self, order):
        self.order = order

    def train(self, begin, end):
        rows = self.order[begin:end]
        self.net.partial_fit(self.x[rows], self.labels[rows])

    def outputs(self, split, begin, end):
        """Before the softmax or sigmoid, which predict_proba would apply."""
        x, np = self.problem.matrix(split, self.sparse, begin, end), self.np
        functions = {"relu": lambda z: np.maximum(z, 0), "logistic": lambda z: 1 / (1 + np.exp(-z)), "tanh": np.tanh}
        for i, (weights, bias) in enumerate(zip(self.net.coefs_, self.net.intercepts_)):
            x = x @ weights + bias
            if i + 1 < len(self.net.coefs_):
                x = functions[self.net.activation](x)
        return x[:, :self.problem.outputs]


def run_baseline(run, session):
    import warnings
    from data import Problem
    warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
    problem = Problem(run)
    trainer = Trainer(run, problem)
    session.facts = {"device": trainer.device, "first_layer": trainer.first_layer}
    session.ready()
    common.train(session, trainer, lambda: problem.evaluate(trainer.outputs), problem.orders())


BASELINE = common.Baseline("sklearn", ("scikit-learn",), "sklearn", VARIANTS, run_baseline)

if __name__ == "__main__":
    sys.exit(common.main(BASELINE))
