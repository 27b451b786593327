#include "report/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/guard/json_text.h"

namespace hogbatch::report {
namespace {

constexpr double kLeastWait = 20e-6;  // seconds; shorter gaps are messages on their way
constexpr std::size_t kPartBytes = 1 << 20;

std::string Quoted(std::string_view text) { return JsonText(nlohmann::json(text)); }

std::string_view Name(Activity activity) {
  switch (activity) {
    case Activity::kTraining:
      return "train";
    case Activity::kApplying:
      return "apply";
    case Activity::kSnapshot:
      return "snapshot";
    case Activity::kEvaluation:
      break;
  }
  return "evaluate";
}

// Events separated by commas, handed on in large parts.
class EventList {
 public:
  explicit EventList(const std::function<void(std::string_view)>& write) : write_(write) {}

  void Add(std::string_view event) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    text_ += event;
    if (text_.size() > kPartBytes) Flush();
  }
  void Flush() {
    write_(text_);
    text_.clear();
  }

 private:
  const std::function<void(std::string_view)>& write_;
  std::string text_;
  bool first_ = true;
};

std::string Metadata(std::string_view what, std::size_t thread, std::string_view args) {
  return fmt::format(R"({{"name":"{}","ph":"M","pid":1,"tid":{},"args":{{{}}}}})", what, thread,
                     args);
}

// Times are microseconds since training began.
class ThreadEvents {
 public:
  ThreadEvents(EventList& events, double began, std::size_t thread, std::string_view worker)
      : events_(events),
        began_(began),
        thread_(thread),
        counter_(Quoted(fmt::format("batch size {}", worker))) {
    events_.Add(Metadata("thread_name", thread, fmt::format(R"("name":{})", Quoted(worker))));
    events_.Add(Metadata("thread_sort_index", thread, fmt::format(R"("sort_index":{})", thread)));
  }

  void Add(const TaskSpan& span) {
    if (span.begin - ended_ > kLeastWait) Complete("wait", ended_, span.begin, "");
    // Clocks are read one after the other; events that overlap a little would confuse a viewer.
    const double begin = std::max(span.begin, ended_);
    ended_ = std::max(span.end, begin);
    const std::int64_t batch_size =
        span.updates > 0 ? (span.rows + span.updates / 2) / span.updates : 0;
    std::string args;
    if (span.activity == Activity::kTraining) {
      args = fmt::format(R"("rows":{},"updates":{},"merges":{},"batch_size":{})", span.rows,
                         span.updates, span.merges, batch_size);
    } else if (span.activity == Activity::kEvaluation) {
      args = fmt::format(R"("rows":{})", span.rows);
    }
    Complete(Name(span.activity), begin, ended_, args);
    if (batch_size > 0 && batch_size != batch_size_) {
      batch_size_ = batch_size;
      events_.Add(fmt::format(R"({{"name":{},"ph":"C","pid":1,"ts":{:.3f},"args":{{"rows":{}}}}})",
                              counter_, Time(begin), batch_size));
    }
  }

 private:
  double Time(double seconds) const { return 1e6 * std::max(seconds - began_, 0.0); }

  void Complete(std::string_view name, double begin, double end, std::string_view args) {
    const double from = Time(begin);
    events_.Add(fmt::format(
        R"({{"name":"{}","cat":"task","ph":"X","pid":1,"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}}}})",
        name, thread_, from, std::max(Time(end) - from, 0.0), args));
  }

  EventList& events_;
  double began_;
  std::size_t thread_;
  std::string counter_;
  double ended_ = began_;
  std::int64_t batch_size_ = 0;
};

}  // namespace

void WriteTrace(const RunTrace& trace, std::span<const std::string> workers,
                std::span<const ThroughputSample> throughput,
                const std::function<void(std::string_view)>& write) {
  write(R"({"displayTimeUnit":"ms","traceEvents":[)");
  EventList events(write);
  events.Add(Metadata("process_name", 0, R"("name":"hogbatch")"));
  std::int64_t left_out = 0;
  for (const WorkerId id : trace.workers().ids()) {
    const auto index = static_cast<std::size_t>(id);
    ThreadEvents thread(events, trace.began(), index + 1, workers[index]);
    for (const TaskSpan& span : trace.workers()[id].spans()) thread.Add(span);
    left_out += trace.workers()[id].left_out();
  }
  for (const ThroughputSample& sample : throughput) {
    if (!std::isfinite(sample.examples_per_second)) continue;
    events.Add(fmt::format(
        R"({{"name":"rows/s","ph":"C","pid":1,"ts":{:.3f},"args":{{"rows/s":{:.1f}}}}})",
        1e6 * sample.seconds, sample.examples_per_second));
  }
  events.Flush();
  write(fmt::format("\n],\"otherData\":{{\"program\":\"hogbatch\",\"tasks_left_out\":\"{}\"}}}}\n",
                    left_out));
}

}  // namespace hogbatch::report
