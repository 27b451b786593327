#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data/target.h"
#include "core/error.h"
#include "core/replaced_file.h"
#include "core/text.h"
#include "datasets/convert/written_rows.h"
#include "training/input.h"

namespace hogbatch {
namespace {

// rows.csv.gz becomes rows-train.csv.
std::string NameBeside(const std::string& data, std::string_view what) {
  std::filesystem::path path(data);
  for (const char* packed : {".gz", ".xz", ".bz2", ".zst"}) {
    if (path.extension() == packed) path.replace_extension();
  }
  const std::string end = path.extension().string();
  return path.replace_extension().string() + fmt::format("-{}{}", what, end);
}

void WritePart(const WrittenRows& all, std::vector<std::int64_t> rows, const std::string& path) {
  std::ranges::sort(rows);  // in the order of the file
  WriteTarget(path, [&](const TakeText& write) {
    write(all.header);
    for (const std::int64_t row : rows) {
      write(all.rows[row]);
      write("\n");
    }
  });
}

// Where a file is written that need not be there yet.
std::filesystem::path PlaceOf(const std::string& path) {
  std::error_code error;
  const std::filesystem::path place =
      std::filesystem::weakly_canonical(std::filesystem::absolute(FollowLinks(path)), error);
  return error ? std::filesystem::path(path) : place;
}

}  // namespace

int SplitData(const DataSplitOptions& options) {
  const std::string& data = options.spec.data;
  if (data.empty()) {
    throw UserError("data split needs a file; for example: hogbatch data split rows.csv");
  }
  RefusePipes("data split", data);
  ReadOptions read = ReadOptionsOf(options.spec);
  read.valid_fraction = options.test_fraction;
  const std::string train =
      options.out_train.empty() ? NameBeside(data, "train") : options.out_train;
  const std::string test = options.out_test.empty() ? NameBeside(data, "test") : options.out_test;
  if (PlaceOf(train) == PlaceOf(test)) {
    throw UserError(
        fmt::format("{}: both parts would be written there; name two files with --out-train and "
                    "--out-test",
                    train));
  }
  const FileSplit split = SplitFile(data, read);
  const WrittenRows rows = ReadWrittenRows(data, read);
  const auto last = static_cast<std::int64_t>(rows.rows.size());
  for (const auto* part : {&split.train, &split.valid}) {
    Check(std::ranges::all_of(*part, [&](std::int64_t row) { return row < last; }),
          "rows are counted alike");
  }
  WritePart(rows, split.train, train);
  WritePart(rows, split.valid, test);
  WriteOutput(fmt::format("{} rows in {}, {} in {}\n", Grouped(std::ssize(split.train)), train,
                          Grouped(std::ssize(split.valid)), test));
  return kExitOk;
}

}  // namespace hogbatch
