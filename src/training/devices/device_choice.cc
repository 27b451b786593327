#include "training/devices/device_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/spelling.h"
#include "core/text.h"

namespace hogbatch {
namespace {

using gpu::Interface;

constexpr std::int64_t kMaxWorkers = 1024;

std::string_view Word(Interface interface) {
  return Name(interface == Interface::kCuda ? DeviceKind::kCuda : DeviceKind::kOpenCl);
}

std::string JoinNames(const std::vector<std::string>& names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// The items of --devices, trimmed. UserError if one is missing.
std::vector<std::string_view> ItemsOf(std::string_view devices) {
  std::vector<std::string_view> items;
  for (std::string_view rest = devices;;) {
    const std::size_t comma = rest.find(',');
    items.push_back(Trimmed(rest.substr(0, comma)));
    if (items.back().empty()) {
      throw UserError(fmt::format("--devices: a name is missing in '{}'", devices));
    }
    if (comma == std::string_view::npos) return items;
    rest.remove_prefix(comma + 1);
  }
}

// "cuda:1" for "CUDA.1", "cude:1" and "cuda1"; empty if nothing is similar.
std::string Suggestion(const std::string& lower) {
  static const std::array<std::string, 4> kWords = {"auto", std::string(Name(DeviceKind::kCpu)),
                                                    std::string(Name(DeviceKind::kCuda)),
                                                    std::string(Name(DeviceKind::kOpenCl))};
  const std::size_t letters =
      std::min(lower.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), lower.size());
  std::string word = Nearest(lower.substr(0, letters), kWords);
  if (word.empty() || word == "auto") return word;
  std::string number = lower.substr(letters);
  if (!number.empty() && std::string_view(":.=-_ ").find(number[0]) != std::string_view::npos)
    number.erase(0, 1);
  if (number.empty()) return word == "cpu" ? word : word + ":*";
  const bool plain = number == "*" || number.find_first_not_of("0123456789") == std::string::npos;
  return plain ? fmt::format("{}:{}", word, number) : "";
}

[[noreturn]] void ThrowMisspelt(std::string_view item) {
  std::string lower(item);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const char* vague : {"gpu", "nvidia", "amd", "intel", "rocm", "hip", "ocl"}) {
    if (!lower.starts_with(vague)) continue;
    throw UserError(
        fmt::format("--devices names a GPU by its interface, such as cuda:0 or opencl:0, not '{}'; "
                    "'hogbatch devices' lists those that are here, and auto takes them all",
                    item));
  }
  const std::string nearest = Suggestion(lower);
  throw UserError(fmt::format(
      "--devices takes auto, cpu, cpu:N, cuda:N, cuda:*, opencl:N or opencl:*, not '{}'{}", item,
      nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

// Resolves one list of devices; remembers what was named and taken.
class Chooser {
 public:
  Chooser(const Machine& machine, Purpose purpose) : machine_(machine), purpose_(purpose) {}

  void Take(std::string_view item) {
    const std::string_view word = item.substr(0, item.find(':'));
    std::optional<std::string_view> number;
    if (word.size() < item.size()) number = item.substr(word.size() + 1);
    if (item == "auto") {
      TakeAuto();
    } else if (item == "cpu") {
      TakeCores(AllCores());
    } else if (word == "cpu") {
      TakeCores(Cores(*number));
    } else if (word == Word(Interface::kCuda)) {
      TakeGpus(Interface::kCuda, number);
    } else if (word == Word(Interface::kOpenCl)) {
      TakeGpus(Interface::kOpenCl, number);
    } else {
      ThrowMisspelt(item);
    }
  }

  // All of them, in the order they were named.
  std::vector<DeviceInfo> Chosen() {
    const auto is_gpu = [](const DeviceInfo& info) { return info.kind != DeviceKind::kCpu; };
    if (all_cores_ > 1 && std::ranges::any_of(chosen_, is_gpu)) {
      const std::string last = CoreName(all_cores_ - 1);
      std::erase_if(chosen_, [&](const DeviceInfo& info) { return info.name == last; });
    }
    return std::move(chosen_);
  }

 private:
  static std::int64_t Cores(std::string_view number) {
    const std::int64_t count = ParseInteger("--devices cpu:N", number);
    if (count >= 1 && count <= kMaxWorkers) return count;
    throw UserError(
        fmt::format("--devices cpu:N needs N between 1 and {}, not {}", kMaxWorkers, count));
  }

  // "cpu" without a number takes all cores. One of them may be given back to feed the GPUs.
  std::int64_t AllCores() {
    return all_cores_ = std::min<std::int64_t>(machine_.cores, kMaxWorkers);
  }

  void TakeAuto() {
    std::vector<DeviceInfo> gpus;
    for (const Candidate& gpu : JudgeForAuto(Asked(Interface::kCuda), Asked(Interface::kOpenCl))) {
      if (gpu.why_not.empty()) gpus.push_back(gpu.info);
    }
    if (gpus.empty() || purpose_ == Purpose::kTraining) TakeCores(AllCores());
    for (DeviceInfo& gpu : gpus) TakeOne(std::move(gpu));
  }

  static std::string CoreName(std::int64_t index) { return fmt::format("cpu.{}", index); }

  void TakeCores(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      DeviceInfo info = machine_.processor;
      info.name = CoreName(i);
      TakeOne(std::move(info));
    }
  }

  void TakeGpus(Interface interface, std::optional<std::string_view> number) {
    const std::string_view word = Word(interface);
    std::size_t index = 0;
    const bool all = number == "*";
    if (!all && !ReadIndex(number.value_or(""), index)) {
      throw UserError(fmt::format(
          "--devices {0}:N needs a device's number, counted from 0, or * for all of them{1}; did "
          "you mean {0}:{2}?",
          word, number.value_or("").empty() ? "" : fmt::format(", not '{}'", *number),
          number ? "0" : "*"));
    }
    const std::vector<DeviceInfo>& devices = Asked(interface).devices;
    if (all ? devices.empty() : index >= devices.size()) ThrowAbsent(interface, *number);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (all || i == index) TakeOne(devices[i]);
    }
  }

  static bool ReadIndex(std::string_view text, std::size_t& index) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    return error == std::errc{} && end == text.data() + text.size();
  }

  void TakeOne(DeviceInfo info) {
    const auto same = [&](const DeviceInfo& other) { return other.name == info.name; };
    if (std::ranges::any_of(chosen_, same)) {
      throw UserError(fmt::format("--devices names {} twice", OptionName(info)));
    }
    chosen_.push_back(std::move(info));
  }

  [[noreturn]] void ThrowAbsent(Interface interface, std::string_view number) {
    std::vector<std::string> present = {"cpu"};
    for (const Interface each : {Interface::kCuda, Interface::kOpenCl}) {
      for (const DeviceInfo& info : Asked(each).devices) present.push_back(OptionName(info));
    }
    const std::string& why = Asked(interface).why_none;
    throw UserError(fmt::format("there is no {}:{} here, only {}{}{}", Word(interface), number,
                                JoinNames(present), why.empty() ? "" : ": ", why));
  }

  const gpu::DetectedDevices& Asked(Interface interface) {
    std::optional<gpu::DetectedDevices>& detected = interface == Interface::kCuda ? cuda_ : opencl_;
    if (!detected) detected = machine_.ask(interface);
    return *detected;
  }

  const Machine& machine_;
  Purpose purpose_;
  std::vector<DeviceInfo> chosen_;
  std::int64_t all_cores_ = 0;  // 0: none, or as many as the user named
  std::optional<gpu::DetectedDevices> cuda_;
  std::optional<gpu::DetectedDevices> opencl_;
};

}  // namespace

std::string_view Name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kCuda:
      return "cuda";
    case DeviceKind::kOpenCl:
      break;
  }
  return "opencl";
}

std::string_view Name(Interface interface) {
  return interface == Interface::kCuda ? "CUDA" : "OpenCL";
}

std::string OptionName(const DeviceInfo& info) {
  if (info.kind == DeviceKind::kCpu) return "cpu";
  std::string name = info.name;
  std::ranges::replace(name, '.', ':');
  return name;
}

std::vector<Candidate> JudgeForAuto(const gpu::DetectedDevices& cuda,
                                    const gpu::DetectedDevices& opencl) {
  std::vector<Candidate> candidates;
  for (const DeviceInfo& info : cuda.devices) candidates.push_back({info, info.unusable});
  const bool cuda_works = std::ranges::any_of(
      candidates, [](const Candidate& candidate) { return candidate.why_not.empty(); });
  for (const DeviceInfo& info : opencl.devices) {
    std::string why_not;
    const auto same = std::ranges::find_if(candidates, [&](const Candidate& other) {
      return !info.hardware.empty() && other.info.hardware == info.hardware &&
             other.why_not.empty();
    });
    if (!info.unusable.empty()) {
      why_not = info.unusable;
    } else if (info.on_processor) {
      why_not = "it is the processor";
    } else if (same != candidates.end()) {
      why_not = fmt::format("it is {}", OptionName(same->info));
    } else if (info.hardware.empty() && cuda_works &&
               info.description.find("NVIDIA") != std::string::npos) {
      why_not = "CUDA has it";
    }
    candidates.push_back({info, why_not});
  }
  return candidates;
}

std::vector<DeviceInfo> Choose(std::string_view devices, const Machine& machine, Purpose purpose) {
  Chooser chooser(machine, purpose);
  for (const std::string_view item : ItemsOf(devices)) chooser.Take(item);
  return chooser.Chosen();
}

std::int64_t CoresLeftToOpenCl(std::string_view devices, std::int64_t cores) {
  std::int64_t taken = 0;
  bool has_opencl = false;
  for (const std::string_view item : ItemsOf(devices)) {
    std::int64_t count = cores - 1;  // of "cpu", which leaves one core to feed GPUs
    if (item == "cpu" || (item.starts_with("cpu:") && ReadAll(item.substr(4), count))) {
      taken += count;
    }
    has_opencl = has_opencl || item.starts_with("opencl");
  }
  return has_opencl ? std::max<std::int64_t>(1, cores - taken) : cores;
}

}  // namespace hogbatch
