// cublasLt's descriptors.
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstdint>

#include "tests/gpu/cuda_standin/blas.h"

namespace hogbatch::standin {

struct Matmul {
  std::int32_t transpose_a = CUBLAS_OP_N;
  std::int32_t transpose_b = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};

struct Layout {
  std::uint64_t rows = 0, cols = 0;
  std::int64_t leading = 0;
};

struct Preference {
  std::uint64_t workspace_bytes = 0;
  std::array<std::uint32_t, 4> alignments = {256, 256, 256, 256};  // of A, B, C, D
};

}  // namespace hogbatch::standin
