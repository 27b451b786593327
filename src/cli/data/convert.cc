#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data/overwrite.h"
#include "cli/data/target.h"
#include "core/error.h"
#include "datasets/convert/write_rows.h"
#include "datasets/convert/write_table.h"
#include "datasets/convert/written_rows.h"
#include "training/input.h"

namespace hogbatch {
namespace {

// Rows as a network would see them, not scaled.
void WriteEncoded(const DataConvertOptions& options, WrittenFormat to, const TakeText& write) {
  ReadOptions read = ReadOptionsOf(options.spec);
  read.scaling = ScalingKind::kNone;
  read.valid_fraction = 0;
  const Schema schema = ReadTrainingData(options.spec.data, read).schema;
  const Dataset data = ReadWithSchema(options.spec.data, schema, Labels::kRequired, read);
  for (const std::string& note : data.notes) Complain(note);
  if (to == WrittenFormat::kLibsvm && schema.label_kind == LabelKind::kClass &&
      !HasNumericLabels(schema)) {
    std::vector<std::string> numbers;
    for (std::size_t i = 0; i < schema.label_names.size(); ++i) {
      numbers.push_back(fmt::format("{} = {}", i, schema.label_names[i]));
    }
    Complain(fmt::format("LIBSVM labels are numbers: {}", fmt::join(numbers, ", ")));
  }
  WriteRows(data, schema, to, write);
}

}  // namespace

int ConvertData(const DataConvertOptions& options) {
  if (options.spec.data.empty() || options.out.empty()) {
    throw UserError(
        "data convert needs two files; for example: hogbatch data convert rows.svm rows.csv");
  }
  RefusePipes("data convert", options.spec.data);
  RefuseOverwrite(options.out, InputsOf(options.spec));
  const WrittenFormat to = TargetFormat(options.to, options.out);
  const ReadOptions read = ReadOptionsOf(options.spec);
  WriteTarget(options.out, NamedBy::kUser, [&](const TakeText& write) {
    if (to == WrittenFormat::kLibsvm) return WriteEncoded(options, to, write);
    if (FormatOfFiles(options.spec.data, read) == FileFormat::kCsv) {
      return WriteTable(ReadWrittenRows(options.spec.data, read), to,
                        MemoryBudget(read.memory_bytes), write);
    }
    if (to == WrittenFormat::kJsonLines) {
      throw UserError(
          fmt::format("{}: only tables are written as JSON lines; choose --to csv or "
                      "--to libsvm",
                      options.spec.data));
    }
    WriteEncoded(options, to, write);
  });
  return kExitOk;
}

}  // namespace hogbatch
