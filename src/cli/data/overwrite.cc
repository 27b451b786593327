#include "cli/data/overwrite.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cli/files.h"
#include "core/error.h"
#include "datasets/input_files.h"
#include "report/record_format.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

bool Find(const std::string& file, struct stat& status) {
  return (file == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(file.c_str(), &status)) == 0;
}

}  // namespace

void RefuseOverwrite(const std::string& out, const std::vector<std::string>& inputs) {
  struct stat written{}, read{};
  if (::stat(out.c_str(), &written) != 0 || !S_ISREG(written.st_mode)) return;
  for (const std::string& input : inputs) {
    if (input.empty()) continue;
    for (const std::string& file : InputFiles(input)) {
      const bool is_same =
          Find(file, read) && read.st_dev == written.st_dev && read.st_ino == written.st_ino;
      if (!is_same) continue;
      const std::string name = file == "-" ? "standard input" : file;
      throw UserError(fmt::format("cannot write {}: {}; name another file to write", out,
                                  name == out ? "the command reads this file"
                                              : "it is " + name + ", which the command reads"));
    }
  }
}

std::vector<std::string> InputsOf(const TrainingSpec& spec) {
  return {spec.data, spec.test, spec.valid, spec.reading.labels,
          StartsFromFile(spec) ? spec.init : ""};
}

std::vector<std::string> RunFiles(const std::string& folder) {
  std::vector<std::string> files;
  if (folder.empty()) return files;
  std::error_code error;
  for (const char* name :
       {"config.toml", "model.previous.safetensors", "model.safetensors", report::kMetricsFile,
        report::kOptionsFile, report::kSummaryFile, kEventFile, kLockFile}) {
    const std::string path = folder + "/" + name;
    if (fs::exists(path, error)) files.push_back(path);
  }
  for (const auto& entry : fs::directory_iterator(folder + "/checkpoints", error)) {
    files.push_back(entry.path());
  }
  return files;
}

}  // namespace hogbatch
