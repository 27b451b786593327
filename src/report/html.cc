#include "report/html.h"

#include <fmt/format.h>

#include "core/guard/printable.h"
#include "report/chart.h"
#include "report/page_parts.h"

namespace hogbatch::report {
namespace {

// Bytes of the UTF-8 character at the start of `text`; 0: there is none that XML may hold.
std::size_t XmlSize(std::string_view text) {
  const std::size_t size = Utf8Size(text);
  const std::string_view character = text.substr(0, size);
  if (size == 1) return (text[0] >= ' ' && text[0] != 0x7F) || text[0] == '\n' || text[0] == '\t';
  const bool is_control = size == 2 && character >= "\u0080" && character < "\u00A0";
  return is_control || character == "\uFFFE" || character == "\uFFFF" ? 0 : size;
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::size_t length = XmlSize(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    if (length == 0) {
      escaped += "\uFFFD";
    } else if (character == "&") {
      escaped += "&amp;";
    } else if (character == "<") {
      escaped += "&lt;";
    } else if (character == ">") {
      escaped += "&gt;";
    } else if (character == "\"") {
      escaped += "&quot;";
    } else {
      escaped += character;
    }
    text.remove_prefix(character.size());
  }
  return escaped;
}

std::string Html(const Table& table) {
  const auto row = [&](const std::vector<std::string>& cells, std::string_view element) {
    std::string text = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text +=
          fmt::format("<{}{}>{}</{}>", element, i < table.text_columns ? "" : " class=\"number\"",
                      Escape(cells[i]), element);
    }
    return text + "</tr>\n";
  };
  std::string text = "<div class=\"wide\"><table>\n";
  if (!table.header.empty()) text += "<thead>" + row(table.header, "th") + "</thead>\n";
  text += "<tbody>";
  for (const std::vector<std::string>& cells : table.rows) text += row(cells, "td");
  return text + "</tbody></table></div>\n";
}

std::string Html(const std::vector<Tile>& tiles) {
  std::string text = "<div class=\"tiles\">\n";
  for (const Tile& tile : tiles) {
    text += fmt::format(
        "<div class=\"tile\"><span>{}</span><strong>{}</strong><small>{}</small></div>\n",
        Escape(tile.label), Escape(tile.value), Escape(tile.note));
  }
  return text + "</div>\n";
}

std::string Html(const Facts& facts) {
  std::string text = "<dl>\n";
  for (const auto& [name, value] : facts) {
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", Escape(name), Escape(value));
  }
  return text + "</dl>\n";
}

std::string Paragraph(std::string_view text) { return fmt::format("<p>{}</p>\n", Escape(text)); }

std::string Verbatim(std::string_view text) { return fmt::format("<pre>{}</pre>\n", Escape(text)); }

std::string Subheading(std::string_view text) { return fmt::format("<h3>{}</h3>\n", Escape(text)); }

std::string Warning(std::string_view sentence) {
  return fmt::format("<p class=\"warning\">{}</p>\n", Escape(sentence));
}

std::string Folded(std::string_view summary, std::string_view html) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", Escape(summary), html);
}

std::string Grid(const std::vector<std::string>& charts) {
  std::string text = "<div class=\"grid\">\n";
  for (const std::string& chart : charts) text += fmt::format("<figure>{}</figure>\n", chart);
  return text + "</div>\n";
}

Page::Page(std::string_view title, std::string_view subtitle)
    : title_(Escape(title)), subtitle_(Escape(subtitle)) {}

void Page::AddSection(std::string_view heading, std::string_view html) {
  body_ += fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", Escape(heading), html);
}

std::string Page::Text() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<title>{0}</title>\n<style>\n{1}{2}</style>\n</head>\n<body>\n<header>\n<h1>{0}</h1>\n"
      "<p>{3}</p>\n</header>\n<main>\n{4}</main>\n<script>\n{5}</script>\n</body>\n</html>\n",
      title_, kChartStyle, kPageStyle, subtitle_, body_, kPageScript);
}

std::string SvgFile(std::string_view svg) {
  const std::size_t begin = svg.find("<svg");
  const std::size_t inside = svg.find('>', begin) + 1;
  const std::size_t end = svg.rfind("</svg>") + 6;
  return fmt::format("{}<style>{}</style>{}\n", svg.substr(begin, inside - begin), kChartStyle,
                     svg.substr(inside, end - inside));
}

}  // namespace hogbatch::report
