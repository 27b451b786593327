// Runs the built program as users do: as a process.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace hogbatch {

struct Finished {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string out;
  std::string err;
  double peak_megabytes = 0;  // of memory in use
};

// The program under test with these arguments, in the folder `in`. A file or pipe called stdin
// there is its standard input. Without $HOGBATCH_PLUGINS it has no GPUs: what the machine happens
// to have must not decide a test.
class Process {
 public:
  // Where standard output goes. kErrorClosed: it is captured, and there is no standard error;
  // kAllClosed: there are no standard streams at all; kStuck: it and standard error go into a pipe
  // that is full, and that nobody reads.
  enum class Output { kCaptured, kClosedPipe, kTerminal, kErrorClosed, kAllClosed, kStuck };

  // The process group of the program. SIGTSTP stops it only in one of its own, as a shell gives it.
  enum class Group { kOurs, kOwn };

  // The program inherits `ignored_signal` as ignored, and all others as they are by default,
  // however the tests were started.
  Process(const std::vector<std::string>& arguments, const std::string& in,
          Output output = Output::kCaptured, int ignored_signal = 0, Group group = Group::kOurs);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void Signal(int number);
  bool running();
  Finished Wait();

 private:
  // Whether it has ended; `options` are those of waitpid.
  bool HasEnded(int options);

  std::string folder_;
  pid_t pid_ = -1;
  int terminal_ = -1;  // our side of it
  int unread_ = -1;    // the end of the stuck pipe that would be read
  bool ended_ = false;
  int status_ = 0;
  double peak_megabytes_ = 0;
};

Finished RunProgram(const std::vector<std::string>& arguments, const std::string& in);

// A variable of the environment, for programs started while this lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// While it lives, no file grows beyond `bytes`, neither here nor in programs that are started: it
// stands for a full disk.
class ScopedFileLimit {
 public:
  explicit ScopedFileLimit(std::size_t bytes);
  ~ScopedFileLimit();
  ScopedFileLimit(const ScopedFileLimit&) = delete;
  ScopedFileLimit& operator=(const ScopedFileLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_before_)(int);
};

// A folder of its own that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  // Writes a file there and returns its name, relative to the folder.
  std::string Write(const std::string& name, const std::string& content) const;
  std::string Read(const std::string& name) const;
  bool Has(const std::string& name) const;

 private:
  std::string path_;
};

// `rows` rows of two classes, -1 and 1, told apart by feature 1; LIBSVM with 4 features.
std::string TwoClasses(int rows);

// Numbers in JSON text by key, without knowing more of it: summary.json's `"key": value`.
bool HasKey(const std::string& json, const std::string& key);
std::string ValueOf(const std::string& json, const std::string& key);

}  // namespace hogbatch
