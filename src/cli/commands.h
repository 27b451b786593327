// The commands. Each returns an exit code, and throws if something goes wrong.
#pragma once

#include <functional>

#include "cli/console.h"
#include "cli/options/options.h"

namespace hogbatch {

inline constexpr int kExitOk = 0;
inline constexpr int kExitMachine = 1;  // the machine's or the program's fault
inline constexpr int kExitUser = 2;     // something the user can correct
inline constexpr int kExitInterrupted = 130;

int Train(const TrainOptions& options);
int RunQueue(const QueueCommandOptions& options);
int RunSweep(const SweepCommandOptions& options);
// `train --ensemble` and `--folds`: a sweep in which only seeds or validation rows vary.
SweepCommandOptions SweepOf(const TrainOptions& options);
int Eval(const EvalOptions& options);
int Predict(const PredictOptions& options);
int WriteReport(const ReportOptions& options);
int Export(const ExportOptions& options);
int Compare(const CompareOptions& options);
int ShowData(const DataInfoOptions& options);
int ConvertData(const DataConvertOptions& options);
int SplitData(const DataSplitOptions& options);
int GenerateData(const DataGenerateOptions& options);
int FetchData(const DataFetchOptions& options);
int Inspect(const InspectOptions& options);
int ListDevices(const DevicesOptions& options);

// Runs training and the rest of a command, and returns its exit code. If a worker
// `hangs` then, its thread still uses what the caller holds. So nothing is unwound: the process
// ends here with that code, or that of an exception, which is reported as by Main.
int RunWorkers(Console& console, const std::function<bool()>& hangs,
               const std::function<int()>& run);

// Parses and runs; turns exceptions into one sentence on standard error and an exit code.
int Main(int argc, const char* const* argv);

}  // namespace hogbatch
