#include "tests/gpu/cuda_standin/machine.h"

#include <cuda_runtime_api.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace hogbatch::standin {
namespace {

template <typename T>
void Read(const char* variable, T& value) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return;
  const char* end = text + std::strlen(text);
  if (const auto [stop, error] = std::from_chars(text, end, value);
      stop != end || error != std::errc()) {
    throw std::runtime_error(std::string(variable) + "=" + text + " is no number");
  }
}

// The libraries that are feigned have one state in a process, and so has this.
class Process {
 public:
  std::mutex mutex;
  std::unique_ptr<Machine> machine = std::make_unique<Machine>(Settings::FromEnvironment());

  ~Process() {
    const std::vector<std::string> violations = machine->TakeViolations();
    if (violations.empty()) return;
    for (const std::string& sentence : violations) {
      std::fprintf(stderr, "CUDA stand-in: %s\n", sentence.c_str());
    }
    std::fflush(nullptr);
    std::_Exit(kViolated);
  }
};

Process& TheProcess() {
  static Process process;
  return process;
}

bool IsTooOld(int driver) { return driver != 0 && driver / 1000 < CUDART_VERSION / 1000; }

template <typename T>
void AddLeaks(const Handles<T>& handles, std::vector<std::string>& to) {
  if (handles.size() == 0) return;
  to.push_back("not destroyed: " + handles.name() + ", " + std::to_string(handles.size()) +
               " times");
}

}  // namespace

Settings Settings::FromEnvironment() {
  Settings settings;
  Read("HOGBATCH_STANDIN_DEVICES", settings.devices);
  Read("HOGBATCH_STANDIN_MEMORY", settings.memory_bytes);
  Read("HOGBATCH_STANDIN_DRIVER", settings.driver_version);
  Read("HOGBATCH_STANDIN_SEED", settings.seed);
  Read("HOGBATCH_STANDIN_FAIL", settings.fail_at);
  Read("HOGBATCH_STANDIN_FULL", settings.full_at);
  Read("HOGBATCH_STANDIN_FULL_FOR", settings.full_for);
  return settings;
}

Machine::Machine(const Settings& wanted)
    : settings(wanted),
      memory(wanted.devices, wanted.memory_bytes, wanted.seed),
      timeline(wanted.seed),
      is_dead_(wanted.devices) {}

bool Machine::IsTimeToFail(int device) {
  if (++calls_ != settings.fail_at || device >= settings.devices) return false;
  is_dead_[device] = true;
  timeline.Abandon(device);
  return true;
}

void Machine::RequireDriver() const {
  if (IsTooOld(settings.driver_version)) throw Failure{Fault::kOldDriver};
  if (settings.devices == 0) throw Failure{Fault::kNoDevice};
}

void Machine::RequireAlive(int device) const {
  RequireDriver();
  if (device >= settings.devices) throw Failure{Fault::kBadDevice};
  if (is_dead_[device]) throw Failure{Fault::kDead};
}

void Machine::RequireRoom() {
  const std::int64_t past = ++memory_requests_ - settings.full_at;
  if (settings.full_at > 0 && past >= 0 && past < settings.full_for) {
    throw Failure{Fault::kNoMemory};
  }
}

std::vector<std::string> Machine::TakeViolations() {
  std::vector<std::string> all = std::exchange(violations_, {});
  for (const auto& more : {timeline.TakeViolations(), memory.Leaks()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  AddLeaks(timeline.streams(), all);
  AddLeaks(timeline.events(), all);
  AddLeaks(blas, all);
  AddLeaks(blas_lt, all);
  AddLeaks(dnn, all);
  AddLeaks(matmuls, all);
  AddLeaks(layouts, all);
  AddLeaks(preferences, all);
  AddLeaks(tensors, all);
  return all;
}

int& CurrentDevice() {
  thread_local int device = 0;
  return device;
}

std::optional<Fault> Run(const char* call, Purpose purpose,
                         const std::function<void(Machine&)>& body) {
  Process& process = TheProcess();
  const std::scoped_lock lock(process.mutex);
  Machine& machine = *process.machine;
  const bool fails = machine.IsTimeToFail(CurrentDevice());
  try {
    if (fails && purpose <= Purpose::kAsk) throw Failure{Fault::kDead};
    if (purpose != Purpose::kLook) machine.RequireDriver();
    if (purpose == Purpose::kUse) machine.RequireAlive(CurrentDevice());
    body(machine);
    if (purpose == Purpose::kGiveBack) machine.RequireAlive(CurrentDevice());
  } catch (const Misuse& misuse) {
    machine.Violate(std::string(call) + ": " + misuse.sentence);
    return misuse.fault;
  } catch (const Failure& failure) {
    return failure.fault;
  }
  return {};
}

void Restart(const Settings& settings) {
  Process& process = TheProcess();
  const std::scoped_lock lock(process.mutex);
  process.machine = std::make_unique<Machine>(settings);
}

std::int64_t CallsMade() {
  Process& process = TheProcess();
  const std::scoped_lock lock(process.mutex);
  return process.machine->calls();
}

std::int64_t MemoryRequestsMade() {
  Process& process = TheProcess();
  const std::scoped_lock lock(process.mutex);
  return process.machine->memory_requests();
}

std::vector<std::string> TakeViolations() {
  Process& process = TheProcess();
  const std::scoped_lock lock(process.mutex);
  std::vector<std::string> violations = process.machine->TakeViolations();
  process.machine = std::make_unique<Machine>(process.machine->settings);
  return violations;
}

}  // namespace hogbatch::standin
