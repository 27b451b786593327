#!/usr/bin/env python3
"""Keras as most people use it: a Sequential model, compile and one call of fit, which shuffles by itself.

    fit   the one variant

Sparse rows of many features stay sparse (Input(sparse=True)). fit also trains on the last, smaller batch of
an epoch.
"""
import math
import os
import sys
import time

import common

VARIANTS = (common.Variant("fit"),)


def make_model(keras, run, problem, sparse):
    activation = problem.activation
    if activation == "gelu":
        def activation(x):
            return keras.activations.gelu(x, approximate=True)
    layers = [keras.Input((problem.features,), sparse=sparse)]
    last = len(problem.layers) - 1
    layers += [keras.layers.Dense(len(bias), activation=None if i == last else activation)
               for i, (_, bias) in enumerate(problem.layers)]
    model = keras.Sequential(layers)
    for layer, parts in zip(model.layers, problem.layers):
        layer.set_weights(parts)
    if run.optimizer == "adam":
        optimizer = keras.optimizers.Adam(run.lr, epsilon=1e-8)
    else:
        optimizer = keras.optimizers.SGD(run.lr, momentum=run.momentum)
    model.compile(optimizer=optimizer, loss=make_loss(keras, problem))
    return model


def make_loss(keras, problem):
    """With hogbatch's gradient: a sigmoid loss is summed over the labels."""
    if problem.loss == "softmax":
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    if problem.loss == "squared":
        return "mse"
    return lambda labels, outputs: problem.outputs * keras.losses.binary_crossentropy(
        labels, outputs, from_logits=True)


def make_clock(keras, run, session, evaluate):
    class Clock(keras.callbacks.Callback):
        """Counts, evaluates while the clock stands, and ends the training."""
        in_epoch = 0

        def on_train_begin(self, logs=None):
            self.cpu, self.since = time.process_time(), time.perf_counter()

        def on_train_batch_end(self, batch, logs=None):
            rows = min(run.batch, session.rows - self.in_epoch)
            self.in_epoch = (self.in_epoch + rows) % session.rows
            now, cpu = time.perf_counter(), time.process_time()
            session.trained(rows, 1, now - self.since, cpu - self.cpu)
            self.since, self.cpu = now, cpu
            if session.wants_evaluation():
                session.evaluated(evaluate())
                self.on_train_begin()
            if session.stopped:
                self.model.stop_training = True
    return Clock()


def warm_up(model, problem, x, labels, batch):
    """Compiles the step with two batches, and takes them back."""
    import numpy as np
    rows = slice(0, min(problem.train.rows, 2 * batch))
    model.fit(x[rows], labels[rows], batch_size=batch, epochs=1, verbose=0)
    rate = np.array(model.optimizer.learning_rate)
    for variable in model.optimizer.variables:
        variable.assign(np.zeros(variable.shape, variable.dtype))
    model.optimizer.learning_rate = rate
    for layer, parts in zip(model.layers, problem.layers):
        layer.set_weights(parts)


def run_baseline(run, session):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import numpy as np
    import keras
    import tensorflow as tf
    from data import Problem

    tf.config.threading.set_intra_op_parallelism_threads(run.threads)
    tf.config.threading.set_inter_op_parallelism_threads(run.threads)
    if run.device == "cpu":
        tf.config.set_visible_devices([], "GPU")
    gpus = tf.config.list_physical_devices("GPU") if run.device != "cpu" else []
    if run.device == "gpu" and not gpus:
        raise common.Impossible("TensorFlow finds no GPU")
    keras.utils.set_random_seed(run.seed)  # of fit's shuffling
    problem = Problem(run)
    sparse = problem.sparse_first_layer(run)
    session.facts = {"device": "gpu" if gpus else "cpu", "first_layer": "sparse" if sparse else "dense"}
    x = problem.matrix(problem.train, sparse)
    labels = np.array(problem.labels(problem.train))
    model = make_model(keras, run, problem, sparse)
    session.ready()

    def outputs(split, begin, end):
        return model.predict(problem.matrix(split, sparse, begin, end), batch_size=4096, verbose=0)

    def evaluate():
        return problem.evaluate(outputs)

    began = time.perf_counter()
    warm_up(model, problem, x, labels, run.batch)
    session.compiled(time.perf_counter() - began)
    session.evaluated(evaluate())
    if session.goal == 0:
        return session.trained(0, 0, 0.0)
    if not session.stopped:
        model.fit(x, labels, batch_size=run.batch, epochs=math.ceil(run.epochs), verbose=0,
                  callbacks=[make_clock(keras, run, session, evaluate)])


BASELINE = common.Baseline("keras", ("keras",), "tensorflow", VARIANTS, run_baseline, keeps_remainder=True)

if __name__ == "__main__":
    sys.exit(common.main(BASELINE))
