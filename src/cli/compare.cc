#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/compare_observer.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/interrupts.h"
#include "compare/comparison.h"
#include "compare/page/page.h"
#include "compare/page/wording.h"
#include "core/replaced_file.h"

namespace hogbatch {
namespace {

// A comparison that is refused leaves no folder, and no lock in one of others.
compare::Comparison CompareIn(const std::string& folder, const compare::CompareSpec& spec,
                              compare::CompareObserver& observer) {
  try {
    return compare::Compare(spec, observer,
                            [&interrupts = HandleInterrupts()] { return interrupts > 0; });
  } catch (...) {
    RemoveUnusedFolder(folder);
    throw;
  }
}

}  // namespace

int Compare(const CompareOptions& options) {
  Console console(VerbosityOf(options.terminal));
  ConsoleCompareObserver observer(console);
  const std::string folder = MakeOutputFolder(compare::CompareFolder(options.spec));
  const FolderLock lock(folder);
  const compare::Comparison comparison = CompareIn(folder, options.spec, observer);
  console.EndLive();
  if (!comparison.sides.empty()) {
    const std::string json = compare::CompareJson(comparison);
    ReplaceFile(comparison.setting.out + "/compare.json", json);
    ReplaceFile(comparison.setting.out + "/compare.html", compare::ComparePage(comparison));
    if (!comparison.findings.curves.empty()) {
      ReplaceFile(comparison.setting.out + "/compare.svg", compare::ComparePicture(comparison));
    }
    for (const std::string& line : compare::ResultLines(comparison)) console.Say(line);
    console.Say(fmt::format("page      {}/compare.html", compare::CompareFolder(options.spec)));
    if (options.terminal.json && comparison.complete) WriteOutput(json);
  }
  if (comparison.complete) return kExitOk;
  console.Warn("interrupted; what is done is kept, and the same command goes on from there");
  return kExitInterrupted;
}

}  // namespace hogbatch
