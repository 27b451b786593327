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
    "report": {"core"},
    "device": {"core"},
    "cpu": {"core", "device"},
    "gpu": {"core", "device"},
    "nn": {"core", "device"},
    "messaging": {"core"},
    "datasets": {"core"},
    "runtime": {"core", "device", "nn", "messaging", "datasets"},
    "algorithms": {"core", "runtime/control/algorithm.h", "runtime/control/scheduler.h"},
    "training": {"core", "device", "nn", "messaging", "datasets", "runtime", "algorithms", "cpu/cpu.h",
                 "gpu/gpu.h", "hogbatch/hogbatch.h"},
    "hogbatch": set(),  # the public header
    "compare": {"core", "report", "algorithms/algorithms.h", "training"},
    "cli": {"core", "report", "compare", "device/device_info.h", "nn", "datasets/dataset.h", "datasets/row_blocks.h",
            "datasets/data_facts.h", "datasets/input_files.h", "datasets/schema.h", "datasets/synthetic.h", "datasets/convert",
            "datasets/text/unpack.h", "runtime/control/progress.h", "algorithms/algorithms.h",
            "algorithms/schedulers/schedulers.h", "training", "fetch/known_sets.h"},
    "fetch": {"core", "datasets/text"},
    "main.cc": {"core", "cli"},
}
# Rooms of a folder: what each may include of that folder beside itself. A room is a folder without the rooms in it,
# or the files of one name.
DATASET_VALUES = {"datasets/dataset.h", "datasets/schema.h", "datasets/table.h", "datasets/parallel.h"}
# The headers of control that a job may include.
JOB_PARTS = {f"runtime/control/{part}.h" for part in (
    "algorithm", "evaluations", "job", "pause_phase", "progress", "progress_meter", "stop_rules", "task_length",
    "tasks_in_flight", "worker_table")}
ROOMS = {
    "runtime/control": set(),
    "runtime/control/jobs": JOB_PARTS,
    "runtime/control/coordinator": {"runtime/control"},
    "runtime/store": set(),
    "runtime/batches": set(),
    "runtime/workers": {"runtime/store", "runtime/batches"},
    "runtime/executors": {"runtime/control", "runtime/store", "runtime/batches", "runtime/workers"},
    "datasets": {"datasets/text", "datasets/readers", "datasets/encoding"},
    "datasets/text": set(),
    "datasets/readers": DATASET_VALUES | {"datasets/text"},
    "datasets/encoding": DATASET_VALUES | {"datasets/text", "datasets/readers"},
    "datasets/convert": {"datasets"},
    "training/model": {"training/observer.h"},
    "training/devices": set(),
    "training/cache": {"training/checksum.h", "training/model"},
    "training/calibration": {"training/observer.h", "training/workload.h", "training/devices"},
    "training/checkpoint": {"training/checksum.h", "training/input.h", "training/observer.h", "training/plan.h",
                            "training/spec.h", "training/model"},
    "training/onnx": {"training/model"},
    "training/queue": {f"training/{part}" for part in (
        "checkpoint", "input.h", "job_parts.h", "memory_check.h", "observer.h", "plan.h", "spec.h", "train.h")},
    "training/sweep": {"training"},
    "training": {f"training/{room}" for room in ("model", "devices", "cache", "calibration", "checkpoint")},
}
# What the files of a folder must not see, not even through the headers they include. Algorithms see values only.
HIDDEN_FROM = {
    "algorithms": {"device/device.h", "messaging/mailbox.h", "runtime/workers", "runtime/executors", "thread",
                   "chrono", "atomic", "mutex", "shared_mutex", "condition_variable", "future"},
}
# Libraries that only these files, or folders, may see: one is racy by design, some cost compile time, and a
# GPU's are not on every machine.
ONLY_IN = {
    "concurrentqueue/": {"messaging/mailbox.h"},
    "CLI/": {"src/cli/options/parse.cc"},
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


def without_src(path):
    return path.removeprefix("src/").removeprefix("include/")


def folder_of(path):
    return without_src(path).split("/")[0]


def room_of(path):
    """The innermost of ROOMS that holds the file; None: no room does."""
    rooms = [room for room in ROOMS if without_src(path).startswith((room + "/", room + "."))]
    return max(rooms, key=len, default=None)


def covers(entries, include):
    """Whether one of the entries, headers or folders, is or holds the included header."""
    return any(include == entry or include.startswith(entry + "/") for entry in entries)


def violations(path, text):
    folder, room = folder_of(path), room_of(path)
    for quote, include in INCLUDE.findall(text):
        target = include.split("/")[0]
        for library, files in ONLY_IN.items():
            allowed_here = any(path == f or f.endswith("/") and path.startswith(f) for f in files)
            if include.startswith(library) and not allowed_here:
                yield f"{path} includes {include}: only {', '.join(sorted(files))} may"
        if quote != '"':
            continue
        if target == folder:
            if room and room_of(include) != room and not covers(ROOMS[room], include):
                yield f"{path} includes {include}: {room} may not"
        elif target not in ARROWS:
            yield f"{path} includes {include}: no such folder"
        elif not covers(ARROWS[folder], include):
            yield f"{path} includes {include}: {folder} may not include {target}"


def hidden_violations(start, files):
    """Follows the project's own includes from `start`; `files` maps paths to texts."""
    hidden = HIDDEN_FROM.get(folder_of(start), set())
    seen, chains = set(), [[start]] if hidden else []
    while chains:
        chain = chains.pop(0)
        for _, include in INCLUDE.findall(files[chain[-1]]):
            if include in seen:
                continue
            seen.add(include)
            if covers(hidden, include):
                yield f"{start} sees {include}: {' -> '.join([*map(without_src, chain), include])}"
                continue
            chains += [[*chain, path] for path in (include, "src/" + include) if path in files]


def sources(root):
    for top in ("include", "src", "cpu", "gpu", "messaging", "algorithms", "datasets"):
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
    assert list(violations("src/cli/a.cc", '#include "runtime/workers/worker.h"'))
    assert list(violations("src/cli/a.cc", '#include "hogbatch/hogbatch.h"'))
    assert list(violations("include/hogbatch/hogbatch.h", '#include "core/error.h"'))
    assert not list(violations("src/training/hogbatch.cc", '#include "hogbatch/hogbatch.h"'))
    assert not list(violations("src/training/a.cc", '#include "cpu/cpu.h"\n#include <vector>'))
    assert not list(violations("algorithms/a.cc", '#include "runtime/control/algorithm.h"'))
    selftest_rooms()
    selftest_hidden()


def selftest_rooms():
    def allowed(path, include):
        return not list(violations(path, f'#include "{include}"'))

    assert not allowed("src/runtime/control/a.cc", "runtime/workers/worker.h")
    assert not allowed("src/runtime/control/a.cc", "runtime/executors/executor.h")
    assert not allowed("src/runtime/store/a.h", "runtime/workers/worker.h")
    assert not allowed("src/runtime/batches/a.h", "runtime/store/job_memory.h")
    assert not allowed("src/runtime/workers/a.cc", "runtime/control/coordinator.h")
    assert not allowed("src/runtime/workers/a.cc", "runtime/executors/executor.h")
    assert not allowed("datasets/readers/a.cc", "datasets/encoding/labels.h")
    assert not allowed("datasets/readers/a.cc", "datasets/read.h")
    assert not allowed("datasets/encoding/a.cc", "datasets/cursor.h")
    assert not allowed("src/training/a.cc", "cli/options/parse.h")
    assert not allowed("src/training/a.cc", "cpu/dense.h")
    assert not allowed("src/runtime/control/a.cc", "training/options.h")
    assert not allowed("src/cli/a.cc", "cpu/cpu.h")
    assert not allowed("src/cli/a.cc", "gpu/gpu.h")
    assert allowed("src/runtime/control/a.cc", "runtime/control/job.h")
    assert allowed("src/runtime/workers/a.cc", "runtime/store/job_memory.h")
    assert allowed("src/runtime/executors/a.cc", "runtime/workers/worker.h")
    assert allowed("datasets/readers/a.cc", "datasets/parallel.h")
    assert allowed("datasets/encoding/a.cc", "datasets/readers/numbers.h")
    assert allowed("datasets/read.cc", "datasets/encoding/labels.h")
    assert allowed("src/cli/a.cc", "training/options.h")
    selftest_inner_rooms(allowed)


def selftest_inner_rooms(allowed):
    assert not allowed("src/runtime/control/job.cc", "runtime/control/jobs/job_run.h")
    assert not allowed("src/runtime/control/job.cc", "runtime/control/coordinator.h")
    assert not allowed("src/runtime/control/jobs/a.cc", "runtime/control/coordinator.h")
    assert not allowed("src/runtime/control/jobs/a.cc", "runtime/control/scheduler.h")
    assert not allowed("src/runtime/control/coordinator.cc", "runtime/workers/worker.h")
    assert allowed("src/runtime/control/jobs/a.cc", "runtime/control/jobs/job_run.h")
    assert allowed("src/runtime/control/jobs/a.cc", "runtime/control/job.h")
    assert allowed("src/runtime/control/coordinator.h", "runtime/control/jobs/job_run.h")
    assert allowed("src/runtime/executors/a.cc", "runtime/control/coordinator.h")
    assert not allowed("datasets/read.cc", "datasets/convert/write_rows.h")
    assert not allowed("datasets/encoding/a.cc", "datasets/convert/write_rows.h")
    assert allowed("datasets/convert/a.cc", "datasets/open_input.h")
    assert not allowed("src/training/model/a.cc", "training/plan.h")
    assert not allowed("src/training/devices/a.cc", "training/spec.h")
    assert not allowed("src/training/cache/a.cc", "training/input.h")
    assert not allowed("src/training/calibration/a.cc", "training/plan.h")
    assert not allowed("src/training/calibration/a.cc", "training/train.h")
    assert not allowed("src/training/checkpoint/a.cc", "training/train.h")
    assert not allowed("src/training/onnx/a.cc", "training/checkpoint/checkpoint_file.h")
    assert not allowed("src/training/queue/a.cc", "training/sweep/tuner.h")
    assert not allowed("src/training/train.cc", "training/queue/queue.h")
    assert not allowed("src/training/plan.cc", "training/sweep/tuner.h")
    assert allowed("src/training/checkpoint/a.cc", "training/model/model_file.h")
    assert allowed("src/training/sweep/a.cc", "training/queue/queue.h")
    assert allowed("src/training/plan.cc", "training/calibration/gpu_calibration.h")


def selftest_hidden():
    def seen(spec):
        files = {"algorithms/a.cc": '#include "runtime/control/algorithm.h"',
                 "src/runtime/control/algorithm.h": '#include "nn/spec.h"',
                 "src/nn/spec.h": spec}
        return list(hidden_violations("algorithms/a.cc", files))

    assert seen('#include "device/device.h"') == [
        "algorithms/a.cc sees device/device.h: "
        "algorithms/a.cc -> runtime/control/algorithm.h -> nn/spec.h -> device/device.h"]
    assert seen('#include "messaging/mailbox.h"')
    assert seen('#include "runtime/workers/worker.h"')
    assert seen('#include "runtime/executors/executor.h"')
    for header in ("thread", "chrono", "atomic", "mutex"):
        assert seen(f"#include <{header}>")
    assert not seen('#include "device/device_info.h"\n#include <string>')
    assert not seen('#include "runtime/control/algorithm.h"')  # a circle ends
    assert not list(hidden_violations("src/cli/a.cc", {"src/cli/a.cc": "#include <thread>"}))


def main():
    if sys.argv[1] == "--selftest":
        return selftest()
    files = list(sources(pathlib.Path(sys.argv[1])))
    found = [line for path, text in files for line in violations(path, text)]
    found += [line for path, _ in files for line in hidden_violations(path, dict(files))]
    print("\n".join(found) or f"{len(files)} files keep to the arrows")
    return 1 if found or len(files) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
