#include "datasets/text/json_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/guard/json_text.h"
#include "core/text.h"

namespace hogbatch {
namespace {

constexpr std::size_t kMostColumns = std::size_t{1} << 20;
// Of the name of a column: every element of a list repeats the key of the list.
constexpr std::size_t kMostNameBytes = 1024;
// A table may have this many cells in any case, and beyond them this many for each value.
constexpr std::size_t kFreeCells = std::size_t{1} << 24;
constexpr std::size_t kMostCellsPerValue = 1000;
constexpr std::string_view kWhite = " \t\r\n";

// A field of the table, on one line.
std::string FieldOf(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return CsvText(text);
}

// An empty name would look like a missing one.
std::string HeaderOf(const std::string& name) { return name.empty() ? "\"\"" : FieldOf(name); }

// Collects the cells of all lines, then writes them as a table.
class Table {
 public:
  Table(std::size_t max_bytes, JsonColumns& names) : max_bytes_(max_bytes), names_(names) {
    for (const std::string& name : names) AddColumn(name);
  }

  // The next lines are those of this file.
  void Begin(const TextOrigin& origin) {
    source_ = origin.source;
    lines_ = origin.first_line - 1;
  }

  void AddLine(std::string_view line) {
    ++lines_;
    if (line.find_first_not_of(kWhite) == std::string_view::npos) return EndLine();
    Cells cells(*this);
    if (IsNestedDeeper(line, kMaxJsonDepth)) {
      Fail(fmt::format("is nested more than {} levels deep; flatten it", kMaxJsonDepth));
    }
    if (!nlohmann::json::sax_parse(line, &cells)) {
      Fail("is not a JSON object; write one object per line, {...}");
    }
    EndLine();
  }

  std::string Text() const {
    std::string text;
    text.reserve(TextBytes());
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (i > 0) text += ',';
      text += HeaderOf(names_[i]);
    }
    text += '\n';
    std::size_t cell = 0;
    for (const std::size_t end : line_ends_) {
      AddRow(cell, end, text);
      cell = end;
    }
    return text;
  }

 private:
  // Takes a line apart as it is read. A tree of it would lose the order of keys, or take a time
  // that grows with the square of their number.
  class Cells final : public nlohmann::json_sax<nlohmann::json> {
   public:
    explicit Cells(Table& table) : table_(table) {}

    bool null() override { return Add(""); }
    bool boolean(bool value) override { return Add(value ? "true" : "false"); }
    bool number_integer(number_integer_t value) override { return Add(fmt::format("{}", value)); }
    bool number_unsigned(number_unsigned_t value) override { return Add(fmt::format("{}", value)); }
    bool number_float(number_float_t, const string_t& text) override { return Add(text); }
    bool string(string_t& value) override { return Add(FieldOf(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return Open(/*is_list=*/false); }
    bool start_array(std::size_t) override { return !levels_.empty() && Open(/*is_list=*/true); }
    bool key(string_t& value) override {
      Name(value);
      return true;
    }
    bool end_object() override { return Close(); }
    bool end_array() override { return Close(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
      return false;
    }

   private:
    struct Level {
      std::size_t path_size;  // of what contains it
      bool is_list;
      std::size_t elements = 0;
    };

    void Name(std::string_view part) {
      path_.resize(levels_.back().path_size);
      if (levels_.size() > 1) path_ += '.';
      path_ += part;
    }
    // An element of a list is called by its number.
    void NameElement() {
      if (levels_.empty() || !levels_.back().is_list) return;
      Name(fmt::format("{}", levels_.back().elements++));
    }
    bool Open(bool is_list) {
      NameElement();
      levels_.push_back({.path_size = path_.size(), .is_list = is_list});
      return true;
    }
    bool Close() {
      levels_.pop_back();
      return true;
    }
    bool Add(std::string field) {
      if (levels_.empty()) return false;  // no object, but a value alone
      NameElement();
      table_.Add(path_, std::move(field));
      return true;
    }

    Table& table_;
    std::string path_;
    std::vector<Level> levels_;
  };

  using ColumnPlaces = std::map<std::string_view, std::uint32_t>;
  struct StoredCell {
    std::uint32_t column;
    std::string field;
  };

  [[noreturn]] void Fail(std::string_view what) const {
    throw UserError(fmt::format("{}:{}: {}", source_, lines_, what));
  }

  void Add(const std::string& name, std::string field) {
    auto place = columns_.find(name);
    if (place == columns_.end()) {
      if (names_.size() == kMostColumns) {
        Fail(fmt::format("the lines have more than {} different keys; use fewer", kMostColumns));
      }
      if (name.size() > kMostNameBytes) {
        Fail(
            fmt::format("the key '{}...', with those around it, is longer than {} bytes; use "
                        "shorter ones",
                        name.substr(0, 20), kMostNameBytes));
      }
      place = AddColumn(names_.emplace_back(name));
    }
    Count(sizeof(StoredCell) + field.size());
    cells_.push_back({place->second, std::move(field)});
  }

  // `name` is an element of names_.
  ColumnPlaces::iterator AddColumn(const std::string& name) {
    constexpr std::size_t kNode = 64;  // of a map
    Count(sizeof(std::string) + name.size() + kNode);
    return columns_.emplace(name, static_cast<std::uint32_t>(columns_.size())).first;
  }

  void EndLine() {
    Count(sizeof(std::size_t));
    line_ends_.push_back(cells_.size());
  }

  void Count(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > max_bytes_) FailTooLarge();
  }

  [[noreturn]] void FailTooLarge() const {
    throw UserError(
        fmt::format("{}: its rows take more than {} MB, the limit for one data set; raise it with "
                    "--memory-limit",
                    source_, max_bytes_ >> 20));
  }

  // Bytes of the table's text. Throws if they are too many, before any are made: lines that have
  // new keys each make a table that grows with the square of their number.
  std::size_t TextBytes() const {
    std::size_t rows = 0, begin = 0;
    for (const std::size_t end : line_ends_) {
      if (end != begin) ++rows;
      begin = end;
    }
    const std::size_t cells = rows * names_.size();
    if (cells > kFreeCells && (cells - kFreeCells) / kMostCellsPerValue > cells_.size()) {
      throw UserError(fmt::format(
          "{}: its {} rows have {} different keys, but only {} values, so that nearly all of the "
          "table would be empty; use fewer keys, or LIBSVM, which leaves out what is missing",
          source_, rows, names_.size(), cells_.size()));
    }
    std::size_t bytes = cells + line_ends_.size();
    for (const std::string& name : names_) bytes += HeaderOf(name).size() + 1;
    for (const StoredCell& cell : cells_) bytes += cell.field.size();
    if (bytes > max_bytes_) FailTooLarge();
    return bytes;
  }

  void AddRow(std::size_t begin, std::size_t end, std::string& text) const {
    if (begin != end) {
      std::vector<const std::string*> fields(names_.size(), nullptr);
      for (std::size_t i = begin; i < end; ++i) fields[cells_[i].column] = &cells_[i].field;
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0) text += ',';
        if (fields[i] != nullptr) text += *fields[i];
      }
    }
    text += '\n';
  }

  std::string source_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::size_t lines_ = 0;  // of the file
  JsonColumns& names_;
  ColumnPlaces columns_;
  std::vector<StoredCell> cells_;
  std::vector<std::size_t> line_ends_;  // in cells_
};

// The table, and which file its lines come from.
class MadeText final : public TextSource {
 public:
  explicit MadeText(std::string text) : text_(std::move(text)) {}
  void Begin(std::size_t at, std::string source, std::size_t first_line) {
    origins_.push_back(
        {.source = std::move(source), .begin = at, .first_line = first_line, .has_columns = false});
  }
  std::size_t size() const override { return text_.size(); }
  std::size_t held_bytes() const override { return text_.size(); }
  std::string_view Read(std::size_t begin, std::size_t count, Bytes&) const override {
    return std::string_view(text_).substr(std::min(begin, text_.size()), count);
  }
  TextOrigin OriginOf(std::size_t at, std::string_view) const override {
    const auto next = std::ranges::upper_bound(origins_, at, {}, &TextOrigin::begin);
    return *(next - 1);
  }

 private:
  std::string text_;
  std::vector<TextOrigin> origins_;  // the first begins at 0
};

}  // namespace

bool BeginsAsJson(std::string_view head) {
  const std::size_t first = head.find_first_not_of(kWhite);
  return first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
}

std::unique_ptr<TextSource> TableOfJsonLines(const TextSource& text, const std::string& source,
                                             std::size_t max_bytes, JsonColumns& columns) {
  if (text.size() > max_bytes) {
    throw UserError(
        fmt::format("{}: JSON lines of more than {} MB, the limit for one data set; raise it with "
                    "--memory-limit, or convert them to CSV",
                    source, max_bytes >> 20));
  }
  Bytes window;
  const std::string_view all = text.Read(0, text.size(), window);
  const std::size_t first = all.find_first_not_of(kWhite);
  if (first != std::string_view::npos && all[first] == '[') {
    throw UserError(fmt::format(
        "{}: is one JSON list; write one object per line, as jq -c '.[]' does", source));
  }
  Table table(max_bytes, columns);
  std::vector<std::pair<std::size_t, TextOrigin>> files;  // the line at which each begins
  std::size_t line = 1;
  for (std::size_t at = 0; at < all.size(); ++line) {
    TextOrigin origin = text.OriginOf(at, source);
    if (files.empty() || files.back().second.begin != origin.begin) {
      table.Begin(origin);
      files.emplace_back(line, std::move(origin));
    }
    const std::size_t end = std::min(all.find('\n', at), all.size());
    table.AddLine(all.substr(at, end - at));
    at = end + 1;
  }
  auto made = std::make_unique<MadeText>(table.Text());
  Bytes unused;
  const std::string_view rows = made->Read(0, made->size(), unused);
  made->Begin(0, source, 0);  // the header
  std::size_t at = 0, made_line = 0;
  for (const auto& [begin, origin] : files) {
    for (; made_line < begin; ++made_line) at = rows.find('\n', at) + 1;
    made->Begin(at, origin.source, origin.first_line);
  }
  return made;
}

}  // namespace hogbatch
