#!/usr/bin/env python3
"""Trials in scikit-learn: RandomizedSearchCV over MLPClassifier, one process a core.

One split, into the training and validation rows of hogbatch. A trial validates once, after its last epoch.
"""
import os
import time
import warnings

import common
import trials


def make_search(options, problem, lrs, epochs, split):
    from sklearn.model_selection import RandomizedSearchCV
    from sklearn.neural_network import MLPClassifier
    network = MLPClassifier([len(bias) for _, bias in problem.layers[:-1]], activation=problem.activation,
                            solver="sgd", alpha=0.0, batch_size=options.batch, momentum=0.0,
                            nesterovs_momentum=False, max_iter=epochs, n_iter_no_change=epochs + 1, tol=0.0,
                            random_state=1)
    return RandomizedSearchCV(network, {"learning_rate_init": lrs}, n_iter=len(lrs), n_jobs=options.threads,
                              cv=split, refit=False, scoring="neg_log_loss")


def main():
    options = trials.parse(__doc__)
    common.limit_threads(1)  # of each process
    os.environ["PYTHONWARNINGS"] = "ignore"  # of workers: that training ends after the last epoch
    warnings.filterwarnings("ignore")
    import numpy as np
    from sklearn.model_selection import PredefinedSplit

    _, problem = trials.load(options)
    splits = problem.train, problem.splits["valid"]
    x = np.concatenate([problem.dense_rows(split) for split in splits])
    labels = np.concatenate([problem.labels(split) for split in splits])
    fold = np.repeat([-1, 0], [split.rows for split in splits])
    # A few rows start the processes.
    few = np.arange(400)
    make_search(options, problem, options.lr[:2], 1, 2).fit(x[few], labels[few])
    start, began = common.since_process_start(), time.perf_counter()
    search = make_search(options, problem, options.lr, options.epochs, PredefinedSplit(fold))
    search.fit(x, labels)
    trials.report(start=start, seconds=[time.perf_counter() - began],
                  losses=(-search.cv_results_["mean_test_score"]).tolist())


if __name__ == "__main__":
    main()
