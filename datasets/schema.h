// How a file's columns and labels become the inputs and outputs of a network. Learnt from the
// training rows, saved in the model, and applied to every file that the model is used on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.h"
#include "datasets/table.h"

namespace hogbatch {

enum class LabelKind : std::uint8_t { kClass, kMultiLabel, kValue };
enum class LearningTask : std::uint8_t { kAuto, kClassify, kRegress, kMultiLabel };
enum class FileFormat : std::uint8_t { kLibsvm, kCsv, kIdx };
// What --format may say. JSON lines are read as a table, like CSV.
enum class WrittenFormat : std::uint8_t { kAuto, kCsv, kJsonLines, kLibsvm, kIdx };
enum class ScalingKind : std::uint8_t { kAuto, kNone, kMinMax, kStandard, kMaxAbs };

// All five throw UserError for an unknown word.
ScalingKind ParseScaling(std::string_view name);
LabelKind ParseLabelKind(std::string_view name);
LearningTask ParseTask(std::string_view name);
FileFormat ParseFileFormat(std::string_view name);
WrittenFormat ParseWrittenFormat(std::string_view name);
std::string_view Name(ScalingKind kind);
std::string_view Name(FileFormat format);
std::string_view Name(WrittenFormat format);
std::string_view Title(FileFormat format);  // in sentences: "LIBSVM"
std::string_view Name(LabelKind kind);
std::string_view Name(LearningTask task);
// What a user may choose from, the default ("auto") first.
Words ScalingWords();
Words TaskWords();
Words FormatWords();
// What --format says; none for auto. JSON lines become a table, so they count as CSV.
std::optional<FileFormat> FileFormatOf(WrittenFormat format);

// The words of --label, which also takes the name or the number of a column.
inline constexpr const char* kAutoLabel = "auto";  // where the format has it: last in a CSV
inline constexpr const char* kFirstLabel = "first";
inline constexpr const char* kLastLabel = "last";
Words LabelWords();

// The most that the mean and the deviation of labels may be, so that predictions fit a float.
inline constexpr double kLargestTarget = 1e30;

struct Schema {
  FileFormat format = FileFormat::kLibsvm;
  std::int64_t file_columns = 0;  // of features: the largest index (LIBSVM), all columns except the
                                  // label (CSV), or the numbers of a row (IDX)
  std::int64_t features = 0;      // inputs of the network

  // Which file column (from 0) each feature comes from, ascending; empty: all, in order. Used if
  // few of very many columns occur, so that memory depends on the non-zeros.
  std::vector<std::int64_t> used_columns;
  std::string label_column;  // CSV: as --label named it ("last", "first", a name or number)
  std::string label_name;    // CSV with a header
  std::optional<NumberStyle> label_style;  // CSV: of labels that are more than digits and a point
  // CSV: all columns but the label, in the order of the training file.
  std::vector<TableColumn> table;

  // feature = (x - shift) · scale; empty: none.
  ScalingKind scaling = ScalingKind::kNone;
  std::vector<float> shift;
  std::vector<float> scale;

  LabelKind label_kind = LabelKind::kClass;
  std::vector<std::string> label_names;  // of each class or label, in output order
  std::string positive;    // --positive: this label is class 1, all others are class 0
  double target_mean = 0;  // kValue: the network learns (y - mean) / deviation
  double target_deviation = 1;

  std::int64_t outputs() const {
    return label_kind == LabelKind::kValue ? 1 : static_cast<std::int64_t>(label_names.size());
  }
};

// The name of a column of Schema::table, or "column 3" where the file has no header.
std::string ColumnName(const Schema& schema, std::size_t index);

}  // namespace hogbatch
