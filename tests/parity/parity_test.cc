// The same training on a GPU device and on one core: each of the first hundred steps must see the
// same loss. HOGBATCH_DATA names the folder of the data, HOGBATCH_PARITY the interface ("opencl",
// "cuda"), whose plug-in HOGBATCH_PLUGINS finds.
#include "tests/support/parity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "cpu/cpu.h"
#include "datasets/dataset.h"
#include "gpu/gpu.h"

namespace hogbatch {
namespace {

struct Case {
  const char* name;
  const char* file;
  Loss loss;
  Activation activation = Activation::kTanh;
};
void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

class Parity : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("HOGBATCH_DATA");
    if (folder == nullptr) GTEST_SKIP() << "HOGBATCH_DATA names no folder with real data";
    file_ = (std::filesystem::path(folder) / GetParam().file).string();
    const char* name = std::getenv("HOGBATCH_PARITY");
    if (name == nullptr) GTEST_SKIP() << "HOGBATCH_PARITY names no interface";
    const gpu::DetectedDevices detected =
        gpu::Ask(std::string(name) == "cuda" ? gpu::Interface::kCuda : gpu::Interface::kOpenCl);
    if (detected.devices.empty()) GTEST_SKIP() << detected.why_none;
    device_ = detected.devices.front();
  }

  std::string file_;
  DeviceInfo device_;
};

// Training is chaotic at the rates that learn fastest: on delicious at the usual .05 a difference
// of 1e-9 in one step has grown to 1e-4 fifty steps later, on any two devices. At this rate it does
// not grow, and what is left is rounding.
const ParityOptions kCalm{.rate = {.lr = 0.01}};

TEST_P(Parity, FirstHundredStepsHaveTheLossesOfOneCore) {
  const TrainingData training = ReadTrainingData(file_, {});
  const ModelSpec spec{.inputs = training.data.features,
                       .hidden = {512, 512},
                       .outputs = training.schema.outputs(),
                       .activation = GetParam().activation,
                       .loss = GetParam().loss,
                       .sparse_input = training.data.is_sparse};
  const ParityResult core =
      TrainUpdates(training, spec, kCalm, [] { return cpu::MakeDevice(cpu::Describe()); });
  const ParityResult gpu =
      TrainUpdates(training, spec, kCalm, [this] { return gpu::MakeDevice(device_); });

  ASSERT_EQ(core.losses.size(), 100U);
  ASSERT_EQ(gpu.losses.size(), 100U);
  EXPECT_LT(core.losses.back(), core.losses.front()) << "nothing was learnt";
  double widest = 0;
  for (std::size_t step = 0; step < core.losses.size(); ++step) {
    const double apart = std::abs(gpu.losses[step] / core.losses[step] - 1);
    EXPECT_LT(apart, 5e-6) << "in step " << step + 1;
    widest = std::max(widest, apart);
  }
  RecordProperty("widest", std::to_string(widest));
  std::cout << "widest relative difference of a step's loss: " << widest << '\n';
}

INSTANTIATE_TEST_SUITE_P(
    Data, Parity,
    testing::Values(Case{"w8a", "w8a.xz", Loss::kSoftmax},
                    Case{"imdb", "imdb-train.svm.xz", Loss::kSoftmax},
                    Case{"delicious", "delicious-train.svm.xz", Loss::kSigmoid},
                    Case{"digits", "digits.csv.gz", Loss::kSoftmax, Activation::kGelu}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace hogbatch
