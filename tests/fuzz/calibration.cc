// The cache of measured GPU batch sizes. Nothing in it is worth an error: it is measured again.
#include "tests/fuzz/fuzz.h"
#include "training/calibration/calibration_cache.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  static const ScratchFolder folder;
  folder.Write("calibration.json", TextOf(bytes, size));
  const std::optional<Rates> rates = CalibrationCache(folder.path()).Load("key");
  Check(!rates || (!rates->at.empty() && rates->at.back().rows <= rates->limit), "sane rates");
  return 0;
}
