#!/usr/bin/env python3
"""Fails on an include against the arrows of docs/architecture.md.

    tests/arrows.py ROOT        checks the tree
    tests/arrows.py --selftest  checks that the check finds what it should
"""
import pathlib
import re
import sys

# folder: what it may include beside itself. Folders below src/ are named without it.
ARROWS = {
    "core": set(),
    "device": {"core"},
    "cpu": {"core", "device"},
    "gpu": {"core", "device"},
    "nn": {"core", "device"},
    "messaging": {"core"},
    "datasets": {"core"},
    "runtime": {"core", "device", "nn", "messaging", "datasets"},
    "algorithms": {"core", "runtime/control/algorithm.h"},
    "training": {"core", "device", "nn", "messaging", "datasets", "runtime", "algorithms", "cpu/cpu.h",
                 "gpu/gpu.h"},
    "cli": {"core", "device", "nn", "messaging", "datasets", "runtime", "algorithms", "training"},
    "main.cc": {"core", "cli"},
}
# Libraries that only these files, or folders, may see: one is racy by design, some cost compile time, and a
# GPU's are not on every machine.
ONLY_IN = {
    "concurrentqueue/": {"messaging/mailbox.h"},
    "CLI/": {"src/cli/parse.cc"},
    "hwloc.h": {"src/runtime/executors/pinning.cc"},
    "CL/": {"gpu/opencl/"},
    "clblast": {"gpu/opencl/"},
    "cuda": {"gpu/cuda/"},
    "cublas": {"gpu/cuda/"},
    "cudnn": {"gpu/cuda/"},
    "cusparse": {"gpu/cuda/"},
    "nvrtc": {"gpu/cuda/"},
}
SUFFIXES = (".h", ".cc", ".cu", ".inc")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def folder_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" else parts[0]


def violations(path, text):
    allowed = ARROWS[folder_of(path)]
    for quote, include in INCLUDE.findall(text):
        target = include.split("/")[0]
        for library, files in ONLY_IN.items():
            allowed_here = any(path == f or f.endswith("/") and path.startswith(f) for f in files)
            if include.startswith(library) and not allowed_here:
                yield f"{path} includes {include}: only {', '.join(sorted(files))} may"
        if quote != '"' or target == folder_of(path):
            continue
        if target not in ARROWS:
            yield f"{path} includes {include}: no such folder"
        elif target not in allowed and include not in allowed:
            yield f"{path} includes {include}: {folder_of(path)} may not include {target}"


def sources(root):
    for top in ("src", "cpu", "gpu", "messaging", "algorithms", "datasets"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SUFFIXES:
                yield path.relative_to(root).as_posix(), path.read_text()


def selftest():
    assert list(violations("src/core/a.h", '#include "device/device.h"'))
    assert list(violations("algorithms/a.cc", '#include "runtime/worker.h"'))
    assert list(violations("src/runtime/a.cc", '#include "cpu/cpu.h"'))
    assert list(violations("src/runtime/a.cc", "#include <concurrentqueue/concurrentqueue.h>"))
    assert list(violations("src/cli/a.cc", '#include "cpu/dense.h"'))
    assert list(violations("src/nn/a.cc", '#include "elsewhere/a.h"'))
    for header in ("CL/cl.h", "clblast_c.h", "cuda_runtime_api.h", "cublas_v2.h", "cudnn.h"):
        assert list(violations("gpu/gpu_device.cc", f"#include <{header}>"))
        assert list(violations("gpu/kernels/kernels.inc", f"#include <{header}>"))
    assert list(violations("gpu/opencl/a.cc", "#include <cuda_runtime.h>"))
    assert list(violations("gpu/cuda/a.cu", "#include <CL/cl.h>"))
    assert list(violations("src/cli/a.cc", '#include "gpu/plugin.h"'))
    assert not list(violations("gpu/opencl/a.cc", "#include <CL/cl.h>\n#include <clblast_c.h>"))
    assert not list(violations("gpu/cuda/a.cu", "#include <cuda_runtime.h>\n#include <cublasLt.h>"))
    assert not list(violations("gpu/cuda/a.cc", '#include "gpu/cuda/calls.h"'))
    assert not list(violations("src/training/a.cc", '#include "cpu/cpu.h"\n#include <vector>'))
    assert not list(violations("algorithms/a.cc", '#include "runtime/control/algorithm.h"'))


def main():
    if sys.argv[1] == "--selftest":
        return selftest()
    files = list(sources(pathlib.Path(sys.argv[1])))
    found = [line for path, text in files for line in violations(path, text)]
    print("\n".join(found) or f"{len(files)} files keep to the arrows")
    return 1 if found or len(files) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
