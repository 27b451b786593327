"""What hogbatch exported, as the baselines read it, against safetensors' own reader and hogbatch's losses."""
import json
import pathlib
import tempfile
import unittest
from unittest import mock

import numpy as np
import safetensors.numpy

import problems
import common
import data


def outputs_of(problem):
    """The network in numpy."""
    def outputs(split, begin, end):
        x = split.dense(begin, end).astype(np.float64)
        for i, (weights, bias) in enumerate(problem.layers):
            x = (np.tanh(x) if i > 0 else x) @ weights + bias
        return x
    return outputs


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.exports = {kind: problems.export(cls.folder.name, kind) for kind in problems.TEXTS}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def problem(self, kind, **changes):
        settings = problems.run_settings(self.exports[kind][0], self.folder.name, **changes)
        return data.Problem(common.Run(**settings))

    def test_tensors_are_those_of_the_safetensors_package(self):
        for kind, (folder, _) in self.exports.items():
            for name in ("data.safetensors", "initial-1.safetensors"):
                expected = safetensors.numpy.load_file(folder / name)
                read = data.read_safetensors(str(folder / name))
                self.assertEqual(set(read), set(expected), kind)
                for key, array in expected.items():
                    np.testing.assert_array_equal(read[key], array)
                    self.assertEqual(read[key].dtype, array.dtype)

    def test_splits_have_the_rows_that_the_description_says(self):
        for kind in self.exports:
            problem = self.problem(kind)
            self.assertEqual({name: split.rows for name, split in problem.splits.items()},
                             {"train": problems.TRAIN_ROWS, "valid": 30, "test": problems.ROWS})
            self.assertEqual(problem.sparse, kind in ("two_classes", "labels"))
        self.assertEqual({self.problem(kind).loss for kind in self.exports}, {"softmax", "sigmoid", "squared"})

    def test_an_export_of_a_newer_format_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            facts = json.loads((self.exports["classes"][0] / "export.json").read_text(encoding="utf-8"))
            facts["format"] += 1
            (pathlib.Path(folder) / "export.json").write_text(json.dumps(facts), encoding="utf-8")
            run = common.Run(**problems.run_settings(pathlib.Path(folder), folder))
            with self.assertRaisesRegex(ValueError, r"export\.json has format 2; these baselines read format 1 only"):
                data.Problem(run)

    def test_losses_and_metrics_are_those_of_hogbatch(self):
        for kind, (folder, file) in self.exports.items():
            out = pathlib.Path(self.folder.name) / f"{kind}-run"
            problems.hogbatch("train", file, "--test", file, *problems.NETWORK, "--epochs", "0", "--init",
                              folder / "initial-1.safetensors", "--out", out, "--devices", "cpu:1", "--quiet")
            expected = problems.lines_of(out)[0]
            problem = self.problem(kind)
            values = problem.evaluate(outputs_of(problem))
            self.assertGreaterEqual(len(values), 6)
            for key, value in values.items():
                self.assertAlmostEqual(value, expected[key], delta=2e-6 * max(1, abs(value)), msg=f"{kind} {key}")

    def test_sparse_rows_are_shuffled_as_dense_ones(self):
        split = self.problem("two_classes").train
        order = np.random.default_rng(3).permutation(split.rows)
        offsets, columns, values = split.shuffled_csr(order)
        for row in (0, 17, split.rows - 1):
            dense = np.zeros(split.features, np.float32)
            dense[columns[offsets[row]:offsets[row + 1]]] = values[offsets[row]:offsets[row + 1]]
            np.testing.assert_array_equal(dense, split.dense()[order[row]])
        self.assertGreater(len(values), split.rows)

    def test_every_epoch_has_an_order_of_its_own_that_the_seed_fixes(self):
        first = self.problem("classes").orders()
        again = self.problem("classes").orders()
        one, two = next(first), next(first)
        np.testing.assert_array_equal(one, next(again))
        np.testing.assert_array_equal(np.sort(two), np.arange(problems.TRAIN_ROWS))
        self.assertFalse(np.array_equal(one, two))
        other = next(self.problem("classes", seed=2).orders())
        self.assertFalse(np.array_equal(one, other))

    def test_only_rows_of_many_features_and_few_values_stay_sparse(self):
        run = common.Run(**problems.run_settings(self.exports["two_classes"][0], ""))
        self.assertTrue(self.problem("two_classes").sparse_first_layer(run))
        for name, value in (("DENSE_FEATURES", 400), ("DENSE_DENSITY", 0.02)):
            with mock.patch(f"data.{name}", value):
                self.assertFalse(self.problem("two_classes").sparse_first_layer(run))
        self.assertFalse(self.problem("classes").sparse_first_layer(run))

    def test_data_beyond_the_memory_is_refused(self):
        with self.assertRaisesRegex(common.Impossible, r"dense rows would take 1000000\.0 GB"):
            data.check_memory(10 ** 15, "dense rows")
        data.check_memory(1, "dense rows")


if __name__ == "__main__":
    unittest.main()
