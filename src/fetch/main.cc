// hogbatch-fetch: the part of the program that uses the network, which `hogbatch data fetch`
// starts. It is a program of its own so that no other command loads libcurl.
#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/guard/printable.h"
#include "core/guard/signals.h"
#include "datasets/text/text_source.h"
#include "fetch/download.h"
#include "fetch/known_sets.h"

namespace hogbatch::fetch {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t interrupted = 0;

struct Options {
  std::string set;
  std::string out = ".";
  std::string from;  // instead of the set's own home
  bool quiet = false;
  double stalled_seconds = 30;
};

// Shows how far a download is, on a terminal.
class Meter {
 public:
  Meter(std::string_view name, bool quiet)
      : name_(name), shows_(!quiet && ::isatty(STDERR_FILENO) != 0), began_(Clock::now()) {}
  ~Meter() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  void Show(std::int64_t done, std::int64_t all) {
    const auto now = Clock::now();
    if (!shows_ || now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const double megabytes = static_cast<double>(done) / 1e6;
    std::string line = fmt::format("\r{}  {:.1f} MB", name_, megabytes);
    if (all > 0) {
      line += fmt::format(" of {:.1f}  {:.0f} %", static_cast<double>(all) / 1e6,
                          100.0 * static_cast<double>(done) / static_cast<double>(all));
    }
    if (seconds > 1) line += fmt::format("  {:.1f} MB/s", megabytes / seconds);
    fmt::print(stderr, "{}\033[K", line);
    shown_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string name_;
  bool shows_;
  bool shown_ = false;
  Clock::time_point began_;
  Clock::time_point last_ = {};
};

// SHA-256 of the decompressed content.
std::string ContentHash(const std::string& path) {
  const std::unique_ptr<TextSource> text = OpenText(path, MemoryBudget(0));
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) {
    throw Error("SHA-256 cannot be computed here");
  }
  constexpr std::size_t kWindow = std::size_t{1} << 20;
  Bytes window;
  for (std::size_t at = 0; at < text->size(); at += kWindow) {
    const std::string_view part = text->Read(at, kWindow, window);
    EVP_DigestUpdate(context.get(), part.data(), part.size());
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(context.get(), digest.data(), &size);
  std::string hash;
  for (unsigned i = 0; i < size; ++i) hash += fmt::format("{:02x}", digest[i]);
  return hash;
}

// The address of a file: at its home, or of the same name elsewhere.
std::string AddressOf(const RemoteFile& file, const std::string& from) {
  if (from.empty() && file.home.empty()) {
    throw UserError(
        fmt::format("{}: no public address of it is known in a format that hogbatch reads; give "
                    "one with --from",
                    file.name));
  }
  if (from.empty()) return fmt::format("{}{}", file.home, file.remote);
  const std::string_view name = file.remote.substr(file.remote.rfind('/') + 1);  // npos + 1 is 0
  return fmt::format("{}{}{}", from, from.ends_with('/') ? "" : "/", name);
}

void Verify(const RemoteFile& file, const std::string& partial, const std::string& url) {
  if (file.sha256.empty()) return;
  const std::string hash = ContentHash(partial);
  if (hash == file.sha256) return;
  std::error_code error;
  fs::remove(partial, error);
  throw UserError(
      fmt::format("{}: its content is not the known one (SHA-256 {}, expected {}), and it was "
                  "removed; fetch it again, or from another place with --from",
                  url, hash, file.sha256));
}

void FetchFile(const RemoteFile& file, const Options& options) {
  const std::string path = (fs::path(options.out) / file.name).string();
  if (fs::exists(path)) {
    if (!options.quiet) fmt::print("{} is there already\n", path);
    return;
  }
  const std::string url = AddressOf(file, options.from);
  std::string partial;
  {
    Meter meter(file.name, options.quiet);
    partial = Download({.url = url,
                        .path = path,
                        .progress =
                            [&](std::int64_t done, std::int64_t all) {
                              meter.Show(done, all);
                              return interrupted == 0;
                            },
                        .stalled_seconds = options.stalled_seconds});
  }
  Verify(file, partial, url);
  std::error_code error;
  fs::rename(partial, path, error);
  if (error) throw Error(fmt::format("{} cannot be made: {}", path, error.message()));
  if (!options.quiet) {
    fmt::print("{}, {:.1f} MB, {}\n", path, static_cast<double>(fs::file_size(path)) / 1e6,
               file.sha256.empty() ? "not verified: no copy was at hand to compare it with"
                                   : "verified by its SHA-256");
  }
}

// As `hogbatch data fetch` gives them, checked: SET OUT FROM TIMEOUT [quiet].
Options OptionsOf(const std::vector<std::string>& words) {
  if (words.size() != 5) throw UserError("hogbatch-fetch is started by 'hogbatch data fetch'");
  return {.set = words[0],
          .out = words[1],
          .from = words[2],
          .quiet = !words[4].empty(),
          .stalled_seconds = std::strtod(words[3].c_str(), nullptr)};
}

void Fetch(const Options& options) {
  const KnownSet& set = FindSet(options.set);
  std::error_code error;
  fs::create_directories(options.out, error);
  if (error) throw UserError(fmt::format("{}: cannot be made: {}", options.out, error.message()));
  for (const int signal : {SIGINT, SIGTERM}) {
    HandleUnlessIgnored(signal, [](int) { interrupted = 1; }, SA_RESTART);
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  for (const RemoteFile& file : set.files) FetchFile(file, options);
}

}  // namespace
}  // namespace hogbatch::fetch

int main(int argc, char** argv) {
  using namespace hogbatch;
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    fetch::Fetch(fetch::OptionsOf(words));
    return 0;
  } catch (const UserError& error) {
    fmt::print(stderr, "hogbatch: {}\n", Printable(error.what()));
    return fetch::interrupted ? 130 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "hogbatch: {}\n", Printable(error.what()));
    return 1;
  }
}
