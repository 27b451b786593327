// Pages: one HTML file with everything inside, to open offline, to print, and to read on a phone.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hogbatch::report {

// `text` for the inside of an element or of an attribute in double quotes. Bytes that are not UTF-8
// and characters that no XML may hold become U+FFFD.
std::string Escape(std::string_view text);

// Cells are text and are escaped. All columns but the first `text_columns` hold numbers, which are
// set to the right. A row may be shorter than the header.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::size_t text_columns = 1;
};
std::string Html(const Table& table);

// A figure that is worth a second look at the top of a page.
struct Tile {
  std::string label;      // "validation loss"
  std::string value;      // "0.5301"
  std::string note = {};  // "epoch 5"
};
std::string Html(const std::vector<Tile>& tiles);

// Names and values, one below the other.
using Facts = std::vector<std::pair<std::string, std::string>>;
std::string Html(const Facts& facts);

std::string Paragraph(std::string_view text);
// What a program printed, or a command: lines and spaces as they are.
std::string Verbatim(std::string_view text);
// A heading within a section.
std::string Subheading(std::string_view text);
// A sentence that a reader must not miss.
std::string Warning(std::string_view sentence);
// Markup under a summary that opens it; closed at first.
std::string Folded(std::string_view summary, std::string_view html);
// Charts beside each other where the page is wide enough. They are markup from chart.h.
std::string Grid(const std::vector<std::string>& charts);

class Page {
 public:
  Page(std::string_view title, std::string_view subtitle);

  // `html` is markup: what the functions above and those of chart.h return.
  void AddSection(std::string_view heading, std::string_view html);
  // The whole file.
  std::string Text() const;

 private:
  std::string title_;
  std::string subtitle_;
  std::string body_;
};

}  // namespace hogbatch::report
