"""What the baselines of scripts/sweep-vs share: arguments, the rows, and the report of what was measured.

    python NAME_trials.py EXPORT --lr 0.01 0.1 --epochs 5    trains one network for each learning rate

EXPORT is a folder of `hogbatch export`. All trials start from its weights and validate on its validation rows.
"""
import argparse
import json
import pathlib

import common


def parse(description):
    """The arguments. Threads are limited here: before numpy or a framework is loaded."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export", type=pathlib.Path, help="folder of hogbatch export")
    parser.add_argument("--lr", type=float, nargs="+", required=True, help="learning rates, one for each trial")
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--batch", type=int, default=16, help="rows per update (default 16)")
    parser.add_argument("--threads", type=int, default=2, help="default 2")
    parser.add_argument("--seconds", type=float, default=10.0,
                        help="seconds of training after which a baseline that scales stops (default 10)")
    options = parser.parse_args()
    common.limit_threads(options.threads)
    return options


def load(options):
    """A Run with the first learning rate, and the problem."""
    from data import Problem
    run = common.Run(export=str(options.export), initial=str(options.export / "initial-1.safetensors"), out="",
                     variant="trials", batch=options.batch, lr=options.lr[0], threads=options.threads, device="cpu",
                     epochs=options.epochs)
    return run, Problem(run)


def report(**figures):
    """Prints what was measured: `start` is from the start of the process to the first trial."""
    print(json.dumps(figures))
