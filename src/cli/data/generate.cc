#include "cli/data/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data/target.h"
#include "core/error.h"
#include "core/spelling.h"
#include "core/text.h"
#include "datasets/convert/write_rows.h"
#include "datasets/synthetic.h"

namespace hogbatch {
namespace {

SyntheticSpec SpecOf(const DataGenerateOptions& options) {
  const std::span<const KnownShape> shapes = KnownShapes();
  const auto shape = std::ranges::find(shapes, options.shape, &KnownShape::name);
  if (shape == shapes.end()) {
    const std::vector<std::string> names = GeneratedSets();
    throw UserError(fmt::format("data generate: unknown set '{}'; choose one of {}{}",
                                options.shape, fmt::join(names, ", "),
                                DidYouMean(options.shape, names)));
  }
  SyntheticSpec spec = shape->spec;
  spec.valid_fraction = 0;
  spec.seed = static_cast<std::uint64_t>(options.seed);
  if (options.rows > 0) spec.rows = options.rows;
  if (options.features > 0) spec.features = options.features;
  if (options.nonzeros > 0) spec.nonzeros = options.nonzeros;
  if (options.classes > 0) spec.classes = options.classes;
  if (spec.nonzeros > spec.features) {
    throw UserError(
        fmt::format("--nonzeros {} exceeds the {} features", spec.nonzeros, spec.features));
  }
  spec.labels_per_row = std::min(spec.labels_per_row, spec.classes);
  return spec;
}

}  // namespace

std::vector<std::string> GeneratedSets() {
  std::vector<std::string> names;
  for (const KnownShape& one : KnownShapes()) names.emplace_back(one.name);
  return names;
}

int GenerateData(const DataGenerateOptions& options) {
  if (options.shape.empty() || options.out.empty()) {
    throw UserError(
        "data generate needs a set and a file; for example: hogbatch data generate covtype "
        "made.csv");
  }
  const SyntheticSpec spec = SpecOf(options);
  const WrittenFormat to = TargetFormat(options.to, options.out);
  if (to == WrittenFormat::kJsonLines) {
    throw UserError("data generate writes CSV or LIBSVM; choose --to csv or --to libsvm");
  }
  if (to == WrittenFormat::kCsv && spec.label_kind == LabelKind::kMultiLabel) {
    throw UserError(
        "data generate: several labels per row are written as LIBSVM; choose --to libsvm");
  }
  const TrainingData made = MakeSynthetic(spec);
  WriteTarget(options.out, NamedBy::kUser,
              [&](const TakeText& write) { WriteRows(made.data, made.schema, to, write); });
  if (options.out != "-") {
    WriteOutput(fmt::format("{} made-up rows with the shape of {} in {}\n", Grouped(spec.rows),
                            options.shape, options.out));
  }
  return kExitOk;
}

}  // namespace hogbatch
