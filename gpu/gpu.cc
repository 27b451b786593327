#include "gpu/gpu.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "core/error.h"
#include "core/guard/machine_limits.h"
#include "gpu/plugin.h"
#include "gpu/plugin_trust.h"

namespace hogbatch::gpu {
namespace {

namespace fs = std::filesystem;

// What messages say about an interface.
struct Words {
  std::string_view name;
  std::string_view file;
  std::string_view to_build;    // what its plug-in is built from
  std::string_view no_devices;  // what to do if it works but lists no device
};

const Words& WordsOf(Interface interface) {
  static constexpr Words kCuda = {
      .name = "CUDA",
      .file = "libhogbatch_cuda.so",
      .to_build = "the CUDA toolkit, 12 or newer, with cuDNN",
      .no_devices =
          "the NVIDIA driver shows no GPU to this program; see what nvidia-smi lists, "
          "and whether CUDA_VISIBLE_DEVICES hides it"};
  static constexpr Words kOpenCl = {
      .name = "OpenCL",
      .file = "libhogbatch_opencl.so",
      .to_build = "OpenCL and CLBlast (on Debian ocl-icd-opencl-dev and libclblast-dev)",
      .no_devices =
          "OpenCL works and no driver offers a device; install your GPU's, such as "
          "intel-opencl-icd, mesa-opencl-icd or nvidia-opencl-icd"};
  return interface == Interface::kCuda ? kCuda : kOpenCl;
}

// The folders of plug-ins: beside the program in a build tree, below lib/ once installed.
std::vector<fs::path> Folders() {
  const char* only = std::getenv("HOGBATCH_PLUGINS");
  if (only && *only) return {only};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = program.parent_path();
  return {folder, (folder / "../lib/hogbatch").lexically_normal()};
}

fs::path FindPlugin(const Words& words) {
  std::vector<std::string> tried;
  for (const fs::path& folder : Folders()) {
    std::error_code error;
    if (fs::exists(folder / words.file, error)) return TrustedPlugin(folder / words.file);
    tried.push_back(folder.string());
  }
  throw DeviceError(fmt::format(
      "this program was built without {} (there is no {} in {}); install {} and build it again",
      words.name, words.file, fmt::join(tried, " or "), words.to_build));
}

std::string LastLoaderError() {
  const char* const text = ::dlerror();
  return text ? text : "no reason given";
}

// Drivers need room for their libraries, their compiler and the stacks of their threads. Some end
// the program if they get none: PoCL 3.1 aborts if a process of 2 cores may have 248 to 278 MB.
// With about 550 MB it compiles and trains.
constexpr std::int64_t kDriverBytes = std::int64_t{512} << 20;
constexpr std::int64_t kBytesPerCore = std::int64_t{8} << 20;

void RequireAddressSpace() {
  const std::optional<std::int64_t> left = AddressSpaceLeft();
  const std::int64_t needed =
      kDriverBytes + kBytesPerCore * std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  if (!left || *left >= needed) return;
  throw DeviceError(
      fmt::format("its driver needs about {} MB of address space and {} MB are left; raise the "
                  "limit (ulimit -v)",
                  needed >> 20, *left >> 20));
}

// Loading cuBLAS takes about 200 MB and some seconds, so the driver is looked for first.
void RequireNvidiaDriver() {
  if (::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) return;
  throw DeviceError(fmt::format(
      "there is no NVIDIA driver ({}); for an NVIDIA GPU, install its driver", LastLoaderError()));
}

// The loader's message begins with the missing library: "libclblast.so.1: cannot open shared object
// file".
std::string AdviceFor(std::string_view loader_error) {
  struct Package {
    std::string_view library;
    std::string_view advice;
  };
  static constexpr std::array kPackages = {
      Package{"libOpenCL.so", "install OpenCL's loader (on Debian ocl-icd-libopencl1)"},
      Package{"libclblast.so", "install CLBlast (on Debian libclblast1)"},
      Package{"libcudnn", "install cuDNN 9 for the CUDA named (NVIDIA's libcudnn9-cuda-13 or -12)"},
      Package{"libcu",
              "install the CUDA libraries (NVIDIA's cuda-libraries-13-0 or alike), or "
              "name their folder in LD_LIBRARY_PATH"}};
  for (const Package& package : kPackages) {
    if (loader_error.starts_with(package.library)) return std::string(package.advice);
  }
  return "build or install hogbatch again";
}

// Opened once and never closed, because its libraries keep threads and handlers of their own. A
// second call finds it open.
const Plugin& Open(Interface interface) {
  const Words& words = WordsOf(interface);
  const std::string path = FindPlugin(words).string();
  // What is open already has its room.
  if (!::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) RequireAddressSpace();
  if (interface == Interface::kCuda) RequireNvidiaDriver();
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const std::string reason = LastLoaderError();
    throw DeviceError(
        fmt::format("{} does not load ({}); {}", words.name, reason, AdviceFor(reason)));
  }
  const auto entry = reinterpret_cast<PluginEntry>(::dlsym(library, kPluginEntry));
  if (!entry) {
    throw DeviceError(fmt::format("{} is no plug-in of hogbatch: it has no {}; {}", path,
                                  kPluginEntry, AdviceFor("")));
  }
  const Plugin* const plugin = entry(HOGBATCH_VERSION);
  if (!plugin) {
    throw DeviceError(fmt::format("{} belongs to another version of hogbatch than this, {}; {}",
                                  path, HOGBATCH_VERSION, AdviceFor("")));
  }
  return *plugin;
}

}  // namespace

DetectedDevices Ask(Interface interface) {
  DetectedDevices detected{.interface = interface, .devices = {}, .why_none = {}};
  try {
    detected.devices = Open(interface).list();
    if (detected.devices.empty()) detected.why_none = WordsOf(interface).no_devices;
  } catch (const std::exception& error) {
    // The caller names the interface.
    const std::string prefix = fmt::format("{}: ", WordsOf(interface).name);
    detected.why_none = error.what();
    if (detected.why_none.starts_with(prefix)) detected.why_none.erase(0, prefix.size());
  }
  return detected;
}

std::unique_ptr<Device> MakeDevice(const DeviceInfo& info) {
  const bool cuda = info.kind == DeviceKind::kCuda;
  try {
    return Open(cuda ? Interface::kCuda : Interface::kOpenCl).make(info);
  } catch (const DeviceError& error) {
    const std::string_view what = error.what();
    if (what.find(info.name) != std::string_view::npos) throw;
    throw DeviceError(fmt::format("{}: {}", info.name, what));
  }
}

}  // namespace hogbatch::gpu
