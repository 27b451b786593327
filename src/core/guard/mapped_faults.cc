#include "core/guard/mapped_faults.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <string>

namespace hogbatch {
namespace {

struct Slot {
  std::atomic<std::uintptr_t> begin = 0;  // written last; 0: the slot guards nothing
  std::atomic<std::uintptr_t> end = 0;    // of the last page
  std::atomic<bool> is_lost = false;
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

// Globals, because a signal handler gets no pointer to its state. The handler reads slots and sets
// is_lost; all else is guarded by the mutex.
std::array<Slot, 1024> slots;
std::atomic<bool> any_lost = false;  // ever
struct sigaction former{};
std::mutex mutex;
std::array<std::string, slots.size()> paths;

Slot* SlotOf(std::uintptr_t address) {
  for (Slot& slot : slots) {
    const std::uintptr_t begin = slot.begin;
    if (begin != 0 && begin <= address && address < slot.end) return &slot;
  }
  return nullptr;
}

// Zeros from the page of the address to the end of the mapping. Offsets are ascending numbers, so
// that after the first zero there may only be zeros. The flags are set first: whoever has read a
// zero sees them.
bool ReplaceByZeros(std::uintptr_t address, std::uintptr_t page_bytes) {
  Slot* const slot = SlotOf(address);
  if (!slot) return false;
  slot->is_lost = true;
  any_lost = true;
  const std::uintptr_t page = address - address % page_bytes;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the slots hold numbers
  return ::mmap(reinterpret_cast<void*>(page), slot->end - page, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

// Async-signal-safe.
extern "C" void OnBusError(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const bool is_ours = ReplaceByZeros(reinterpret_cast<std::uintptr_t>(info->si_addr), page_bytes);
  errno = error;
  if (is_ours) return;
  if ((former.sa_flags & SA_SIGINFO) != 0) return former.sa_sigaction(signal, info, context);
  if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
    return former.sa_handler(signal);
  }
  ::sigaction(signal, &former, nullptr);  // the access is repeated, and does what it did before
}

void InstallHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGBUS, nullptr, &former);  // the handler needs it from its first moment on
    ::sigaction(SIGBUS, &action, nullptr);
  });
}

std::uintptr_t WholePages(std::size_t bytes) {
  const std::uintptr_t page = ::sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

}  // namespace

GuardedMapping::GuardedMapping(std::span<const std::byte> mapping,
                               const std::filesystem::path& path) {
  InstallHandler();
  const std::lock_guard lock(mutex);
  for (slot_ = 0; slots[slot_].begin != 0;) {
    if (++slot_ == slots.size()) throw Error("there are too many mapped files; use --no-cache");
  }
  paths[slot_] = path.string();
  Slot& slot = slots[slot_];
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
  slot.is_lost = false;
  slot.end = begin + WholePages(mapping.size());
  slot.begin = begin;
}

GuardedMapping::~GuardedMapping() {
  const std::lock_guard lock(mutex);
  slots[slot_].begin = 0;
}

bool IsReadable(const void* address) {
  if (!any_lost) return true;
  const Slot* const slot = SlotOf(reinterpret_cast<std::uintptr_t>(address));
  return !slot || !slot->is_lost;
}

void RequireReadable(const void* address) {
  if (IsReadable(address)) return;
  const std::lock_guard lock(mutex);
  const Slot* const slot = SlotOf(reinterpret_cast<std::uintptr_t>(address));
  throw MappingLost(fmt::format(
      "the cache file {} became shorter or cannot be read; run the command again, which writes it "
      "anew, and check the disk if that fails, too",
      slot ? paths[slot - slots.data()] : "of the data"));
}

}  // namespace hogbatch
