"""Opens the model that model_file_test.cc saved as any Python program would, and checks it."""

import json
import sys

import numpy
from safetensors import safe_open
from safetensors.numpy import load_file

path = sys.argv[1]
tensors = load_file(path)
assert sorted(tensors) == ["layers.0.bias", "layers.0.weight", "layers.1.bias", "layers.1.weight"]
assert tensors["layers.0.weight"].shape == (5, 3)
assert tensors["layers.1.bias"].dtype == numpy.float32
expected = (0.1 * numpy.arange(1, 16, dtype=numpy.float32)).reshape(5, 3)
numpy.testing.assert_allclose(tensors["layers.0.weight"], expected, rtol=1e-6)
numpy.testing.assert_allclose(tensors["layers.1.bias"], [-0.5, -1.0])
with safe_open(path, "numpy") as file:
    metadata = file.metadata()
assert metadata["format"] == "hogbatch"
assert json.loads(metadata["network"])["hidden"] == [3]
assert json.loads(metadata["schema"])["label_names"] == ["non", "où"]
