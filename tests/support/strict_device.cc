#include "tests/support/strict_device.h"

#include <sys/mman.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace hogbatch {
namespace {

// Addresses that exist and cannot be followed.
class Nowhere {
 public:
  Nowhere()
      : base_(
            mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (base_ == MAP_FAILED) throw std::bad_alloc();
  }
  Nowhere(const Nowhere&) = delete;
  Nowhere& operator=(const Nowhere&) = delete;
  ~Nowhere() { munmap(base_, kBytes); }

  void* Take(std::size_t bytes) {
    const std::size_t at = next_;
    next_ += (bytes + 4095) / 4096 * 4096;  // never used again: an old address stays wrong
    if (next_ > kBytes) throw std::bad_alloc();
    return static_cast<std::byte*>(base_) + at;
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 36;
  void* base_;
  std::size_t next_ = 0;
};

void Demand(bool holds, const char* what) {
  if (!holds) throw Misuse(what);
}

std::size_t Digest(std::span<const std::byte> bytes) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

class StrictDevice final : public Device {
 public:
  StrictDevice(std::unique_ptr<Device> inner, DeviceKind kind, std::shared_ptr<DeviceUse> use)
      : inner_(std::move(inner)),
        info_(inner_->info()),
        use_(use ? std::move(use) : std::make_shared<DeviceUse>()) {
    info_.kind = kind;
    info_.shares_host_memory = false;
  }
  ~StrictDevice() override {
    for (const auto& [base, block] : blocks_) {
      use_->leaked_blocks += block.live;
      if (block.memory) inner_->Free(block.memory);
    }
    use_->leaked_blocks += live_host_blocks_;
    FreeHostBlocks();
  }

  const DeviceInfo& info() const override { return info_; }

  void* Allocate(std::size_t bytes) override {
    CheckThread();
    Demand(bytes > 0, "memory of no bytes was asked for");
    if (use_->limit_bytes > 0 &&
        use_->live_bytes + static_cast<std::int64_t>(bytes) > use_->limit_bytes) {
      throw OutOfDeviceMemory("a strict device has no more memory");
    }
    void* base = addresses_.Take(bytes);
    Block& block = blocks_[base];
    block = {.memory = inner_->Allocate(bytes), .bytes = bytes};
    std::memset(block.memory, 0xFF, bytes);
    use_->live_bytes += static_cast<std::int64_t>(bytes);
    use_->peak_bytes = std::max(use_->peak_bytes, use_->live_bytes);
    return base;
  }
  // Memory goes when nothing queued can reach it any more.
  void Free(void* base) noexcept override {
    const auto found = blocks_.find(base);
    if (found == blocks_.end() || !found->second.live) std::terminate();
    found->second.live = false;
    use_->live_bytes -= static_cast<std::int64_t>(found->second.bytes);
    inner_->Free(std::exchange(found->second.memory, nullptr));
  }

  void Upload(std::span<const std::byte> from, void* base, std::size_t offset) override {
    Inner(base, offset, from.size());
    use_->uploaded_bytes += static_cast<std::int64_t>(from.size());
    Queue([=, this, before = Digest(from)] {
      Demand(Digest(from) == before, "host memory changed before it was uploaded");
      inner_->Upload(from, Inner(base, offset, from.size()), offset);
    });
  }
  void Download(const void* base, std::size_t offset, std::span<std::byte> to) override {
    Inner(base, offset, to.size());
    use_->downloaded_bytes += static_cast<std::int64_t>(to.size());
    std::memset(to.data(), 0xFF, to.size());
    Queue([=, this] { inner_->Download(Inner(base, offset, to.size()), offset, to); });
  }
  void Wait() override {
    CheckThread();
    ++use_->waits;
    RunUntil(queued());
    FreeHostBlocks();
  }
  void* AllocateHost(std::size_t bytes) override {
    CheckThread();
    Demand(bytes > 0, "host memory of no bytes was asked for");
    void* const memory = inner_->AllocateHost(bytes);
    std::memset(memory, 0xFF, bytes);
    ++live_host_blocks_;
    return memory;
  }
  void FreeHost(void* memory) noexcept override {
    --live_host_blocks_;
    freed_host_blocks_.push_back(memory);
  }
  std::int64_t SetMark() override {
    CheckThread();
    ++use_->marks;
    return last_mark_ = queued();
  }
  void WaitFor(std::int64_t mark) override {
    CheckThread();
    Demand(mark >= 0 && mark <= last_mark_, "a mark was waited for that was never set");
    ++use_->partial_waits;
    RunUntil(mark);
  }

  void DenseForward(const Tensor& x, const Tensor& w, const Tensor& bias, Activation f,
                    const Tensor& y, const Tensor& pre) override {
    CheckAll(x, w, bias, y);
    Queue([=, this] {
      inner_->DenseForward(Inner(x), Inner(w), Inner(bias), f, Inner(y), Optional(pre));
    });
  }
  void SparseForward(const CsrTensor& x, const Tensor& w, const Tensor& bias, Activation f,
                     const Tensor& y, const Tensor& pre) override {
    Inner(x);
    CheckAll(w, bias, y);
    Queue([=, this] {
      inner_->SparseForward(Inner(x), Inner(w), Inner(bias), f, Inner(y), Optional(pre));
    });
  }
  void DenseBackwardData(const Tensor& dy, const Tensor& w, Activation f, const Tensor& x,
                         const Tensor& pre, const Tensor& dx) override {
    CheckAll(dy, w, x, dx);
    Queue([=, this] {
      inner_->DenseBackwardData(Inner(dy), Inner(w), f, Inner(x), Optional(pre), Inner(dx));
    });
  }
  void DenseBackwardWeights(const Tensor& x, const Tensor& dy, float scale, float keep,
                            const Tensor& dw, const Tensor& dbias) override {
    CheckAll(x, dy, dw, dbias);
    Queue([=, this] {
      inner_->DenseBackwardWeights(Inner(x), Inner(dy), scale, keep, Inner(dw), Inner(dbias));
    });
  }
  void SparseBackwardWeights(const CsrTensor& x, const Tensor& dy, float scale, float keep,
                             const Tensor& dw, const Tensor& dbias) override {
    Inner(x);
    CheckAll(dy, dw);
    Optional(dbias);
    Queue([=, this] {
      inner_->SparseBackwardWeights(Inner(x), Inner(dy), scale, keep, Inner(dw), Optional(dbias));
    });
  }

  void SoftmaxLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                   float scale, const Tensor& losses, const Tensor& gradient) override {
    CheckAll(outputs, losses, gradient);
    Queue([=, this] {
      inner_->SoftmaxLoss(Inner(outputs), Inner(targets), Optional(class_weights), scale,
                          Inner(losses), Inner(gradient));
    });
  }
  void SigmoidLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                   float scale, const Tensor& losses, const Tensor& gradient) override {
    CheckAll(outputs, losses, gradient);
    Queue([=, this] {
      inner_->SigmoidLoss(Inner(outputs), Inner(targets), Optional(class_weights), scale,
                          Inner(losses), Inner(gradient));
    });
  }
  void SquaredLoss(const Tensor& outputs, const Targets& targets, float scale, const Tensor& losses,
                   const Tensor& gradient) override {
    CheckAll(outputs, losses, gradient);
    Queue([=, this] {
      inner_->SquaredLoss(Inner(outputs), Inner(targets), scale, Inner(losses), Inner(gradient));
    });
  }

  void AddScaled(const Tensor& x, float scale, float keep, const Tensor& y) override {
    CheckAll(x, y);
    Queue([=, this] { inner_->AddScaled(Inner(x), scale, keep, Inner(y)); });
  }
  void AddRows(const Tensor& x, const DeviceSpan<const std::int32_t>& rows, float scale,
               const Tensor& y) override {
    CheckAll(x, rows, y);
    Demand(rows.size == x.rows, "every row to add has a place");
    Queue([=, this] {
      CheckPlaces(Inner(rows), y.rows);
      inner_->AddRows(Inner(x), Inner(rows), scale, Inner(y));
    });
  }
  void ScaleRows(const DeviceSpan<const float>& factors, const Tensor& y) override {
    CheckAll(factors, y);
    Demand(factors.size == y.rows, "every row has its factor");
    Queue([=, this] { inner_->ScaleRows(Inner(factors), Inner(y)); });
  }
  void ScaleLanes(const DeviceSpan<const float>& factors, const Tensor& y) override {
    CheckAll(factors, y);
    Demand(factors.size > 0 && y.cols % factors.size == 0, "lanes have equally many columns");
    Queue([=, this] { inner_->ScaleLanes(Inner(factors), Inner(y)); });
  }
  void Fill(const Tensor& y, float value) override {
    CheckAll(y);
    Queue([=, this] { inner_->Fill(Inner(y), value); });
  }
  void Momentum(const Tensor& gradient, const MomentumStep& step, const TouchedRows* touched,
                const Tensor& velocity, const Tensor& w) override {
    CheckAll(gradient, w);
    Queue([=, this, rows = Copy(touched)] {
      const std::optional<TouchedRows> there = Inner(rows);
      inner_->Momentum(Inner(gradient), step, there ? &*there : nullptr, Optional(velocity),
                       Inner(w));
    });
  }
  void Adam(const Tensor& gradient, const AdamStep& step, const TouchedRows* touched,
            const Tensor& mean, const Tensor& square, const Tensor& w) override {
    CheckAll(gradient, mean, square, w);
    Queue([=, this, rows = Copy(touched)] {
      const std::optional<TouchedRows> there = Inner(rows);
      inner_->Adam(Inner(gradient), step, there ? &*there : nullptr, Inner(mean), Inner(square),
                   Inner(w));
    });
  }
  void MomentumOfLanes(const Tensor& gradient, const LaneSteps<MomentumStep>& lanes,
                       const TouchedRows* touched, const Tensor& velocity,
                       const Tensor& w) override {
    CheckAll(gradient, lanes, w);
    Queue([=, this, rows = Copy(touched)] {
      const std::optional<TouchedRows> there = Inner(rows);
      inner_->MomentumOfLanes(Inner(gradient), Inner(lanes), there ? &*there : nullptr,
                              Optional(velocity), Inner(w));
    });
  }
  void AdamOfLanes(const Tensor& gradient, const LaneSteps<AdamStep>& lanes,
                   const TouchedRows* touched, const Tensor& mean, const Tensor& square,
                   const Tensor& w) override {
    CheckAll(gradient, lanes, mean, square, w);
    Queue([=, this, rows = Copy(touched)] {
      const std::optional<TouchedRows> there = Inner(rows);
      inner_->AdamOfLanes(Inner(gradient), Inner(lanes), there ? &*there : nullptr, Inner(mean),
                          Inner(square), Inner(w));
    });
  }

 private:
  struct Block {
    void* memory = nullptr;
    std::size_t bytes = 0;
    bool live = true;
  };

  void CheckThread() const {
    Demand(std::this_thread::get_id() == thread_, "a device was used on another thread");
  }
  void Queue(std::function<void()> call) {
    CheckThread();
    queue_.push_back(std::move(call));
  }
  // How many calls were queued so far: a mark.
  std::int64_t queued() const { return done_ + static_cast<std::int64_t>(queue_.size()); }
  void RunUntil(std::int64_t mark) {
    while (done_ < mark) {
      const std::function<void()> call = std::move(queue_.front());
      queue_.pop_front();
      ++done_;
      call();
    }
    inner_->Wait();
  }

  // When nothing queued can reach them any more.
  void FreeHostBlocks() noexcept {
    for (void* memory : freed_host_blocks_) inner_->FreeHost(memory);
    freed_host_blocks_.clear();
  }

  // The memory behind an address, of which a call uses `bytes` from `offset` on.
  void* Inner(const void* base, std::size_t offset, std::size_t bytes) const {
    const auto found = blocks_.find(const_cast<void*>(base));
    Demand(found != blocks_.end(), "an address is not one of the device's");
    Demand(found->second.live, "memory was freed before a call that uses it ran");
    Demand(offset + bytes <= found->second.bytes, "a call reaches past its block");
    return found->second.memory;
  }
  template <typename T>
  DeviceSpan<T> Inner(const DeviceSpan<T>& span) const {
    if (!span.base && span.size == 0) return {};
    return {Inner(span.base, static_cast<std::size_t>(span.offset) * sizeof(T),
                  static_cast<std::size_t>(span.size) * sizeof(T)),
            span.offset, span.size};
  }
  Tensor Inner(const Tensor& tensor) const {
    Demand(tensor.rows > 0 && tensor.cols > 0, "a call is about nothing");
    Demand(tensor.data.size >= (tensor.rows - 1) * tensor.stride + tensor.cols,
           "a tensor reaches past its span");
    return {Inner(tensor.data), tensor.rows, tensor.cols, tensor.stride};
  }
  Tensor Optional(const Tensor& tensor) const { return tensor.empty() ? tensor : Inner(tensor); }
  CsrTensor Inner(const CsrTensor& x) const {
    Demand(x.rows > 0 && x.offsets.size == x.rows + 1, "sparse rows have an offset each and one");
    Demand(x.columns.base && x.values.base, "sparse rows lie on the device even if all are empty");
    return {Inner(x.offsets), Inner(x.columns), Inner(x.values), x.rows, x.cols};
  }
  template <typename Step>
  LaneSteps<Step> Inner(const LaneSteps<Step>& lanes) const {
    Demand(lanes.steps.size > 0 && lanes.rows > 0 && lanes.cols > 0, "there are no lanes");
    return {Inner(lanes.steps), lanes.rows, lanes.cols};
  }
  Targets Inner(const Targets& t) const {
    return {Inner(t.classes), Inner(t.label_offsets), Inner(t.labels), Inner(t.values),
            Inner(t.weights)};
  }
  static void CheckPlaces(const DeviceSpan<const std::int32_t>& places, std::int64_t rows) {
    std::int64_t least = 0;
    for (const std::int32_t place :
         std::span(places.host(), static_cast<std::size_t>(places.size))) {
      if (place < 0) continue;
      Demand(place >= least && place < rows, "places of rows ascend and exist");
      least = std::int64_t{place} + 1;
    }
  }
  static std::optional<TouchedRows> Copy(const TouchedRows* touched) {
    return touched ? std::optional(*touched) : std::nullopt;
  }
  std::optional<TouchedRows> Inner(const std::optional<TouchedRows>& touched) const {
    if (!touched) return std::nullopt;
    return TouchedRows{Inner(touched->rows), Inner(touched->skipped)};
  }
  // Finds wrong addresses where they are handed over, not when the call runs.
  template <typename... Operands>
  void CheckAll(const Operands&... operands) const {
    (Inner(operands), ...);
  }

  std::unique_ptr<Device> inner_;
  DeviceInfo info_;
  std::shared_ptr<DeviceUse> use_;
  std::thread::id thread_ = std::this_thread::get_id();
  Nowhere addresses_;
  std::map<void*, Block> blocks_;
  std::int64_t live_host_blocks_ = 0;
  std::vector<void*> freed_host_blocks_;
  std::int64_t done_ = 0;  // calls that ran
  std::int64_t last_mark_ = 0;
  std::deque<std::function<void()>> queue_;
};

}  // namespace

std::unique_ptr<Device> MakeStrictDevice(std::unique_ptr<Device> inner, DeviceKind kind,
                                         std::shared_ptr<DeviceUse> use) {
  return std::make_unique<StrictDevice>(std::move(inner), kind, std::move(use));
}

}  // namespace hogbatch
