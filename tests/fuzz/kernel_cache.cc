// The cache of compiled OpenCL kernels: a damaged file must never reach the compiler.
#include "gpu/opencl/program_cache.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  static const ScratchFolder folder;
  static const opencl::ProgramCache cache(folder.path());
  static const std::string name = [] {
    cache.Save("identity", "binary");
    return std::filesystem::directory_iterator(folder.path())->path().filename().string();
  }();
  folder.Write(name, TextOf(bytes, size));
  const std::optional<std::string> binary = cache.Load("identity");
  Check(!binary || TextOf(bytes, size).ends_with(*binary), "what was saved");
  return 0;
}
