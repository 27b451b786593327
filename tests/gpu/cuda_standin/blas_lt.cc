// cublasLt's product, with a bias in one go, and the choice of an algorithm for it.
#include "tests/gpu/cuda_standin/blas_lt.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace hogbatch::standin {
namespace {

// What an algorithm was chosen for, and all a call with it must keep to; cublasLtMatmulAlgo_t holds
// its bytes.
struct Choice {
  std::uint32_t rows = 0, cols = 0, inner = 0;
  std::uint16_t operations = 0;  // transposes and epilogue
  std::uint16_t bias_alignment = 0;
  std::array<std::uint32_t, 4> leading = {};
  std::array<std::uint16_t, 4> alignments = {};
  std::uint64_t workspace_bytes = 0;
  std::array<std::uint64_t, 2> seal = {};
};
static_assert(sizeof(Choice) == sizeof(cublasLtMatmulAlgo_t));
constexpr std::array<std::uint64_t, 2> kSeal = {0x7374616e642d696e, 0x63686f69636521};

std::uint16_t AlignmentOf(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return static_cast<std::uint16_t>(at == 0 ? 256 : std::min<std::uintptr_t>(256, at & -at));
}

bool HasBias(const Matmul& matmul) { return matmul.epilogue == CUBLASLT_EPILOGUE_BIAS; }

// The four matrices of D = alpha · op(A) · op(B) + beta · C. Misuse unless they fit together.
struct Problem {
  ColumnMajor a, b, c, d;
  std::int64_t inner = 0;

  Problem(const Matmul& matmul, const Layout& la, const Layout& lb, const Layout& lc,
          const Layout& ld) {
    const auto matrix = [](std::string_view name, const Layout& layout, std::int32_t operation) {
      ColumnMajor made{.name = name,
                       .rows = static_cast<std::int64_t>(layout.rows),
                       .cols = static_cast<std::int64_t>(layout.cols),
                       .leading = layout.leading,
                       .transposed = operation == CUBLAS_OP_T};
      made.CheckLeading();
      return made;
    };
    a = matrix("A", la, matmul.transpose_a);
    b = matrix("B", lb, matmul.transpose_b);
    c = matrix("C", lc, CUBLAS_OP_N);
    d = matrix("D", ld, CUBLAS_OP_N);
    inner = a.transposed ? a.rows : a.cols;
    const std::int64_t rows = a.transposed ? a.cols : a.rows;
    const std::int64_t cols = b.transposed ? b.rows : b.cols;
    if ((b.transposed ? b.cols : b.rows) != inner || d.rows != rows || d.cols != cols ||
        c.rows != rows || c.cols != cols) {
      throw Misuse{Fault::kValue, "the sides of A, B, C and D do not fit"};
    }
    if (rows == 0 || cols == 0 || inner == 0) {
      throw Misuse{Fault::kValue, "a matrix is empty, which cublasLt does not take"};
    }
  }

  Choice Describe(const Matmul& matmul) const {
    return {
        .rows = static_cast<std::uint32_t>(d.rows),
        .cols = static_cast<std::uint32_t>(d.cols),
        .inner = static_cast<std::uint32_t>(inner),
        .operations = static_cast<std::uint16_t>((a.transposed ? 1 : 0) | (b.transposed ? 2 : 0) |
                                                 matmul.epilogue << 2),
        .leading = {static_cast<std::uint32_t>(a.leading), static_cast<std::uint32_t>(b.leading),
                    static_cast<std::uint32_t>(c.leading), static_cast<std::uint32_t>(d.leading)},
        .seal = kSeal};
  }
};

void CheckChoice(const cublasLtMatmulAlgo_t& algorithm, const Choice& wanted,
                 const std::array<const void*, 4>& addresses, const void* bias,
                 std::size_t workspace_bytes) {
  const auto chosen = std::bit_cast<Choice>(algorithm);
  const auto wrong = [](const char* sentence) { throw Misuse{Fault::kValue, sentence}; };
  if (chosen.seal != kSeal) wrong("the algorithm is not the heuristic's");
  if (chosen.rows != wanted.rows || chosen.cols != wanted.cols || chosen.inner != wanted.inner ||
      chosen.operations != wanted.operations || chosen.leading != wanted.leading) {
    wrong("the algorithm was chosen for another product");
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (AlignmentOf(addresses[i]) < chosen.alignments[i]) {
      wrong("a matrix is less aligned than the algorithm was told");
    }
  }
  if (AlignmentOf(bias) < chosen.bias_alignment) {
    wrong("the bias is less aligned than when the algorithm was chosen");
  }
  if (workspace_bytes < chosen.workspace_bytes) wrong("the algorithm needs more workspace");
}

// A bias a row of D, as cublasLt adds it.
void AddBias(const float* bias, const Sgemm& product) {
  for (std::int64_t j = 0; j < product.cols; ++j) {
    for (std::int64_t i = 0; i < product.rows; ++i) {
      product.c.data[i * product.c.row_step + j * product.c.col_step] += bias[i];
    }
  }
}

// Real heuristics have nothing for some products, and say so; which ones those are here, the seed
// says. A caller must do without cublasLt then.
bool HasAlgorithm(const Choice& choice, std::uint64_t seed) {
  std::uint64_t mixed = seed;
  for (const std::uint64_t part : {choice.rows, choice.cols, choice.inner}) {
    mixed = (mixed ^ part) * 0x9e3779b97f4a7c15;
    mixed ^= mixed >> 31;
  }
  return mixed % 8 != 0;
}

}  // namespace
}  // namespace hogbatch::standin

using namespace hogbatch::standin;

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  return RunBlas("cublasLtMatmulAlgoGetHeuristic", Purpose::kUse, [&](Machine& machine) {
    CheckDevice(machine.blas_lt.Get(handle), "cublasLt handle");
    const Matmul& form = *machine.matmuls.Get(matmul);
    const Problem problem(form, *machine.layouts.Get(a), *machine.layouts.Get(b),
                          *machine.layouts.Get(c), *machine.layouts.Get(d));
    const Preference& limits = *machine.preferences.Get(preference);
    if (wanted <= 0 || results == nullptr) {
      throw Misuse{Fault::kValue, "no algorithm was asked for"};
    }
    Choice choice = problem.Describe(form);
    Give(found, 0);
    if (!HasAlgorithm(choice, machine.settings.seed)) throw Failure{Fault::kUnsupported};
    choice.bias_alignment = AlignmentOf(form.bias);
    std::ranges::copy(limits.alignments, choice.alignments.begin());
    choice.workspace_bytes = limits.workspace_bytes / 2;
    cublasLtMatmulHeuristicResult_t& best = results[0];
    best = {};
    best.algo = std::bit_cast<cublasLtMatmulAlgo_t>(choice);
    best.workspaceSize = choice.workspace_bytes;
    best.state = CUBLAS_STATUS_SUCCESS;
    best.wavesCount = 1;
    *found = 1;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  return RunBlas("cublasLtMatmul", Purpose::kUse, [&](Machine& machine) {
    const Library& library = machine.blas_lt.Get(handle);
    CheckDevice(library, "cublasLt handle");
    if (machine.timeline.DeviceOf(stream) != library.device) {
      throw Misuse{Fault::kValue, "the handle and the stream belong to different devices"};
    }
    const Matmul& form = *machine.matmuls.Get(matmul);
    Problem problem(form, *machine.layouts.Get(a_layout), *machine.layouts.Get(b_layout),
                    *machine.layouts.Get(c_layout), *machine.layouts.Get(d_layout));
    if (HasBias(form) && form.bias == nullptr) {
      throw Misuse{Fault::kValue, "the epilogue adds a bias, and there is none"};
    }
    if (algorithm != nullptr) {
      CheckChoice(*algorithm, problem.Describe(form), {a, b, c, d}, form.bias, workspace_bytes);
    }
    problem.a.address = a;
    problem.b.address = b;
    problem.d.address = d;
    Sgemm product{.rows = problem.d.rows, .cols = problem.d.cols, .inner = problem.inner};
    product.alpha = HostNumber(machine, alpha, "alpha");
    product.beta = HostNumber(machine, beta, "beta");
    if (c != d) throw Misuse{Fault::kUnsupported, "here C and D must be the same"};

    Memory& memory = machine.memory;
    const Range in_a = problem.a.In(memory, library.device);
    const Range in_b = problem.b.In(memory, library.device);
    const Range in_d = problem.d.In(memory, library.device);
    const Range bias = HasBias(form) ? memory.At(form.bias, problem.d.rows * sizeof(float),
                                                 library.device, "the bias")
                                     : Range{};
    const Range scratch = workspace_bytes == 0 ? Range{}
                                               : memory.At(workspace, workspace_bytes,
                                                           library.device, "the workspace");
    product.a = problem.a.Over<const float>(in_a);
    product.b = problem.b.Over<const float>(in_b);
    product.c = problem.d.Over<float>(in_d);
    Work work{.what = "cublasLtMatmul",
              .touches = {{in_a, Touch::How::kReads},
                          {in_b, Touch::How::kReads},
                          {bias, Touch::How::kReads},
                          {scratch, Touch::How::kWrites},
                          {in_d, Touch::How::kWrites}},
              .run =
                  [=] {
                    if (scratch.block) Scribble(scratch);
                    product();
                    if (bias.block) AddBias(bias.as<const float>(), product);
                  },
              .seen = {}};
    machine.timeline.Queue(stream, std::move(work));
  });
}
