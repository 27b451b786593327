// Shows a comparison to the user.
#pragma once

#include <string_view>

#include "cli/console.h"
#include "compare/runs/run_schedule.h"

namespace hogbatch {

class ConsoleCompareObserver final : public compare::CompareObserver {
 public:
  explicit ConsoleCompareObserver(Console& console) : console_(console) {}

  void OnActivity(std::string_view what) override;
  void OnAbsent(const compare::Absent& absent) override;
  void OnRun(const compare::RunNotice& notice) override;
  void OnRunEnd(const compare::RunNotice& notice, const compare::RunRecord& record) override;

 private:
  Console& console_;
};

}  // namespace hogbatch
