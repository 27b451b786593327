#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data/overwrite.h"
#include "cli/data/target.h"
#include "core/error.h"
#include "core/replaced_file.h"
#include "core/text.h"
#include "datasets/convert/written_rows.h"
#include "datasets/text/unpack.h"
#include "training/input.h"

namespace hogbatch {
namespace {

// Where one part of the rows goes.
struct WrittenPart {
  std::string path;
  NamedBy named_by;
};

// rows.csv.gz becomes rows-train.csv.
std::string NameBeside(const std::string& data, std::string_view what) {
  std::filesystem::path path(data.substr(0, data.size() - PackedEnding(data).size()));
  const std::string end = path.extension().string();
  return path.replace_extension().string() + fmt::format("-{}{}", what, end);
}

WrittenPart PartAt(const std::string& asked, const std::string& data, std::string_view what) {
  if (!asked.empty()) return {.path = asked, .named_by = NamedBy::kUser};
  return {.path = NameBeside(data, what), .named_by = NamedBy::kProgram};
}

void WritePart(const WrittenRows& all, std::vector<std::int64_t> rows, const WrittenPart& part) {
  std::ranges::sort(rows);  // in the order of the file
  WriteTarget(part.path, part.named_by, [&](const TakeText& write) {
    write(all.header);
    for (const std::int64_t row : rows) {
      write(all.rows[row]);
      write("\n");
    }
  });
}

// Where a part is written, which need not be there yet. A link is followed if the user named it.
std::filesystem::path PlaceOf(const WrittenPart& part) {
  const bool follows = part.named_by == NamedBy::kUser;
  std::error_code error;
  const std::filesystem::path path =
      std::filesystem::absolute(follows ? FollowLinks(part.path) : part.path, error);
  if (error) return part.path;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(path.parent_path(), error);
  return error ? path : folder / path.filename();
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
  const WrittenPart train = PartAt(options.out_train, data, "train");
  const WrittenPart test = PartAt(options.out_test, data, "test");
  if (PlaceOf(train) == PlaceOf(test)) {
    throw UserError(
        fmt::format("{}: both parts would be written there; name two files with --out-train and "
                    "--out-test",
                    train.path));
  }
  for (const WrittenPart& part : {train, test}) {
    RefuseOverwrite(part.path, InputsOf(options.spec));
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
  WriteOutput(fmt::format("{} rows in {}, {} in {}\n", Grouped(std::ssize(split.train)), train.path,
                          Grouped(std::ssize(split.valid)), test.path));
  return kExitOk;
}

}  // namespace hogbatch
