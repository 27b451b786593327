// cublasLt's handles and descriptors: made, set, destroyed.
#include <cstring>
#include <memory>
#include <string>

#include "tests/gpu/cuda_standin/blas_lt.h"

namespace hogbatch::standin {
namespace {

template <typename T>
void SetValue(T& member, const void* value, std::size_t bytes) {
  if (value == nullptr || bytes != sizeof(T)) {
    throw Misuse{Fault::kValue, "the attribute takes " + std::to_string(sizeof(T)) +
                                    " bytes, not " + std::to_string(bytes)};
  }
  std::memcpy(&member, value, bytes);
}

void SetAttribute(Matmul& matmul, cublasLtMatmulDescAttributes_t attribute, const void* value,
                  std::size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
    case CUBLASLT_MATMUL_DESC_TRANSB: {
      std::int32_t& operation =
          attribute == CUBLASLT_MATMUL_DESC_TRANSA ? matmul.transpose_a : matmul.transpose_b;
      SetValue(operation, value, bytes);
      if (operation != CUBLAS_OP_N && operation != CUBLAS_OP_T) {
        throw Misuse{Fault::kValue, "a matrix is neither plain nor transposed"};
      }
      return;
    }
    case CUBLASLT_MATMUL_DESC_EPILOGUE: {
      SetValue(matmul.epilogue, value, bytes);
      if (matmul.epilogue != CUBLASLT_EPILOGUE_DEFAULT &&
          matmul.epilogue != CUBLASLT_EPILOGUE_BIAS) {
        throw Misuse{Fault::kUnsupported, "there is no such epilogue here"};
      }
      return;
    }
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      SetValue(matmul.bias, value, bytes);
      return;
    default:
      throw Misuse{Fault::kUnsupported, "there is no such attribute here"};
  }
}

void SetAttribute(Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute,
                  const void* value, std::size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return SetValue(preference.workspace_bytes, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return SetValue(preference.alignments[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES],
                      value, bytes);
    default:
      throw Misuse{Fault::kUnsupported, "there is no such attribute here"};
  }
}

}  // namespace
}  // namespace hogbatch::standin

using namespace hogbatch::standin;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return RunBlas("cublasLtCreate", Purpose::kUse, [&](Machine& machine) {
    Give(handle, static_cast<cublasLtHandle_t>(machine.blas_lt.Make({.device = CurrentDevice()})));
  });
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return RunBlas("cublasLtDestroy", Purpose::kGiveBack,
                 [&](Machine& machine) { machine.blas_lt.Destroy(handle); });
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* matmul, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  return RunBlas("cublasLtMatmulDescCreate", Purpose::kUse, [&](Machine& machine) {
    if ((compute != CUBLAS_COMPUTE_32F && compute != CUBLAS_COMPUTE_32F_PEDANTIC) ||
        scale != CUDA_R_32F) {
      throw Misuse{Fault::kValue, "this mode does not compute in floats alone"};
    }
    Give(matmul,
         static_cast<cublasLtMatmulDesc_t>(machine.matmuls.Make(std::make_shared<Matmul>())));
  });
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmul,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  return RunBlas("cublasLtMatmulDescSetAttribute", Purpose::kUse, [&](Machine& machine) {
    SetAttribute(*machine.matmuls.Get(matmul), attribute, value, bytes);
  });
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmul) {
  return RunBlas("cublasLtMatmulDescDestroy", Purpose::kGiveBack,
                 [&](Machine& machine) { machine.matmuls.Destroy(matmul); });
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t cols,
                                          std::int64_t leading) {
  return RunBlas("cublasLtMatrixLayoutCreate", Purpose::kUse, [&](Machine& machine) {
    if (type != CUDA_R_32F) throw Misuse{Fault::kValue, "a matrix is not of floats"};
    const Layout made{.rows = rows, .cols = cols, .leading = leading};
    Give(layout,
         static_cast<cublasLtMatrixLayout_t>(machine.layouts.Make(std::make_shared<Layout>(made))));
  });
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return RunBlas("cublasLtMatrixLayoutDestroy", Purpose::kGiveBack,
                 [&](Machine& machine) { machine.layouts.Destroy(layout); });
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return RunBlas("cublasLtMatmulPreferenceCreate", Purpose::kUse, [&](Machine& machine) {
    Give(preference, static_cast<cublasLtMatmulPreference_t>(
                         machine.preferences.Make(std::make_shared<Preference>())));
  });
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
  return RunBlas("cublasLtMatmulPreferenceSetAttribute", Purpose::kUse, [&](Machine& machine) {
    SetAttribute(*machine.preferences.Get(preference), attribute, value, bytes);
  });
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return RunBlas("cublasLtMatmulPreferenceDestroy", Purpose::kGiveBack,
                 [&](Machine& machine) { machine.preferences.Destroy(preference); });
}
