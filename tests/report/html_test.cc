#include "report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hogbatch::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Escape, LeavesNothingThatIsMarkup) {
  EXPECT_EQ(Escape("<script>\"&'</script>"), "&lt;script&gt;&quot;&amp;'&lt;/script&gt;");
}

TEST(Escape, KeepsCharactersOfAllLengths) { EXPECT_EQ(Escape("où – 数 😀\n"), "où – 数 😀\n"); }

TEST(Escape, ReplacesWhatIsNotUtf8OrNotForXml) {
  for (const std::string bad : {"\xff", "\x80", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\x01", "\x1b",
                                "\xef\xbf\xbf", "\xc2\x85"}) {
    const std::string escaped = Escape("a" + bad + "b");
    EXPECT_THAT(escaped, HasSubstr("\uFFFD"));
    EXPECT_EQ(escaped.substr(0, 1) + escaped.back(), "ab");
  }
  EXPECT_EQ(Escape(std::string("a\0b", 3)), "a\uFFFDb");
}

TEST(Table, SetsNumbersToTheRightAndEscapesCells) {
  const std::string html =
      Html(Table{.header = {"run", "loss"}, .rows = {{"<b>", "0.5"}, {"short"}}});
  EXPECT_THAT(html, HasSubstr("<th>run</th><th class=\"number\">loss</th>"));
  EXPECT_THAT(html, HasSubstr("<td>&lt;b&gt;</td><td class=\"number\">0.5</td>"));
  EXPECT_THAT(html, HasSubstr("<tr><td>short</td></tr>"));
}

TEST(Page, IsOneFileForEveryScreenAndPaper) {
  Page page("A & B", "sub<title>");
  page.AddSection("<first>", Paragraph("1 < 2") + Warning("mind") +
                                 Html(std::vector<Tile>{{"loss", "0.5", "epoch 3"}}) +
                                 Html(Facts{{"name", "<value>"}}) + Folded("more", Paragraph("x")));
  const std::string text = page.Text();
  EXPECT_THAT(text, HasSubstr("<title>A &amp; B</title>"));
  EXPECT_THAT(text, HasSubstr("<h2>&lt;first&gt;</h2>"));
  EXPECT_THAT(text, HasSubstr("<p>1 &lt; 2</p>"));
  EXPECT_THAT(text, HasSubstr("<dd>&lt;value&gt;</dd>"));
  EXPECT_THAT(text, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(text, HasSubstr("@media print"));
  EXPECT_THAT(text, HasSubstr("width=device-width"));
  for (const char* reference : {"src=", "href=", "@import", "url("}) {
    EXPECT_THAT(text, Not(HasSubstr(reference)));
  }
}

}  // namespace
}  // namespace hogbatch::report
