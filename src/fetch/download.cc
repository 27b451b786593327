#include "fetch/download.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "core/error.h"
#include "core/guard/small_file.h"
#include "core/replaced_file.h"

namespace hogbatch::fetch {
namespace {

namespace fs = std::filesystem;

constexpr long kConnectSeconds = 20;
constexpr long kMostRedirects = 10;

std::string TagPath(const std::string& partial) { return partial + ".tag"; }

// The file being written, and what the server says of it.
struct Transfer {
  int file = -1;
  std::int64_t begin = 0;  // bytes that were there before
  std::int64_t written = 0;
  std::string tag = {};  // ETag or Last-Modified
  bool disk_failed = false;
  const DownloadOptions* options = nullptr;
};

std::size_t WriteBytes(char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::size_t all = size * count;
  for (std::size_t done = 0; done < all;) {
    const ssize_t got = ::write(transfer.file, bytes + done, all - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      transfer.disk_failed = true;
      return 0;
    }
    done += got;
  }
  transfer.written += static_cast<std::int64_t>(all);
  return all;
}

std::size_t ReadHeader(char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  std::string line(bytes, size * count);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  if (line.starts_with("HTTP/")) transfer.tag.clear();  // of a redirect
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) return size * count;
  std::string name = line.substr(0, colon);
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  const std::string value =
      line.substr(std::min(line.size(), line.find_first_not_of(' ', colon + 1)));
  // A weak tag does not promise the same bytes.
  if (name == "etag" && !value.starts_with("W/")) transfer.tag = value;
  if (name == "last-modified" && transfer.tag.empty()) transfer.tag = value;
  return size * count;
}

int ShowProgress(void* user, curl_off_t all, curl_off_t done, curl_off_t, curl_off_t) {
  const auto& transfer = *static_cast<const Transfer*>(user);
  if (!transfer.options->progress) return 0;
  const std::int64_t total = all > 0 ? transfer.begin + all : 0;
  return transfer.options->progress(transfer.begin + done, total) ? 0 : 1;
}

struct CleanUp {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct Outcome {
  CURLcode code = CURLE_OK;
  long status = 0;
  std::string message;
};

// One attempt, which goes on where the file ends.
Outcome Try(Transfer& transfer, const std::string& partial) {
  const std::unique_ptr<CURL, CleanUp> handle(curl_easy_init());
  if (!handle) throw Error("libcurl cannot be started: there is not enough memory");
  CURL* const curl = handle.get();
  const DownloadOptions& options = *transfer.options;
  std::array<char, CURL_ERROR_SIZE> message{};
  curl_easy_setopt(curl, CURLOPT_URL, options.url.c_str());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, message.data());
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMostRedirects);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME,
                   std::max(1L, static_cast<long>(options.stalled_seconds)));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &WriteBytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &ReadHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &ShowProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  std::unique_ptr<curl_slist, CleanUp> headers;
  if (transfer.begin > 0) {
    std::string tag = ReadSmallFile(TagPath(partial), 4096).value_or("");
    tag.resize(std::min(tag.find_first_of("\r\n"), tag.size()));  // a second line would be a header
    curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(transfer.begin));
    headers.reset(curl_slist_append(nullptr, fmt::format("If-Range: {}", tag).c_str()));
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  }
  Outcome outcome;
  outcome.code = curl_easy_perform(curl);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &outcome.status);
  outcome.message = message[0] != 0 ? message.data() : curl_easy_strerror(outcome.code);
  return outcome;
}

// Whether another attempt may succeed.
bool IsPassing(const Outcome& outcome) {
  switch (outcome.code) {
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_COULDNT_CONNECT:
      return true;
    default:
      return outcome.status >= 500 || outcome.status == 429;
  }
}

[[noreturn]] void Fail(const DownloadOptions& options, const Transfer& transfer,
                       const Outcome& outcome) {
  if (transfer.disk_failed) ThrowErrno("write", options.path);
  if (outcome.code == CURLE_ABORTED_BY_CALLBACK) {
    throw UserError(
        fmt::format("{}: interrupted; the same command goes on from there", options.url));
  }
  std::string advice =
      "check the network, and http_proxy and https_proxy if there is a proxy; the "
      "same command goes on from there";
  if (outcome.code == CURLE_HTTP_RETURNED_ERROR && outcome.status < 500) {
    advice = "the file has moved, or may not be read; --from names another place";
  }
  throw UserError(fmt::format("{}: {}; {}", options.url, outcome.message, advice));
}

class OpenFile {
 public:
  OpenFile(const std::string& path, bool keeps) {
    if (!keeps) ::unlink(path.c_str());
    value_ = OpenOwn(path, O_WRONLY | (keeps ? O_APPEND : O_EXCL));
  }
  ~OpenFile() { ::close(value_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int value() const { return value_; }

 private:
  int value_;
};

// Bytes of an earlier call that can be gone on with.
std::int64_t BytesOf(const std::string& partial) {
  std::error_code error;
  const bool is_own = fs::is_regular_file(fs::symlink_status(partial, error)) &&
                      fs::hard_link_count(partial, error) == 1;
  if (!is_own || !fs::exists(TagPath(partial))) return 0;
  const auto size = fs::file_size(partial, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

}  // namespace

std::string Download(const DownloadOptions& options) {
  const std::string partial = options.path + ".partial";
  std::error_code error;
  for (int failures = 0;;) {
    Transfer transfer{.begin = BytesOf(partial), .options = &options};
    const OpenFile file(partial, transfer.begin > 0);
    transfer.file = file.value();
    const Outcome outcome = Try(transfer, partial);
    if (outcome.code == CURLE_OK) {
      fs::remove(TagPath(partial), error);
      return partial;
    }
    const bool cannot_go_on =
        transfer.begin > 0 && (outcome.code == CURLE_RANGE_ERROR ||
                               outcome.code == CURLE_BAD_DOWNLOAD_RESUME || outcome.status == 416);
    if (cannot_go_on) {  // the file is another one now, or the server sends whole files only
      fs::remove(TagPath(partial), error);
      continue;
    }
    if (transfer.written > 0) {
      failures = 0;
      if (!transfer.tag.empty()) ReplaceFile(TagPath(partial), transfer.tag);
    }
    if (transfer.disk_failed || !IsPassing(outcome) || ++failures >= options.tries) {
      if (transfer.begin + transfer.written == 0) fs::remove(partial, error);
      Fail(options, transfer, outcome);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200 << failures));
  }
}

}  // namespace hogbatch::fetch
