#!/usr/bin/env python3
"""Mutants of the CUDA device: each has one mistake, and the suite on the stand-in must see it.

    mutants.py list                            "NAME FILE" a line
    mutants.py write NAME SOURCE TARGET        SOURCE with the mistake in it
    mutants.py prove NAME MUTANT               the suite fails with the mistake

That the suite passes without it, with the same seeds, is claimed by Standin/* and
Standin.AllClaimsHoldWithSeed*.
"""
import os
import re
import subprocess
import sys
from typing import NamedTuple

SEEDS = (1, 2, 3)  # each of them must see it
SEEN = (1, 97)  # a claim failed, or kViolated of standin.h


class Mutant(NamedTuple):
    file: str
    right: str  # occurs once in the file
    wrong: str
    suite: str  # a filter of GoogleTest


DENSE = "Devices/Dense.*/Cuda0"
MEMORY = "Devices/Memory.*/Cuda0"
MARKS = "Devices/Marks.*/Cuda0"
OVERLAP = "Devices/Overlap.*/Cuda0"
MUTANTS = {
    "TransposedProduct": Mutant(
        "gpu/cuda/products.cc",
        "kTransposeA ? CUBLAS_OP_T : CUBLAS_OP_N",
        "kTransposeA ? CUBLAS_OP_N : CUBLAS_OP_N", DENSE),
    "SwappedDimensions": Mutant(
        "gpu/cuda/products.cc",
        "rows = size(p.rows), cols = size(p.cols)",
        "rows = size(p.cols), cols = size(p.rows)", DENSE),
    "LeadingDimensionOfTheWidth": Mutant(
        "gpu/cuda/products.cc",
        "size(LeadingDimension(p.a))",
        "size(p.form == Product::Form::kTransposeA ? p.rows : p.inner)", DENSE),
    "WorkspaceBeforeStream": Mutant(
        "gpu/cuda/products.cc",
        'calls_.Must(cublasSetMathMode(blas_.get(), CUBLAS_DEFAULT_MATH), "cublasSetMathMode");',
        'calls_.Must(cublasSetStream(blas_.get(), stream_), "cublasSetStream");', DENSE),
    "SoftmaxOfTheWidth": Mutant(
        "gpu/cuda/softmax.cc",
        "static_cast<int>(t.stride), 1, 1, 1)",
        "static_cast<int>(t.cols), 1, 1, 1)", "Devices/Losses.*/Cuda0"),
    "KernelOnAnotherStream": Mutant(
        "gpu/cuda/cuda_driver.cc",
        "0, stream(Stream::kCompute));",
        "0, stream(Stream::kUpload));", DENSE),
    "DownloadOnAnotherStream": Mutant(
        "gpu/cuda/cuda_driver.cc",
        "cudaMemcpyDeviceToHost, stream(Stream::kDownload)",
        "cudaMemcpyDeviceToHost, stream(Stream::kUpload)", OVERLAP),
    "AnotherDevice": Mutant(
        "gpu/cuda/cuda_driver.cc",
        "device_.Select();\n    products_.Multiply(product);",
        "products_.Multiply(product);", "TwoDevices.TakeTurns*"),
    "FewerItems": Mutant(
        "gpu/cuda/cuda_driver.cc", "dim3(gpu::kItems)", "dim3(gpu::kItems / 2)", DENSE),
    "LeakedEvents": Mutant(
        "gpu/cuda/cuda_driver.cc",
        "cudaEventDestroy(static_cast<cudaEvent_t>(event));",
        "static_cast<void>(event);", MEMORY),
    "MissingEventWait": Mutant(
        "gpu/stream_order.cc",
        "driver_.Await(waiter, EventOf(other, mark));",
        "", OVERLAP),
    "ForgottenReaders": Mutant(
        "gpu/stream_order.cc",
        "found->second[stream] = LineOf(stream).open;",
        "if (stream != Stream::kDownload) found->second[stream] = LineOf(stream).open;",
        OVERLAP),
    "StagingReusedTooEarly": Mutant(
        "gpu/gpu_memory.cc",
        "staging_.ReturnAt(*chunk, Stream::kUpload, order_.Close(Stream::kUpload));",
        "order_.Close(Stream::kUpload), staging_.Return(*chunk);", MEMORY),
    "DownloadTakenTooEarly": Mutant(
        "gpu/gpu_memory.cc",
        "void GpuMemory::Wait() {\n  Synchronize();",
        "void GpuMemory::Wait() {", MEMORY),
    "MarkThatIsNotAwaited": Mutant(
        "gpu/gpu_memory.cc", "order_.WaitFor(marks);", "", MARKS),
    "MarkWithoutDownloads": Mutant(
        "gpu/stream_order.cc",
        "if (HasCompleted(stream, mark)) continue;",
        "if (stream == Stream::kDownload || HasCompleted(stream, mark)) continue;", MARKS),
    "DownloadTakenBeforeItsMark": Mutant(
        "gpu/gpu_memory.cc",
        "while (!arrivals_.empty() && arrivals_.front().at <= until) {",
        "while (!arrivals_.empty()) {", MARKS),
    "DownloadLeftBehindItsMark": Mutant(
        "gpu/gpu_memory.cc",
        "arrivals_.front().at <= until) {",
        "arrivals_.front().at < until) {", MARKS),
    "LeakedMemory": Mutant(
        "gpu/gpu_memory.cc",
        "for (void* block : freed_) driver_.Free(block);", "", MEMORY),
    "SwappedKernelArguments": Mutant(
        "gpu/gpu_device.cc",
        "groups, dy, scale, keep, y.data, dy.rows, dy.cols);",
        "groups, dy, keep, scale, y.data, dy.rows, dy.cols);", DENSE),
    "OneRowTooFew": Mutant(
        "gpu/kernels/layers.inc",
        "for (long r = item / HB_STRIP; r < rows; r += HB_ITEMS / HB_STRIP) {",
        "for (long r = item / HB_STRIP; r < rows - 1; r += HB_ITEMS / HB_STRIP) {", DENSE),
    "OneColumnTooMany": Mutant(
        "gpu/kernels/layers.inc",
        "if (item < HB_STRIP && c < cols) {",
        "if (item < HB_STRIP && c <= cols) {", DENSE),
}


def write(name, source, target):
    mutant = MUTANTS[name]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    if text.count(mutant.right) != 1:
        sys.exit(f"mutants.py: {name}: {mutant.file} has {text.count(mutant.right)} times, not "
                 f"once:\n{mutant.right}\nBring the mutant in line with the file.")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text.replace(mutant.right, mutant.wrong))


def run(program, suite, seed):
    """Exit code, how many tests ran, and what was printed."""
    done = subprocess.run([program, f"--gtest_filter={suite}", "--gtest_brief=1"],
                          env=os.environ | {"HOGBATCH_STANDIN_SEED": str(seed)},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    ran = re.search(r"\[==========\] (\d+) tests? from .* ran", done.stdout)
    return done.returncode, int(ran[1]) if ran else 0, done.stdout


def count(program, suite):
    listed = subprocess.run([program, f"--gtest_filter={suite}", "--gtest_list_tests"],
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    return sum(line.startswith("  ") for line in listed.splitlines())


def prove(name, mutant):
    suite = MUTANTS[name].suite
    tests = count(mutant, suite)
    for seed in SEEDS:
        code, ran, printed = run(mutant, suite, seed)
        failed = re.findall(r"\[  FAILED  \] ([^\s,]+)", printed)
        if code not in SEEN or ran != tests or not failed:
            sys.exit(f"{printed}\nmutants.py: {name} was not seen with seed {seed}: {ran} of {tests} "
                     f"tests ended with {code}; some should fail")
        print(f"{name}, seed {seed}: seen by {sorted(set(failed))[0]} and others")


if __name__ == "__main__":
    verb, arguments = sys.argv[1], sys.argv[2:]
    if verb == "list":
        print("\n".join(f"{name} {mutant.file}" for name, mutant in MUTANTS.items()))
    else:
        {"write": write, "prove": prove}[verb](*arguments)
