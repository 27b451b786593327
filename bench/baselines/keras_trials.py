#!/usr/bin/env python3
"""Trials in Keras, one after another: a Sequential model and one call of fit for each.

The model is compiled once; a further trial sets the weights and the learning rate. Rows are dense, since a
first layer for sparse rows is slower at this size.
"""
import os
import time

import common
import keras_fit
import trials


def main():
    options = trials.parse(__doc__)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import numpy as np
    import keras
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(options.threads)
    run, problem = trials.load(options)
    train, valid = ((problem.dense_rows(split), np.array(problem.labels(split)))
                    for split in (problem.train, problem.splits["valid"]))
    model = keras_fit.make_model(keras, run, problem, False)
    start, seconds, losses = common.since_process_start(), [], []
    for lr in options.lr:
        began = time.perf_counter()
        for layer, parts in zip(model.layers, problem.layers):
            layer.set_weights(parts)
        model.optimizer.learning_rate = lr
        history = model.fit(*train, batch_size=options.batch, epochs=options.epochs, validation_data=valid,
                            validation_batch_size=4096, verbose=0).history
        seconds.append(time.perf_counter() - began)
        losses.append(min(history["val_loss"]))
    trials.report(start=start, seconds=seconds, losses=losses)


if __name__ == "__main__":
    main()
