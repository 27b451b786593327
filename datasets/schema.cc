#include "datasets/schema.h"

#include <fmt/format.h>

#include <array>

#include "core/words.h"

namespace hogbatch {
namespace {

constexpr std::array<NamedValue<ScalingKind>, 5> kScalings{{
    {"auto", ScalingKind::kAuto},
    {"none", ScalingKind::kNone},
    {"minmax", ScalingKind::kMinMax},
    {"standard", ScalingKind::kStandard},
    {"maxabs", ScalingKind::kMaxAbs},
}};
constexpr std::array<NamedValue<LabelKind>, 3> kLabelKinds{{
    {"class", LabelKind::kClass},
    {"multi-label", LabelKind::kMultiLabel},
    {"value", LabelKind::kValue},
}};

constexpr std::array<NamedValue<LearningTask>, 4> kTasks{{
    {"auto", LearningTask::kAuto},
    {"classify", LearningTask::kClassify},
    {"regress", LearningTask::kRegress},
    {"multilabel", LearningTask::kMultiLabel},
}};

constexpr std::string_view kLibsvm = "libsvm", kCsv = "csv", kIdx = "idx";

constexpr std::array<NamedValue<FileFormat>, 3> kFormats{{
    {kLibsvm, FileFormat::kLibsvm},
    {kCsv, FileFormat::kCsv},
    {kIdx, FileFormat::kIdx},
}};

constexpr std::array<NamedValue<WrittenFormat>, 5> kWrittenFormats{{
    {"auto", WrittenFormat::kAuto},
    {kCsv, WrittenFormat::kCsv},
    {"jsonl", WrittenFormat::kJsonLines},
    {kLibsvm, WrittenFormat::kLibsvm},
    {kIdx, WrittenFormat::kIdx},
}};

}  // namespace

ScalingKind ParseScaling(std::string_view name) { return ParseWord("scaling", name, kScalings); }
LabelKind ParseLabelKind(std::string_view name) {
  return ParseWord("kind of labels", name, kLabelKinds);
}
LearningTask ParseTask(std::string_view name) { return ParseWord("task", name, kTasks); }
FileFormat ParseFileFormat(std::string_view name) {
  return ParseWord("file format", name, kFormats);
}
WrittenFormat ParseWrittenFormat(std::string_view name) {
  return ParseWord("file format", name, kWrittenFormats);
}
std::optional<FileFormat> FileFormatOf(WrittenFormat format) {
  switch (format) {
    case WrittenFormat::kAuto:
      break;
    case WrittenFormat::kCsv:
    case WrittenFormat::kJsonLines:
      return FileFormat::kCsv;
    case WrittenFormat::kLibsvm:
      return FileFormat::kLibsvm;
    case WrittenFormat::kIdx:
      return FileFormat::kIdx;
  }
  return std::nullopt;
}
std::string_view Name(ScalingKind kind) { return NameOf(kind, kScalings); }
std::string_view Name(LabelKind kind) { return NameOf(kind, kLabelKinds); }
std::string_view Name(LearningTask task) { return NameOf(task, kTasks); }
std::string_view Name(FileFormat format) { return NameOf(format, kFormats); }
std::string_view Name(WrittenFormat format) { return NameOf(format, kWrittenFormats); }
std::string_view Title(FileFormat format) {
  return format == FileFormat::kCsv ? "CSV" : (format == FileFormat::kIdx ? "IDX" : "LIBSVM");
}
Words TaskWords() { return WordsOf(kTasks); }
Words LabelWords() { return {{kAutoLabel, kFirstLabel, kLastLabel}, "NAME|N"}; }
Words FormatWords() { return WordsOf(kWrittenFormats); }
Words ScalingWords() { return WordsOf(kScalings); }

std::string ColumnName(const Schema& schema, std::size_t index) {
  const std::string& name = schema.table[index].name;
  return name.empty() ? fmt::format("column {}", index + 1) : name;
}

}  // namespace hogbatch
