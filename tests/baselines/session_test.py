"""The clock, the stop rule and the records, with a trainer that only counts."""
import dataclasses
import json
import math
import pathlib
import tempfile
import unittest
from unittest import mock

import problems
import common


class Counter:
    """Takes a second for every batch and remembers the rows."""

    def __init__(self, clock, batch, failing=None):
        self.clock, self.batch, self.failing = clock, batch, failing
        self.rows, self.warmed = [], False

    def warm_up(self):
        self.clock.now += 5
        self.warmed = True

    def begin_epoch(self, order):
        self.order = order

    def train(self, begin, end):
        assert self.warmed and begin % self.batch == 0 and (end - begin) % self.batch == 0
        self.rows += self.order[begin:end]
        self.clock.now += (end - begin) / self.batch
        if self.failing:
            self.failing()


class Clock:
    now = 100.0

    def read(self):
        return self.now


def orders():
    epoch = 0
    while True:
        yield [(7 * i + epoch) % 10 for i in range(10)]
        epoch += 1


BASELINE = common.Baseline("counter", ("no-such-package",), "counter", (common.Variant("one", ("dense",)),), None)


class Sessions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.clock = Clock()
        self.losses = iter(())
        patch = mock.patch("common.time.perf_counter", self.clock.read)
        patch.start()
        self.addCleanup(patch.stop)

    def evaluate(self):
        self.clock.now += 1000  # must not count
        loss = next(self.losses, 1.0)
        return {"train_loss": loss, "valid_loss": loss + 0.5, "valid_accuracy": 1 - loss}

    def run_session(self, failing=None, **changes):
        settings = {"export": "", "initial": "", "out": self.folder.name, "variant": "one", "batch": 4, "lr": 0.1,
                    "epochs": 2.0, "eval_every": 1.0, **changes}
        run = common.Run(**settings)
        session = common.Session(run, 10 - 10 % run.batch)
        session.ready()
        self.trainer = Counter(self.clock, run.batch, failing and (lambda: failing(session)))
        common.train(session, self.trainer, self.evaluate, orders())
        session.close()
        return session, problems.lines_of(self.folder.name)

    def test_an_epoch_is_whole_batches_of_its_order(self):
        session, lines = self.run_session()
        self.assertEqual(self.trainer.rows[:8], [0, 7, 4, 1, 8, 5, 2, 9])
        self.assertEqual(self.trainer.rows[8:], [1, 8, 5, 2, 9, 6, 3, 0])
        self.assertEqual((session.examples, session.updates, session.epoch, session.stopped), (16, 4, 2.0, "epochs"))
        self.assertEqual([line["epoch"] for line in lines], [0, 1, 2])

    def test_the_clock_counts_training_alone(self):
        session, lines = self.run_session()
        self.assertEqual(session.train_seconds, 4)
        self.assertEqual(session.compile_seconds, 5)
        self.assertEqual([line["train_seconds"] for line in lines], [0, 2, 4])
        self.assertEqual(lines[-1]["seconds"], 4 + 3 * 1000)
        self.assertEqual(lines[-1]["examples_per_second"], 4)

    def test_evaluations_may_be_rare_or_frequent(self):
        _, lines = self.run_session(eval_every=None)
        self.assertEqual([line["epoch"] for line in lines], [0, 2])
        _, lines = self.run_session(eval_every=0.5)
        self.assertEqual([line["epoch"] for line in lines], [0, 0.5, 1, 1.5, 2])

    def test_time_ends_it(self):
        session, lines = self.run_session(max_seconds=3.0, epochs=100.0)
        self.assertEqual(session.stopped, "max_time")
        self.assertEqual(session.train_seconds, 3)
        self.assertEqual(lines[-1]["examples"], 12)

    def test_a_target_ends_it_on_the_split_that_was_asked(self):
        self.losses = iter([0.9, 0.4, 0.3, 0.2])
        session, _ = self.run_session(epochs=100.0, target_loss=0.41, target_on="train")
        self.assertEqual((session.stopped, session.seconds_to_target, session.epoch), ("target_loss", 2, 1))
        self.losses = iter([0.9, 0.4, 0.3, 0.2, 0.1])
        session, _ = self.run_session(epochs=3.0, target_loss=0.41, target_on="valid")
        self.assertEqual((session.stopped, session.seconds_to_target), ("epochs", None))

    def test_a_loss_that_is_not_finite_ends_it(self):
        self.losses = iter([0.9, 0.5, math.nan])
        session, lines = self.run_session(epochs=9.0)
        self.assertEqual((session.stopped, session.epoch), ("diverged", 2))
        self.assertNotIn("valid_loss", lines[-1])
        self.assertEqual(session.summary(BASELINE)["valid_loss"], 1.0)

    def test_a_signal_ends_it_with_what_there_is(self):
        def interrupt(session):
            session.interrupted = True
        session, lines = self.run_session(failing=interrupt, epochs=9.0)
        self.assertEqual(session.stopped, "interrupted")
        self.assertEqual(lines[-1]["examples"], session.examples)

    def test_the_summary_is_that_of_the_best_evaluation(self):
        self.losses = iter([0.9, 0.2, 0.6])
        session, _ = self.run_session()
        summary = session.summary(BASELINE)
        self.assertEqual((summary["train_loss"], summary["valid_loss"], summary["best_epoch"]), (0.2, 0.7, 1))
        for key in ("format", "name", "variant", "version", "device", "threads", "startup_seconds",
                    "compile_seconds", "train_seconds", "examples", "updates", "epoch", "examples_per_second",
                    "peak_memory_bytes", "cpu_seconds", "seconds_to_target", "stopped_because", "valid_accuracy"):
            self.assertIn(key, summary)
        self.assertGreater(summary["peak_memory_bytes"], 1 << 20)
        json.dumps(summary, allow_nan=False)

    def test_no_epochs_evaluate_the_initial_weights(self):
        session, lines = self.run_session(epochs=0.0)
        self.assertEqual((session.stopped, len(lines), session.updates), ("epochs", 1, 0))

    def test_variants_refuse_what_they_cannot_do(self):
        run = common.Run("", "", "", "one", 1, 1.0)
        facts = {"sparse": True, "loss": "softmax"}
        with self.assertRaisesRegex(common.Impossible, "variant one takes rows dense, not sparse"):
            common.check(BASELINE, run, facts)
        with self.assertRaisesRegex(ValueError, "unknown variant two: choose one of one"):
            common.check(BASELINE, dataclasses.replace(run, variant="two"), facts)

    def test_a_file_is_replaced_whole(self):
        path = pathlib.Path(self.folder.name) / "x.json"
        path.write_text("old", encoding="utf-8")
        common.write_whole(str(path), "new")
        self.assertEqual(path.read_text(encoding="utf-8"), "new")
        self.assertEqual([file.name for file in path.parent.iterdir() if "x.json" in file.name], ["x.json"])


if __name__ == "__main__":
    unittest.main()
