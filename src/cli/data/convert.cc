#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data/target.h"
#include "core/error.h"
#include "core/guard/json_text.h"
#include "core/text.h"
#include "datasets/convert/write_rows.h"
#include "datasets/convert/written_rows.h"
#include "training/input.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

// A cell as JSON: a number if it is written as one.
Json CellOf(const std::string& field) {
  if (field.empty()) return nullptr;
  const auto number = ParseJson<Json>(field);
  return number.is_number() ? number : Json(field);
}

// Rows of a CSV with their own cells.
void WriteTable(const std::string& data, const ReadOptions& read, WrittenFormat to,
                const TakeText& write) {
  const WrittenRows table = ReadWrittenRows(data, read);
  if (table.is_json && to == WrittenFormat::kCsv) {
    return write(CsvOfJson(table, MemoryBudget(read.memory_bytes)));
  }
  if (table.is_json) {
    for (const std::string_view line : table.rows) write(fmt::format("{}\n", line));
    return;
  }
  if (to == WrittenFormat::kCsv) {
    std::vector<std::string> names;
    for (const std::string& name : table.names) names.push_back(CsvText(name));
    if (!names.empty()) write(fmt::format("{}\n", fmt::join(names, ",")));
  }
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<std::string> fields = FieldsOf(table, row);
    if (to == WrittenFormat::kCsv) {
      for (std::string& field : fields) field = CsvText(field);
      write(fmt::format("{}\n", fmt::join(fields, ",")));
      continue;
    }
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Json name = i < table.names.size() ? table.names[i] : fmt::format("{}", i + 1);
      line +=
          fmt::format("{}{}:{}", i == 0 ? "{" : ",", JsonText(name), JsonText(CellOf(fields[i])));
    }
    write(line + "}\n");
  }
}

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
  const WrittenFormat to = TargetFormat(options.to, options.out);
  const ReadOptions read = ReadOptionsOf(options.spec);
  WriteTarget(options.out, [&](const TakeText& write) {
    if (to == WrittenFormat::kLibsvm) return WriteEncoded(options, to, write);
    if (FormatOfFiles(options.spec.data, read) == FileFormat::kCsv) {
      return WriteTable(options.spec.data, read, to, write);
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
