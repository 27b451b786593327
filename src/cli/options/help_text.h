// Texts of --help: what each command is for, with examples.
#pragma once

#include <string>
#include <vector>

namespace hogbatch {

// What `hogbatch --help` prints.
std::string ProgramHelp();
std::vector<std::string> CommandNames();

// With one empty line between groups, where CLI11 leaves two.
std::string TidyHelp(std::string help);

extern const char* const kProgramHelp;
extern const char* const kTrainHelp;
extern const char* const kQueueHelp;
extern const char* const kSweepHelp;
extern const char* const kEvalHelp;
extern const char* const kPredictHelp;
extern const char* const kReportHelp;
extern const char* const kExportHelp;
extern const char* const kCompareHelp;
extern const char* const kDataHelp;
extern const char* const kDataInfoHelp;
extern const char* const kDataConvertHelp;
extern const char* const kDataSplitHelp;
extern const char* const kDataGenerateHelp;
extern const char* const kDataFetchHelp;
extern const char* const kInspectHelp;
extern const char* const kDevicesHelp;

}  // namespace hogbatch
