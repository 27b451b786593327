#include "cli/reports/devices_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/guard/json_text.h"
#include "core/text.h"

namespace hogbatch {
namespace {

using gpu::Interface;

constexpr std::size_t kWidth = 80;
constexpr std::size_t kIndent = 10;

// What an interface has been run on so far, and no more than that.
std::string_view ProvenOn(Interface interface) {
  return interface == Interface::kCuda ? "a host stand-in only, never on a real GPU"
                                       : "processors through PoCL only, never on a real GPU";
}

std::string ProofSentence(Interface interface) {
  return fmt::format("{} was tested on {}.", Name(interface), ProvenOn(interface));
}

// Paragraphs beside a name, with a hanging indent.
std::string Entry(std::string_view name, const std::vector<std::string>& paragraphs) {
  std::string text;
  for (const std::string& paragraph : paragraphs) {
    std::string wrapped = Wrap(paragraph, kWidth - kIndent);
    for (std::size_t at = 0; (at = wrapped.find('\n', at)) != std::string::npos; at += kIndent) {
      wrapped.insert(at + 1, kIndent, ' ');
    }
    text += fmt::format("{:{}}{}\n", text.empty() ? name : "", kIndent, wrapped);
  }
  return text;
}

std::string MemoryText(const DeviceInfo& info) {
  return fmt::format("{:.3g} GB of memory", static_cast<double>(info.memory_bytes) / 1e9);
}

std::vector<DeviceInfo> AutoDevices(const DevicesReport& report, Purpose purpose) {
  const auto ask = [&](Interface interface) {
    return interface == Interface::kCuda ? report.cuda : report.opencl;
  };
  return Choose("auto", {.processor = report.processor, .cores = report.cores, .ask = ask},
                purpose);
}

std::vector<std::string> NamesOf(const std::vector<DeviceInfo>& devices) {
  std::vector<std::string> names;
  for (const DeviceInfo& info : devices) names.push_back(info.name);
  return names;
}

bool HasCores(const std::vector<DeviceInfo>& devices) {
  return std::ranges::any_of(devices,
                             [](const DeviceInfo& info) { return info.kind == DeviceKind::kCpu; });
}

// "cpu.0 to cpu.2, cuda.0": cores are taken from the first on.
std::string ListText(const std::vector<DeviceInfo>& devices) {
  std::string list;
  for (std::size_t i = 0, last; i < devices.size(); i = last + 1) {
    last = i;
    if (devices[i].kind == DeviceKind::kCpu) {
      while (last + 1 < devices.size() && devices[last + 1].kind == DeviceKind::kCpu) ++last;
    }
    list += fmt::format("{}{}", list.empty() ? "" : ", ", devices[i].name);
    if (last > i) list += fmt::format(" to {}", devices[last].name);
  }
  return list;
}

std::string AutoSentence(const DevicesReport& report) {
  const std::string train = ListText(AutoDevices(report, Purpose::kTraining));
  const std::string infer = ListText(AutoDevices(report, Purpose::kInference));
  if (train == infer) return fmt::format("--devices auto takes {}", train);
  return fmt::format("--devices auto takes {} to train, and {} to eval and predict", train, infer);
}

nlohmann::ordered_json ToJson(const DeviceInfo& info) {
  nlohmann::ordered_json json = {{"name", info.name},
                                 {"option", OptionName(info)},
                                 {"interface", Name(info.kind)},
                                 {"description", info.description},
                                 {"memory_bytes", info.memory_bytes}};
  if (!info.hardware.empty()) json["hardware"] = info.hardware;
  return json;
}

}  // namespace

static double Gigabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

// Caches, memory and disks; empty if nothing is known.
static std::string MachineText(const MachineFacts& facts) {
  std::vector<std::string> lines;
  if (!facts.caches.empty())
    lines.push_back(fmt::format("caches {}", fmt::join(facts.caches, ", ")));
  if (facts.physical_cores > 0) {
    lines.push_back(fmt::format("{}, {}",
                                Plural(facts.physical_cores, "physical core", "physical cores"),
                                Plural(facts.numa_nodes, "NUMA node", "NUMA nodes")));
  }
  if (facts.available_bytes > 0) {
    lines.push_back(fmt::format("{:.3g} GB of memory are free", Gigabytes(facts.available_bytes)));
  }
  for (const DiskSpace& disk : facts.disks) {
    lines.push_back(fmt::format("{:.3g} GB are free for {} ({})", Gigabytes(disk.free_bytes),
                                disk.what, disk.path));
  }
  return lines.empty() ? "" : Entry("machine", lines);
}

std::string DevicesText(const DevicesReport& report) {
  std::string text =
      Entry("cpu", {report.processor.description,
                    fmt::format("{} for this process, {}", Plural(report.cores, "core", "cores"),
                                MemoryText(report.processor))});
  for (const Candidate& gpu : JudgeForAuto(report.cuda, report.opencl)) {
    std::vector<std::string> paragraphs = {gpu.info.description, MemoryText(gpu.info)};
    if (!gpu.info.hardware.empty()) paragraphs[1] += fmt::format(", PCI {}", gpu.info.hardware);
    if (!gpu.info.unusable.empty()) {
      paragraphs.push_back(fmt::format("cannot be used: {}", gpu.info.unusable));
    } else if (!gpu.why_not.empty()) {
      paragraphs.push_back(fmt::format("used only if it is named: {}", gpu.why_not));
    }
    text += Entry(OptionName(gpu.info), paragraphs);
  }
  for (const gpu::DetectedDevices* detected : {&report.cuda, &report.opencl}) {
    if (detected->devices.empty()) {
      text += Entry(Name(detected->interface), {fmt::format("none: {}", detected->why_none)});
    }
  }
  text += MachineText(report.machine);
  text += "\n" + Wrap(AutoSentence(report), kWidth);
  for (const gpu::DetectedDevices* detected : {&report.cuda, &report.opencl}) {
    text += "\n" + Wrap(ProofSentence(detected->interface), kWidth);
  }
  if (!report.why_no_cache.empty()) {
    text += "\n" + Wrap(fmt::format("No cache: {}.", report.why_no_cache), kWidth);
  }
  for (const Finding& finding : report.machine.findings) {
    text += "\n" + Wrap(fmt::format("Note: {}: {}.", finding.what, finding.remedy), kWidth);
  }
  return text + "\n";
}

std::string DevicesJson(const DevicesReport& report) {
  const std::vector<DeviceInfo> chosen = AutoDevices(report, Purpose::kTraining);
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  nlohmann::ordered_json processor = ToJson(report.processor);
  processor["cores"] = report.cores;
  processor["auto"] = HasCores(chosen);
  json["devices"].push_back(std::move(processor));
  for (const Candidate& gpu : JudgeForAuto(report.cuda, report.opencl)) {
    nlohmann::ordered_json one = ToJson(gpu.info);
    one["auto"] = gpu.why_not.empty();
    if (!gpu.why_not.empty()) one["why_not_auto"] = gpu.why_not;
    json["devices"].push_back(std::move(one));
  }
  json["auto"] = NamesOf(chosen);
  json["auto_inference"] = NamesOf(AutoDevices(report, Purpose::kInference));
  for (const gpu::DetectedDevices* detected : {&report.cuda, &report.opencl}) {
    nlohmann::ordered_json one = {{"name", Name(detected->interface)},
                                  {"devices", detected->devices.size()},
                                  {"proven_on", ProvenOn(detected->interface)}};
    if (detected->devices.empty()) one["why_none"] = detected->why_none;
    json["interfaces"].push_back(std::move(one));
  }
  if (!report.why_no_cache.empty()) json["why_no_cache"] = report.why_no_cache;
  const MachineFacts& facts = report.machine;
  json["machine"] = {{"caches", facts.caches},
                     {"physical_cores", facts.physical_cores},
                     {"numa_nodes", facts.numa_nodes},
                     {"memory_bytes", facts.memory_bytes},
                     {"available_memory_bytes", facts.available_bytes}};
  for (const DiskSpace& disk : facts.disks) {
    json["machine"]["disks"].push_back(
        {{"for", disk.what}, {"path", disk.path}, {"free_bytes", disk.free_bytes}});
  }
  for (const Finding& finding : facts.findings) {
    json["findings"].push_back({{"what", finding.what}, {"remedy", finding.remedy}});
  }
  // The name that a driver gives its device may hold any bytes.
  return JsonText(json, 2) + "\n";
}

}  // namespace hogbatch
