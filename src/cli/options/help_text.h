// Texts of --help: what each command is for, with examples.
#pragma once

namespace hogbatch {

extern const char* const kProgramHelp;
extern const char* const kTrainHelp;
extern const char* const kEvalHelp;
extern const char* const kPredictHelp;
extern const char* const kReportHelp;
extern const char* const kExportHelp;
extern const char* const kCompareHelp;
extern const char* const kDevicesHelp;

}  // namespace hogbatch
